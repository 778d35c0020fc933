"""Findings as a JUnit report: a suite for each source, a case for each delegation, so that CI shows them as tests."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from delegtop.base import text
from delegtop.base.clock import iso
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import RuleText
from delegtop.report.check_report import CheckResult, CheckSubject, at_least, told

READING = "the source itself"
_NO_XML = re.compile("[\ufffe\uffff]")
"""What XML cannot hold and `text.safe` lets pass."""


def lines(verdict: CheckResult, _rules: Collection[RuleText], fail_on: Severity | None) -> Iterator[str]:
    """A case fails if something as grave as `fail_on` was found; None fails nothing. The rest is its output."""
    unread = {source.path: source.detail or source.status for source in verdict.sources if source.dialect is None}
    suites: dict[str, list[CheckSubject]] = {}
    for subject in verdict.subjects:
        suites.setdefault(subject.source, []).append(subject)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="delegtop" {_totals(verdict.subjects, unread, fail_on)}>'
    at = re.sub(r"\.\d+Z$", "", iso(verdict.at))
    for path, subjects in suites.items():
        yield f'  <testsuite name={_attribute(path)} {_totals(subjects, unread, fail_on)} timestamp="{at}">'
        for subject in subjects:
            yield from _case(subject, unread, fail_on)
        yield "  </testsuite>"
    yield "</testsuites>"


def _totals(subjects: Sequence[CheckSubject], unread: Mapping[str, str], fail_on: Severity | None) -> str:
    failures = sum(bool(at_least(subject.findings, fail_on)) for subject in subjects)
    errors = sum(subject.state is None and subject.id in unread for subject in subjects)
    return f'tests="{len(subjects)}" failures="{failures}" errors="{errors}" skipped="0" time="0"'


def _case(subject: CheckSubject, unread: Mapping[str, str], fail_on: Severity | None) -> Iterator[str]:
    name = READING if subject.state is None else subject.title
    yield f'    <testcase name={_attribute(name)} classname={_attribute(subject.source)} time="0">'
    if subject.state is None and subject.id in unread:
        yield f'      <error type="unreadable" message={_attribute(unread[subject.id])}/>'
    grave = at_least(subject.findings, fail_on)
    if grave:
        kind, message = grave[0].rule, _attribute(told(grave[0]))
        yield f'      <failure type="{kind}" message={message}>{_content(grave)}</failure>'
    if rest := [finding for finding in subject.findings if finding not in grave]:
        yield f"      <system-out>{_content(rest)}</system-out>"
    yield "    </testcase>"


def _whole(finding: Finding) -> str:
    places = ", ".join(map(str, finding.evidence))
    parts = [f"{finding.severity} {finding.rule}: {told(finding)}", places, finding.advice, finding.command or ""]
    return "\n  ".join(part for part in parts if part)


def _content(findings: Sequence[Finding]) -> str:
    return escape(_NO_XML.sub("�", text.safe("\n".join(map(_whole, findings)))))


def _attribute(words: str) -> str:
    return quoteattr(_NO_XML.sub("�", text.line(words, 1_000)))
