"""Findings as SARIF 2.1.0, which code viewers and code hosts read."""

import json
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from delegtop import __version__
from delegtop.base import text
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import RuleText
from delegtop.report.check_report import CheckResult, CheckSubject, told

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def lines(verdict: CheckResult, rules: Collection[RuleText], _fail_on: Severity | None) -> Iterator[str]:
    index = {rule.id: number for number, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "delegtop", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(subject, finding, index) for subject in verdict.worst_first for finding in subject.findings
        ],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: RuleText) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\ndelegtop rules {rule.id}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(subject: CheckSubject, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    first, *others = [_location(origin, finding.subject) for origin in finding.evidence] or [_nowhere(finding.subject)]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(subject, finding)},
        "locations": [first],
    }
    if others:
        result["relatedLocations"] = others
    return result


def _message(subject: CheckSubject, finding: Finding) -> str:
    message = told(finding) if subject.state is None else f"{subject.title}: {told(finding)}"
    parts = [message, finding.advice, f"Run: {finding.command}" if finding.command else ""]
    return text.safe("\n".join(part for part in parts if part))


def _location(origin: Origin, subject: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": uri(origin.name)}, "region": {"startLine": max(origin.line, 1)}}
    return {"physicalLocation": place, **_nowhere(subject)}


def _nowhere(subject: str) -> dict[str, Any]:
    return {"logicalLocations": [{"name": text.line(subject), "kind": "object"}]}


def uri(path: str) -> str:
    """A path as a URI: relative ones stay relative to where the check was run."""
    if PurePath(path).is_absolute():
        return "file://" + quote(path, errors="surrogateescape")
    # The first name of a relative reference must not look like a scheme; quote leaves no colon.
    return quote(PurePath(path).as_posix(), errors="surrogateescape")
