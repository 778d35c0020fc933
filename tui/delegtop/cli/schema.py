"""`delegtop schema NAME`: a contract as JSON Schema, for editors and for programs in other languages."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from delegtop.base.near_words import advice
from delegtop.cli import output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Print a contract as JSON Schema (draft 2020-12): what must stand in such a file, who asks for it, and which rule "
    "tells a breach. Without a name the contracts are listed."
)
PAGE = "docs/protocols.md"
EXAMPLES = {
    "delegtop schema": "list the contracts",
    "delegtop schema return": "what a subagent returns",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the contract, such as return or registry")


def run(arguments: Namespace) -> int:
    import json

    from delegtop.protocols.contracts import contracts, schema

    known = contracts()
    if arguments.name is None:
        width = max(map(len, known)) + 2
        output.emit([f"{name:<{width}}{contract.title} ({contract.page})" for name, contract in known.items()])
        return Exit.OK
    if arguments.name not in known:
        fail(f"{arguments.name} is no contract; {advice(arguments.name, known, f'there are {_listed(known)}')}")
    output.emit([json.dumps(schema(arguments.name), indent=2)])  # ASCII, so that printing it to a terminal does nothing
    return Exit.OK


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
