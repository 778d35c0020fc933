"""`delegtop check`: what is wrong with the delegations, where it is written, and what to do; for scripts and CI."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics, exit_codes, finding_options, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.diagnosis.case import Exists
    from delegtop.diagnosis.finding import Finding
    from delegtop.diagnosis.rule import Rule
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.forest import Forest
    from delegtop.observation.loose_objects import LooseObject
    from delegtop.observation.made_files import Unfound
    from delegtop.report.check_report import CheckResult, CheckSubject

DESCRIPTION = "Judge the delegations of the sources by the rules of the protocols, and say what to do (docs/check.md)."
PAGE = "docs/check.md"
EXAMPLES = {
    "delegtop check logs/ --fail-on warning": "exits 1 on a breach, 3 if something is stuck or just lost",
    "delegtop check logs/ --sarif > findings.sarif": "for code scanning",
}


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    finding_options.add(parser, json="print JSON, a stable contract (docs/check.md)", codes="1 (or 3)")
    parser.add_argument(
        "--root", metavar="DIR", help="the project: every artifact must be there (else: if any is found, all must be)"
    )
    options.add(parser, "at", "format", "config")


def run(arguments: Namespace) -> int:
    from delegtop.diagnosis.rule_table import RULES

    settings = options.load(arguments).settings
    rules = finding_options.wanted(arguments, RULES, "rule", "delegtop rules lists them")
    if arguments.root is not None and not Path(arguments.root).is_dir():
        fail(f"--root {arguments.root}: that is no folder")
    seen = reading.read(arguments, settings, indexed=False)

    from delegtop.diagnosis.return_findings import choice
    from delegtop.observation import field_lines, loose_objects, loose_returns, made_files
    from delegtop.report import privacy
    from delegtop.report.check_report import CheckResult

    root = Path(arguments.root) if arguments.root is not None else None
    statuses = loose_returns.take_in(seen.forest, seen.sources, seen.statuses)
    statuses = loose_returns.take_in_empty(seen.forest, statuses, arguments.format)
    parts = loose_objects.judged(seen.sources, statuses, seen.forest.policy, root)
    statuses = tuple(_read_as(each, parts[each.path].contract) if each.path in parts else each for each in statuses)
    exists = made_files.existence(seen.forest, root)
    subjects = list(_delegations(seen.forest, rules, root, exists))
    found = [finding for subject in subjects for finding in subject.findings]
    unfound = made_files.unfound(seen.forest, exists)
    files = [*_parts(parts, rules), *_sources(seen.sources, statuses, rules, found, unfound)]
    verdict = CheckResult(seen.forest.shown_at, statuses, field_lines.placed([*subjects, *files], statuses))
    if settings.mask_secrets:
        verdict = privacy.masked_verdict(verdict)
    if form := finding_options.form(arguments):
        output.emit(form(verdict, RULES.values(), finding_options.fail_on(arguments)))
    else:
        output.emit(_lines(arguments, verdict))
    for path, part in parts.items():
        diagnostics.say(f"{path}: it is an {part.title}, judged by its contract, and tells of no delegation")
    if reading.complain(seen.sources, statuses):
        for path, line in loose_objects.torn(seen.sources, statuses).items():
            diagnostics.say(f"{path}: it is no valid JSON, as line {line} shows")
        for path in loose_objects.texts(seen.sources, statuses):
            named = choice([f"--format {name}" for name in loose_objects.answers()])
            diagnostics.say(f"{path}: if it is what an agent answered, {named} judges it")
        return Exit.UNREADABLE
    return _exit_code(arguments, verdict)


def _read_as(source: "SourceStatus", contract: str) -> "SourceStatus":
    from delegtop.feed.followed_file import SourceStatus

    return SourceStatus(source.path, contract, 1, 0, "live", size=source.size, read=source.size)


def _parts(parts: "Mapping[str, LooseObject]", rules: "list[Rule]") -> "Iterator[CheckSubject]":
    """Every file that is only a part of a return, with what is wrong with it."""
    from delegtop.report.check_report import CheckSubject

    asked = {rule.id for rule in rules}
    for path, part in parts.items():
        found = tuple(finding for finding in part.findings if finding.rule in asked)
        yield CheckSubject(path, part.title, path, None, found)


def _delegations(
    forest: "Forest", rules: "list[Rule]", root: Path | None, exists: "Mapping[Path, Exists]"
) -> "Iterator[CheckSubject]":
    """Every delegation with its findings, in the order of the tree."""
    from delegtop.diagnosis.assessment import assess
    from delegtop.diagnosis.case import Case
    from delegtop.diagnosis.engine import diagnose
    from delegtop.diagnosis.path_ends import JudgedEnds
    from delegtop.model.measures import label, told_host
    from delegtop.observation import made_files
    from delegtop.report.check_report import CheckSubject
    from delegtop.sources.artifact_files import reader

    ends = JudgedEnds(forest)
    for handle in forest.walk():
        facts = forest.delegation(handle)
        folder = made_files.folder(facts)
        case = Case(forest, handle, exists[folder], reader(made_files.roots(folder, root)), ends=ends)
        found = diagnose(case, rules)
        host = told_host(forest, handle)
        name = f"{label(facts)} on {host}" if host else label(facts)
        yield CheckSubject(facts.id, name, made_files.source(facts), assess(Case(forest, handle, ends=ends)), found)


def _sources(
    named: list[str],
    statuses: "Sequence[SourceStatus]",
    rules: "list[Rule]",
    told: "list[Finding]",
    unfound: "Mapping[str, Unfound]",
) -> "Iterator[CheckSubject]":
    """Every source that was read or should have been, with what is wrong in the file itself and not told before, and
    the artifacts it names of which nothing can be said."""
    from delegtop.diagnosis import log_findings
    from delegtop.diagnosis.rule_table import LEFT_DEVIATIONS
    from delegtop.diagnosis.rules.log_rules import DEVIATION, UNFOUND, UNREADABLE
    from delegtop.model.events import Deviation
    from delegtop.observation import unlisted_outputs
    from delegtop.observation.unread_sources import unread
    from delegtop.report.check_report import CheckSubject

    failed, places = unread(named, statuses), log_findings.places(told)
    for source in statuses:
        if source.dialect is None and source not in failed and not unlisted_outputs.is_empty_list(source):
            continue
        odd = [each for each in source.examples if isinstance(each, Deviation)]
        count, odd = log_findings.untold(source.path, source.reasons, source.deviations, odd, places)
        left = [each for each in odd if each.kind in LEFT_DEVIATIONS]
        count -= len(left)
        left += unlisted_outputs.beside(source)
        deviations = [(each.origin, f"{each.kind}: {each.detail}") for each in odd if each not in left]
        lines = [(e.origin, f"{e.reason}: {e.excerpt}") for e in source.examples if not isinstance(e, Deviation)]
        found: list[Finding] = []
        for rule, number, examples in (
            (UNREADABLE, source.unreadable, lines),
            (DEVIATION, count, deviations),
        ):
            if rule in rules:
                found += log_findings.judge(rule, source.path, number, examples, source.dialect)
        found += [log_findings.left_open(source.path, each) for each in left if LEFT_DEVIATIONS[each.kind] in rules]
        if UNFOUND in rules and (made := unfound.get(source.path)):
            found.append(log_findings.not_found(source.path, made.paths, made.told))
        yield CheckSubject(source.path, source.path, source.path, None, tuple(found))


def _lines(arguments: Namespace, verdict: "CheckResult") -> Iterable[str]:
    if arguments.json:
        from delegtop.report.check_report import findings_json

        return findings_json.lines(verdict)
    from delegtop.report.check_report import findings_text

    return findings_text.lines(verdict)


def _exit_code(arguments: Namespace, verdict: "CheckResult") -> Exit:
    """As every command says of these delegations, as far as the rules were asked that say so; and a finding fails."""
    from delegtop.report.check_report import at_least

    level = finding_options.fail_on(arguments)
    if level is None:
        return Exit.OK
    only, left_out = ({id.upper() for id in ids} for ids in (arguments.rule, arguments.ignore))
    assessed = [subject.assessment for subject in verdict.subjects if subject.assessment is not None]
    code = exit_codes.of(each for each in assessed if each.rule not in left_out and (not only or each.rule in only))
    return max(code, Exit.FINDINGS if at_least(verdict.findings, level) else Exit.OK)
