"""`delegtop report`: an incident report a person can send."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from delegtop.cli import kept_files, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle
    from delegtop.observation.observation import Observation
    from delegtop.report.incident.incident_report import Incident
    from delegtop.report.incident.incident_timeline import IncidentJournal
    from delegtop.settings import Settings

DESCRIPTION = (
    "Write an incident report: what hung and why, the timeline, the tree, the lines that say so, and what was "
    "recommended (docs/report.md). Secrets in it are always masked."
)
PAGE = "docs/report.md"
EXAMPLES = {
    "delegtop report logs/ -o incident.html": "one page to send",
    "delegtop report logs/ --only sess_1772532120_h9w4dg > one.md": "one delegation, with all above and below it",
}
RECALLED = 15
"""Lines about a delegation that are read again for the timeline."""
FORMS = {".md": "incident_markdown", ".html": "incident_html", ".json": "incident_json"}
"""What a name may end in, and the module of `report.incident` that writes it; the first is printed."""
_FORMS = " or ".join(", ".join(FORMS).rsplit(", ", 1))


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"write this file, in the form its name ends with: {_FORMS}; without it, Markdown is printed",
    )
    parser.add_argument("--only", metavar="ID", help="only this delegation, with all above and below it")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    options.add(parser, "at", "format", "no_index", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    path = None if arguments.output is None else Path(arguments.output)
    form = next(iter(FORMS)) if path is None else path.suffix.lower()
    if form not in FORMS:
        fail(f"-o {arguments.output}: the name must end in {_FORMS}")
    if path is not None:
        kept_files.check(path, force=arguments.force)
    incident, readable = _incident(arguments, settings)
    if path is None:
        output.emit(_writer(form)(incident))
    elif readable or incident.counts:  # of nothing that can be read no file is made: the next try would find it
        kept_files.write(path, _writer(form)(incident), force=arguments.force)
    return Exit.OK if readable else Exit.UNREADABLE


def _incident(arguments: Namespace, settings: "Settings") -> "tuple[Incident, bool]":
    """What is to be told, and whether every source could be read."""
    from delegtop.report.incident.incident_timeline import IncidentJournal

    journal = IncidentJournal()
    with reading.opened(arguments, settings, journal.heed) as seen:
        incident = incident_of(seen, journal, wanted(seen.forest, arguments.only))
    return incident, not reading.complain(seen.sources, seen.statuses)


def incident_of(seen: "Observation", journal: "IncidentJournal", only: "Handle | None") -> "Incident":
    """The incident that the sources tell of; with `only`, of that delegation with all above and below it."""
    from delegtop.observation import made_files
    from delegtop.report.incident.incident_gather import gather

    feed, exists = seen.feed, made_files.existence(seen.forest)
    return gather(
        seen.forest,
        seen.statuses,
        journal,
        feed.raw,
        only=only,
        recall=lambda facts: [event for _, told in feed.history(facts, RECALLED) for event in told],
        existence=lambda facts: exists[made_files.folder(facts)],
    )


def wanted(forest: "Forest", id: str | None) -> "Handle | None":
    """The delegation of that id, or the only one whose id begins so."""
    if id is None:
        return None
    if (found := forest.find(id)) is not None:
        return found
    alike = [handle for handle in forest.walk() if forest.delegation(handle).id.startswith(id)]
    if len(alike) != 1:
        fail(f"--only {id}: {'more than one id begins so' if alike else 'there is no such delegation'}")
    return alike[0]


def _writer(form: str) -> "Callable[[Incident], Iterable[str]]":
    module = import_module(f"delegtop.report.incident.{FORMS[form]}")
    return cast("Callable[[Incident], Iterable[str]]", module.lines)
