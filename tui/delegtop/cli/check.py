"""`delegtop check`: what is wrong with the delegations, where it is written, and what to do; for scripts and CI."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.cli import exit_codes, judging, loose_returns, made_files, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding
    from delegtop.diagnosis.rule import Rule
    from delegtop.feed import SourceStatus
    from delegtop.model.forest import Forest
    from delegtop.report.check import Subject, Verdict

DESCRIPTION = "Judge the delegations of the sources by the rules of the protocols, and say what to do (docs/check.md)."


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    judging.add(parser, json="print JSON, a stable contract (docs/check.md)", codes="1 (or 3)")
    parser.add_argument(
        "--root", metavar="DIR", help="the project: every artifact must be there (else: if any is found, all must be)"
    )
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    from delegtop.diagnosis.rules import RULES

    settings = options.load(arguments).settings
    rules = judging.wanted(arguments, RULES, "rule", "delegtop rules lists them")
    if arguments.root is not None and not Path(arguments.root).is_dir():
        fail(f"--root {arguments.root}: that is no folder")
    forest, statuses = loose_returns.take_in(reading.read(arguments, settings), arguments.sources)

    from delegtop.report import privacy
    from delegtop.report.check import Verdict

    root = Path(arguments.root) if arguments.root is not None else None
    subjects = list(_delegations(forest, rules, root))
    found = [finding for subject in subjects for finding in subject.findings]
    verdict = Verdict(forest.now, statuses, [*subjects, *_sources(arguments.sources, statuses, rules, found)])
    if settings.mask_secrets:
        verdict = privacy.masked_verdict(verdict)
    if arguments.sarif or arguments.junit:
        output.emit(judging.report(arguments, verdict, RULES.values()))
    else:
        output.emit(_lines(arguments, verdict))
    if reading.complain(arguments.sources, statuses):
        return Exit.UNREADABLE
    return _exit_code(arguments, verdict)


def _delegations(forest: "Forest", rules: "list[Rule]", root: Path | None) -> "Iterator[Subject]":
    """Every delegation with its findings, in the order of the tree."""
    from delegtop.diagnosis.assessment import assess
    from delegtop.diagnosis.case import Case
    from delegtop.diagnosis.engine import diagnose
    from delegtop.model.measures import label
    from delegtop.report.check import Subject
    from delegtop.sources.artifacts import reader

    exists = made_files.existence(forest, root)
    for handle in forest.walk():
        facts = forest.delegation(handle)
        folder = made_files.folder(facts)
        case = Case(forest, handle, exists[folder], reader(made_files.roots(folder, root)))
        found = diagnose(case, rules)
        yield Subject(facts.id, label(facts), made_files.source(facts), assess(Case(forest, handle)), found)


def _sources(
    named: list[str], statuses: "tuple[SourceStatus, ...]", rules: "list[Rule]", told: "list[Finding]"
) -> "Iterator[Subject]":
    """Every source that was read or should have been, with what is wrong in the file itself and not told before."""
    from delegtop.diagnosis.rules import logs
    from delegtop.model.events import Deviation
    from delegtop.report.check import Subject

    failed, places = reading.unread(named, statuses), logs.places(told)
    for source in statuses:
        if source.dialect is None and source not in failed:
            continue
        odd = [each for each in source.examples if isinstance(each, Deviation)]
        count, odd = logs.untold(source.path, source.reasons, source.deviations, odd, places)
        deviations = [(each.origin, f"{each.kind}: {each.detail}") for each in odd]
        unread = [(e.origin, f"{e.reason}: {e.excerpt}") for e in source.examples if not isinstance(e, Deviation)]
        found: list[Finding] = []
        for rule, number, examples in (
            (logs.UNREADABLE, source.unreadable, unread),
            (logs.DEVIATION, count, deviations),
        ):
            if rule in rules:
                found += logs.judge(rule, source.path, number, examples)
        yield Subject(source.path, source.path, source.path, None, tuple(found))


def _lines(arguments: Namespace, verdict: "Verdict") -> Iterable[str]:
    if arguments.json:
        from delegtop.report.check import as_json

        return as_json.lines(verdict)
    from delegtop.report.check import text

    return text.lines(verdict)


def _exit_code(arguments: Namespace, verdict: "Verdict") -> Exit:
    """As every command says of these delegations, as far as the rules were asked that say so; and a finding fails."""
    from delegtop.report.check import at_least

    level = judging.fail_on(arguments)
    if level is None:
        return Exit.OK
    only, left_out = ({id.upper() for id in ids} for ids in (arguments.rule, arguments.ignore))
    assessed = [subject.assessment for subject in verdict.subjects if subject.assessment is not None]
    code = exit_codes.of(each for each in assessed if each.rule not in left_out and (not only or each.rule in only))
    return max(code, Exit.FINDINGS if at_least(verdict.findings, level) else Exit.OK)
