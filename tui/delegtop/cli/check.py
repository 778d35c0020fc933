"""`delegtop check`: what is wrong with the delegations, where it is written, and what to do; for scripts and CI."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.cli import loose_returns, options, output, reading
from delegtop.cli.diagnostics import advice, fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding, Severity
    from delegtop.diagnosis.rule import Rule
    from delegtop.feed import SourceStatus
    from delegtop.model.delegation import Delegation
    from delegtop.model.forest import Forest
    from delegtop.report.check import Subject, Verdict

DESCRIPTION = "Judge the delegations of the sources by the rules of the protocols, and say what to do (docs/check.md)."
LEVELS = ("error", "warning", "info", "never")
OVERDUE_RULES = frozenset({"DEL-020", "DEL-021"})
"""Overdue and lost: what exit code 3 is for."""

Exists = Callable[[str], bool | None]


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/check.md)")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for code viewers and code hosts")
    form.add_argument("--junit", action="store_true", help="print a JUnit report, for CI")
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        metavar="LEVEL",
        help="exit 1 (or 3) if a finding is at least this grave: error (the default), warning, info or never",
    )
    parser.add_argument("--rule", action="append", default=[], metavar="ID", help="only this rule; may be repeated")
    parser.add_argument("--ignore", action="append", default=[], metavar="ID", help="not this rule; may be repeated")
    parser.add_argument(
        "--root", metavar="DIR", help="the project: every artifact must be there (else: if any is found, all must be)"
    )
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    rules = _wanted(arguments)
    if arguments.root is not None and not Path(arguments.root).is_dir():
        fail(f"--root {arguments.root}: that is no folder")
    forest, statuses = loose_returns.take_in(reading.read(arguments, settings), arguments.sources)

    from delegtop.diagnosis.finding import Severity
    from delegtop.report.check import Verdict

    root = Path(arguments.root) if arguments.root is not None else None
    subjects = [*_delegations(forest, rules, root), *_sources(arguments.sources, statuses, rules)]
    verdict = Verdict(forest.now, statuses, subjects)
    fail_on = None if arguments.fail_on == "never" else Severity(arguments.fail_on)
    output.emit(_lines(arguments, verdict, fail_on))
    if reading.complain(arguments.sources, statuses):
        return Exit.UNREADABLE
    return _exit_code(verdict.findings, fail_on)


def _wanted(arguments: Namespace) -> "list[Rule]":
    """The rules to ask, by --rule and --ignore."""
    from delegtop.diagnosis.rules import RULES

    for flag, ids in (("--rule", arguments.rule), ("--ignore", arguments.ignore)):
        for id in ids:
            if id.upper() not in RULES:
                fail(f"{flag} {id}: no such rule; {advice(id.upper(), RULES, 'delegtop rules lists them')}")
    only = {id.upper() for id in arguments.rule} or set(RULES)
    return [rule for id, rule in RULES.items() if id in only - {id.upper() for id in arguments.ignore}]


def _delegations(forest: "Forest", rules: "list[Rule]", root: Path | None) -> "Iterator[Subject]":
    """Every delegation with its findings, in the order of the tree."""
    from delegtop.diagnosis.engine import diagnose
    from delegtop.model.measures import label
    from delegtop.report.check import Subject

    exists = _existence(forest, root)
    for handle in forest.walk():
        facts = forest.delegation(handle)
        found = diagnose(forest, handle, forest.now, exists[_folder(facts)], rules)
        yield Subject(facts.id, label(facts), _source(facts), forest.state(handle), found)


def _source(facts: "Delegation") -> str:
    """The source that tells of its start, else of it at all."""
    origin = facts.started_origin or next(iter(facts.origins), None)
    return origin.source if origin else "–"


def _folder(facts: "Delegation") -> Path:
    return Path(_source(facts)).parent


def _existence(forest: "Forest", root: Path | None) -> dict[Path, Exists]:
    """For the logs of each folder: do their artifacts exist, in `root`, else here or beside the log?"""
    from delegtop.sources.artifacts import existence

    claimed: dict[Path, set[str]] = {}
    for handle in forest.walk():
        facts = forest.delegation(handle)
        claimed.setdefault(_folder(facts), set()).update(artifact.path for artifact in facts.artifacts)
    return {
        folder: existence(paths, [Path.cwd(), folder] if root is None else [root], sure=root is not None)
        for folder, paths in claimed.items()
    }


def _sources(named: list[str], statuses: "tuple[SourceStatus, ...]", rules: "list[Rule]") -> "Iterator[Subject]":
    """Every source that was read or should have been, with what is wrong in the file itself."""
    from delegtop.diagnosis.rules import logs
    from delegtop.model.events import Deviation
    from delegtop.report.check import Subject

    failed = reading.unread(named, statuses)
    for source in statuses:
        if source.dialect is None and source not in failed:
            continue
        deviations = [(e.origin, f"{e.kind}: {e.detail}") for e in source.examples if isinstance(e, Deviation)]
        unread = [(e.origin, f"{e.reason}: {e.excerpt}") for e in source.examples if not isinstance(e, Deviation)]
        found: list[Finding] = []
        for rule, count, examples in (
            (logs.UNREADABLE, source.unreadable, unread),
            (logs.DEVIATION, source.deviations, deviations),
        ):
            if rule in rules:
                found += logs.judge(rule, source.path, count, examples)
        yield Subject(source.path, source.path, source.path, None, tuple(found))


def _lines(arguments: Namespace, verdict: "Verdict", fail_on: "Severity | None") -> Iterable[str]:
    if arguments.json:
        from delegtop.report.check import as_json

        return as_json.lines(verdict)
    if arguments.sarif:
        from delegtop.diagnosis.rules import RULES
        from delegtop.report.check import sarif

        return sarif.lines(verdict, list(RULES.values()))
    if arguments.junit:
        from delegtop.report.check import junit

        return junit.lines(verdict, fail_on)
    from delegtop.report.check import text

    return text.lines(verdict)


def _exit_code(findings: "Iterable[Finding]", fail_on: "Severity | None") -> Exit:
    from delegtop.report.check import at_least

    grave = [finding.rule for finding in at_least(findings, fail_on)]
    if not grave:
        return Exit.OK
    return Exit.OVERDUE if OVERDUE_RULES.intersection(grave) else Exit.FINDINGS
