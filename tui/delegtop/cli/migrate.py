"""`delegtop migrate RETURN`: a return of an older form, printed in the standard one."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, named_files, output
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Print a return object in its standard form. What it does not tell is null, and named on standard error; "
    "the file itself is not changed."
)
PAGE = "docs/check.md"
EXAMPLES = {
    "delegtop migrate return.json": "print it in the standard form",
    "delegtop migrate - < return.json": "from standard input",
}
_LARGEST = 16 * 1024 * 1024


class _NoReturnError(Exception):
    """The file holds no return object; the message says why."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="RETURN", help="a JSON file with the return object, or - for standard input")


def run(arguments: Namespace) -> int:
    import json

    from delegtop.protocols.standard.contract.return_contract import gaps, migrate

    name = "standard input" if arguments.file == "-" else arguments.file
    try:
        standard = migrate(_object(_bytes(arguments.file)))
        lines = json.dumps(standard, indent=2)  # ASCII, so that printing it to a terminal does nothing
    except _NoReturnError as error:
        diagnostics.say(f"{name}: {error}")
        return Exit.UNREADABLE
    except RecursionError:
        diagnostics.say(f"{name}: nested too deeply for a return")
        return Exit.UNREADABLE
    output.emit([lines])
    if missing := gaps(standard):
        diagnostics.say(f"{name}: still to be filled in: {', '.join(missing)}")
    return Exit.OK


def _bytes(file: str) -> bytes:
    try:
        data = sys.stdin.buffer.read(_LARGEST + 1) if file == "-" else named_files.read(file, _LARGEST + 1)
    except OSError as error:
        raise _NoReturnError(reason_of(error)) from error
    except ValueError as error:  # a zero byte in the name
        raise _NoReturnError("cannot be read") from error
    if len(data) > _LARGEST:
        raise _NoReturnError(f"larger than {_LARGEST // 1024 // 1024} MiB, which is no return")
    return data


def _object(data: bytes) -> dict[str, Any]:
    import json

    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise _NoReturnError(f"line {error.lineno}: not JSON: {error.msg}") from error
    except ValueError as error:  # not UTF-8, or a number too long to be one
        raise _NoReturnError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _NoReturnError("a return is a JSON object")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")
