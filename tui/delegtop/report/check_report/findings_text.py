"""Findings for people: by delegation, the worst first."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from delegtop.base import text
from delegtop.base.clock import iso
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.report.check_report import CheckResult, CheckSubject, told

_LINE_MOST = 500
_PLACES = 5


def lines(verdict: CheckResult) -> Iterator[str]:
    for subject in verdict.worst_first:
        yield _heading(subject)
        for finding, following in pairwise((*subject.findings, None)):
            if finding is not None:
                yield from _finding(finding, again=following is not None and _same_advice(finding, following))
        yield ""
    yield _count(verdict)


def _heading(subject: CheckSubject) -> str:
    title = text.line(subject.title, 1_000)
    return title if subject.state is None else f"{title} ({subject.state})"


def _same_advice(finding: Finding, other: Finding) -> bool:
    return (finding.rule, finding.advice, finding.command) == (other.rule, other.advice, other.command)


def _finding(finding: Finding, again: bool) -> Iterator[str]:
    """One finding; if what to do is said `again` at the next one, it is said only there."""
    yield f"  {finding.severity} {finding.rule}: {_line(told(finding))}"
    if finding.evidence:
        yield f"    at {_places(finding)}"
    if again:
        return
    if finding.advice:
        yield f"    do: {_line(finding.advice)}"
    if finding.command:
        yield f"    run: {_line(finding.command)}"


def _places(finding: Finding) -> str:
    shown = ", ".join(text.line(str(origin), 1_000) for origin in finding.evidence[:_PLACES])
    more = len(finding.evidence) - _PLACES
    return f"{shown} and {more} more" if more > 0 else shown


def _line(words: str) -> str:
    return text.line(words, _LINE_MOST)


def _count(verdict: CheckResult) -> str:
    at = re.sub(r"\.\d+Z$", "Z", iso(verdict.at))
    delegations = _number(sum(subject.state is not None for subject in verdict.subjects), "delegation")
    where = f"{delegations} from {_number(len(verdict.sources), 'source')} at {at}"
    found = verdict.findings
    if not found:
        return f"No findings: {where}."
    counts = Counter(finding.severity for finding in found)
    words = ", ".join(_severity(counts[severity], severity) for severity in Severity if counts[severity])
    return f"{_number(len(found), 'finding')} ({words}): {where}."


def _severity(count: int, severity: Severity) -> str:
    return f"{count} {severity}" if severity is Severity.INFO else _number(count, severity.value)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
