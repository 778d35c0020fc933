"""`delegtop metrics`: the figures of this moment for Prometheus, once or again and again."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base import leftovers
from delegtop.base.clock import SECOND, monotonic, parse_span
from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, kept_files, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.settings import Settings

DESCRIPTION = (
    "Print counts by state, verdict and agent, ages and missed deadlines in the text format of Prometheus, or write "
    "them to a file for the textfile collector (docs/metrics.md)."
)
PAGE = "docs/metrics.md"
EXAMPLES = {
    "delegtop metrics": "print them once",
    "delegtop metrics -o delegtop.prom --every 15": "for the textfile collector, every 15 seconds",
}


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, replaced whole each time")
    parser.add_argument("--every", metavar="TIME", help="with -o: go on, and write again after so long, as 15 or 1m")
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    if arguments.output is not None:
        kept_files.check(Path(arguments.output), force=True)
    if arguments.every is not None:
        return _again_and_again(arguments, settings)

    from delegtop.report.prometheus import lines

    seen = reading.read(arguments, settings)
    figures = lines(seen.forest, seen.statuses, masked=settings.mask_secrets, hosts=seen.hosts)
    if arguments.output is None:
        output.emit(figures)
    else:
        try:
            write(Path(arguments.output), figures)
        except OSError as error:
            fail(f"{arguments.output}: cannot be written: {reason_of(error)}")
    return Exit.UNREADABLE if reading.complain(seen.sources, seen.statuses) else Exit.OK


def _again_and_again(arguments: Namespace, settings: "Settings") -> int:
    span = parse_span(arguments.every)
    if not span:
        fail(f"--every {arguments.every}: that is no time above 0; write it like 15 or 1m")
    if arguments.output is None or arguments.at is not None:
        fail("--every goes on writing to a file: give one with -o, and no --at")

    from delegtop.report.prometheus import lines

    failed = ""
    with reading.followed(arguments, settings) as seen:
        while True:
            try:
                figures = lines(seen.forest, seen.statuses, masked=settings.mask_secrets, hosts=seen.hosts)
                write(Path(arguments.output), figures)
                failed = ""
            except OSError as error:
                # A full disk may have room again; the same is said once.
                if reason_of(error) != failed:
                    failed = reason_of(error)
                    diagnostics.say(f"{arguments.output}: cannot be written: {failed}")
            until = monotonic() + span / SECOND
            while (left := until - monotonic()) > 0:
                seen.wait(left)
                seen.look()


def write(path: Path, lines: Iterable[str]) -> None:
    """Replace the file whole, so that no reader sees half of it. Others may read it: the collector is another user."""
    # Not beside it under its own suffix: the collector reads every *.prom.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    leftovers.clear(path, folder_is_ours=False)
    try:
        temporary.unlink(missing_ok=True)
        # Made anew: in a folder of many, somebody may have left a link under that name.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        temporary.replace(path)
    except BaseException:  # being told to end, too
        with suppress(OSError):
            temporary.unlink()
        raise
