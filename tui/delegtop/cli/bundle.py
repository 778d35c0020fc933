"""`delegtop bundle`: what happened, masked, in one file to send to somebody who was not there."""

import getpass
import json
import os
import platform
import pwd
import zipfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from delegtop import __version__
from delegtop.base.clock import FrozenClock, Millis, iso
from delegtop.cli import diagnostics, kept_files, options, output, reading, report, suggestions
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.feed.selection import Read
    from delegtop.model.policy import AgentLimits
    from delegtop.report.incident.incident_report import Incident
    from delegtop.report.redaction import Redactor
    from delegtop.report.tree_json import Source
    from delegtop.settings import Settings

DESCRIPTION = (
    "Put what happened into one file to send: a recording that replays elsewhere, a report and the health of the "
    "sources, with keys, tokens, mails, home paths, user and host names masked (docs/recording.md). Look through it "
    "before you send it: what has no known shape cannot be found."
)
PAGE = "docs/recording.md"
EXAMPLES = {
    "delegtop bundle logs/ -o incident.zip": "masked, to send",
    "delegtop bundle logs/ --only sess_1772532120_h9w4dg -o one.zip": "one delegation, with all above and below it",
}
RECORDING = "recording.delegtop"
LEFT_OUT = "(left out; --lines puts in what the lines say, masked)"


class Contents(NamedTuple):
    """What goes into the bundle, before anything is masked."""

    reads: "list[Read]"
    incident: "Incident"
    sources: "list[Source]"
    ids: frozenset[str]
    """Of all delegations: they stay."""
    delegations: int
    at: Millis
    limits: "dict[str, AgentLimits]"
    left_out: dict[str, int]


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="write this zip, such as incident.zip")
    parser.add_argument("--only", metavar="ID", help="only this delegation, with all above and below it")
    parser.add_argument("--prompts", action="store_true", help="also what each agent was asked to do, masked")
    parser.add_argument("--lines", action="store_true", help="also the lines of the logs themselves, masked")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    path = Path(arguments.output)
    if path.suffix.lower() != ".zip":
        fail(f"-o {path}: the name of a bundle ends in .zip")
    kept_files.check(path, force=arguments.force)
    if not reading.all_there(arguments.sources):
        return Exit.UNREADABLE
    contents, readable = _contents(arguments, settings)
    if not contents.delegations:
        return Exit.FINDINGS if readable else Exit.UNREADABLE
    redactor = _redactor(contents)
    with kept_files.whole(path, force=arguments.force) as file:
        _write(file, path.name, contents, redactor)
    output.emit(_summary(path, contents, redactor))
    return Exit.OK if readable else Exit.UNREADABLE


def _contents(arguments: Namespace, settings: "Settings") -> tuple[Contents, bool]:
    """What is to be sent, and whether every source could be read."""
    from delegtop.feed.selection import Read, Selection, around
    from delegtop.report.incident.incident_timeline import IncidentJournal
    from delegtop.report.redaction import without_lines
    from delegtop.report.tree_json import source_of

    journal, reads = IncidentJournal(), list[Read]()
    with reading.opened(
        arguments, settings, journal.heed, lambda line, told: reads.append(Read(line, tuple(told)))
    ) as seen:
        forest = seen.forest
        only = report.wanted(forest, arguments.only)
        every = frozenset(forest.delegation(handle).id for handle in forest.walk())
        ids, beside = (every, frozenset[str]()) if only is None else around(forest, only)
        selection = Selection(
            None if only is None else ids,
            beside,
            until=options.moment(arguments, settings),
            prompts=arguments.prompts,
            lines=arguments.lines,
        )
        incident = report.incident_of(seen, journal, only)
        contents = Contents(
            selection.of(reads),
            incident if arguments.lines else without_lines(incident, LEFT_OUT),
            [source_of(status) for status in seen.statuses if selection.has(status.path)],
            every,
            len(ids),
            forest.shown_at,
            seen.policy.agents,
            selection.left_out,
        )
        readable = not reading.complain(seen.sources, seen.statuses)
        if readable and not contents.delegations:
            diagnostics.say(f"nothing is written: {suggestions.empty(seen) or 'there is nothing to send'}")
        return contents, readable


def _redactor(contents: Contents) -> "Redactor":
    from delegtop.report.redaction import Redactor
    from delegtop.sources.processes import hostname

    host = hostname()
    redactor = Redactor(_users(), [host, host.partition(".")[0]], contents.ids)
    redactor.learn(contents.incident)
    redactor.learn(contents.sources)
    redactor.learn(contents.limits)
    for read in contents.reads:
        for told in read.told:
            redactor.learn(told)
        if read.line is not None:
            redactor.learn(read.line.data.decode("utf-8", "replace"))
    return redactor


def _users() -> Iterator[str]:
    """Whom this machine knows the one who makes the bundle as."""
    yield Path.home().name
    with suppress(KeyError, OSError):
        yield getpass.getuser()
    with suppress(KeyError):
        known = pwd.getpwuid(os.getuid())
        yield known.pw_name
        yield known.pw_gecos.partition(",")[0]


def _write(file: BinaryIO, name: str, contents: Contents, redactor: "Redactor") -> None:
    from delegtop.report.incident import incident_html, incident_markdown
    from delegtop.report.tree_json import to_json

    incident = redactor.redact(contents.incident)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        # The recording stands first: who reads a bundle goes through it from its beginning.
        with archive.open(_member(RECORDING), "w") as member:
            for data in _recording(contents, redactor):
                member.write(data)
        texts = {
            "report.md": "\n".join(incident_markdown.lines(incident)) + "\n",
            "report.html": "\n".join(incident_html.lines(incident)) + "\n",
            "sources.json": _json([json.loads(to_json(source)) for source in redactor.redact(contents.sources)]),
        }
        texts["bundle.json"] = _json(redactor.redact(_about(name, contents)))
        texts["redactions.json"] = _json({"masked": redactor.masked(), "left_out": contents.left_out})
        for title, text in texts.items():
            archive.writestr(_member(title), text.encode("utf-8", "backslashreplace"))


def _recording(contents: Contents, redactor: "Redactor") -> Iterator[bytes]:
    from delegtop.feed.recorder import Recorder
    from delegtop.sources.records import Line

    limits = redactor.redact(contents.limits)
    recorder = Recorder(FrozenClock(contents.at), f"delegtop {__version__}", limits)
    yield recorder.header()
    for read in contents.reads:
        line = read.line and Line(redactor.redact(read.line.origin), redactor.line(read.line.data), read.line.at)
        yield recorder.record(line, [redactor.redact(told) for told in read.told])
    yield recorder.end()


def _about(name: str, contents: Contents) -> dict[str, object]:
    return {
        "bundle": 1,
        "made_by": f"delegtop {__version__}",
        "python": platform.python_version(),
        "system": platform.system(),
        "at": iso(contents.at),
        "delegations": contents.delegations,
        "look": f"delegtop tree {name} --at {iso(contents.at)}",
    }


def _member(name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o600 << 16
    return made


def _json(value: object) -> str:
    return json.dumps(value, indent=2).replace("\x7f", "\\u007f") + "\n"  # in ASCII, so that printing it does nothing


def _summary(path: Path, contents: Contents, redactor: "Redactor") -> Iterator[str]:
    from delegtop.report.figures import count as counted

    masked = ", ".join(counted(count, kind) for kind, count in redactor.masked().items())
    left_out = ", ".join(f"{count:,} {kind}" for kind, count in contents.left_out.items() if count)
    yield f"{path}: {counted(contents.delegations, 'delegation')}"
    yield f"masked: {masked or 'nothing'}"
    if left_out:
        yield f"left out: {left_out}"
    yield "look through it before you send it; what has no known shape cannot be found"
    yield f"replay: delegtop tree {path} --at {iso(contents.at)}"
