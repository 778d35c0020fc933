"""Files that are neither a log nor a return but a part of one: an artifact or an error, judged by the rules on returns.

And files of text that nobody can tell the format of: an agent's answer is judged if somebody says that it is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from delegtop.base.json_places import fault_line
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.observation.unread_sources import unread

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.model.policy import Policy

_ERROR = frozenset({"code", "recoverable", "recommendation"})
_PATHLESS = frozenset({"type", "summary"})
_WHOLE = frozenset({"status", "session_id", "event"})
_ANSWERS = frozenset({"summary", "artifacts", "metadata", "meta"})
_LARGEST = 1024 * 1024
_ARTIFACT = "artifact"
_RULES = {
    _ARTIFACT: ("RET-020", "RET-021", "RET-022", "RET-023", "RET-024", "RET-025", "RET-026"),
    "error": ("RET-032", "RET-033", "RET-034", "RET-035"),
}
"""The rules on returns that are about each."""
_WITHIN = lazy_pattern(r"^(?:return\.)?(?:artifacts|errors)\[0\]\.?")


class LooseObject(NamedTuple):
    """One such file."""

    contract: str
    """Its name, as `delegtop schema` has it."""
    title: str
    findings: "tuple[Finding, ...]"


def judged(
    named: Sequence[str], statuses: "Sequence[SourceStatus]", policy: "Policy", root: Path | None = None
) -> dict[str, LooseObject]:
    """Those named files that are an artifact or an error, by path, with what is wrong with each."""
    from delegtop.protocols.contracts import contracts

    found: dict[str, LooseObject] = {}
    for path, data in _unrecognised(named, statuses):
        value = _object(data)
        contract = None if value is None else _contract(value)
        if value is not None and contract is not None:
            findings = tuple(_findings(path, contract, value, policy, root))
            found[path] = LooseObject(contract, contracts()[contract].title, findings)
    return found


def texts(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> list[str]:
    """Those named files that hold words, or an object that may be an answer, in no format that is known."""
    return [path for path, data in _unrecognised(named, statuses) if _is_words(data) or _may_be_an_answer(data)]


def torn(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> dict[str, int]:
    """Those named files that mean to be one object and are no valid JSON, with the line that shows it."""
    found: dict[str, int] = {}
    for path, data in _unrecognised(named, statuses):
        text = data.decode("utf-8-sig", "replace")
        if not text.lstrip().startswith("{") or len(data) == _LARGEST:
            continue
        if (line := fault_line(text, is_alone=False)) is not None:  # else lines, each of which may be valid
            found[path] = line
    return found


def answers() -> list[str]:
    """The formats of what an agent answered."""
    from delegtop.dialects import load, names

    return [name for name in names() if load(name).is_answer]


def _unrecognised(named: Sequence[str], statuses: "Sequence[SourceStatus]") -> Iterator[tuple[str, bytes]]:
    for source in unread(named, statuses):
        if source.status != "unrecognised":
            continue
        try:
            with Path(source.path).open("rb") as file:
                yield source.path, file.read(_LARGEST)
        except OSError:
            continue


def _object(data: bytes) -> dict[str, Any] | None:
    from delegtop.sources.records import decoded

    value = decoded(data.strip(b"\xef\xbb\xbf \t\r\n"))
    return value if isinstance(value, dict) else None


def _is_words(data: bytes) -> bool:
    if b"\0" in data or data.lstrip().startswith((b"{", b"[{", b'["')):
        return False
    try:
        return bool(data.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        return error.start > _LARGEST - 4  # cut in the middle of a character


def _may_be_an_answer(data: bytes) -> bool:
    value = _object(data)
    return value is not None and (isinstance(value.get("status"), str) or bool(value.keys() & _ANSWERS))


def _contract(value: Mapping[str, Any]) -> str | None:
    """What the object means to be, by the names in it."""
    names = value.keys()
    if names & _WHOLE:
        return None
    if "message" not in names and (("path" in names and names & {"type", "summary"}) or names == _PATHLESS):
        return _ARTIFACT
    return "error" if ("message" in names and names & _ERROR) or len(names & _ERROR) > 1 else None


def _findings(path: str, contract: str, value: dict[str, Any], policy: "Policy", root: Path | None) -> "list[Finding]":
    """What the rules on returns say of it, as if it stood in one that has nothing else."""
    from msgspec.structs import replace

    from delegtop.base.origin import Origin
    from delegtop.diagnosis import log_findings
    from delegtop.diagnosis.case import Case
    from delegtop.diagnosis.engine import diagnose
    from delegtop.diagnosis.rule_table import RULES
    from delegtop.diagnosis.rules.log_rules import DEVIATION
    from delegtop.dialects.kit.salvage import Notes
    from delegtop.model.events import Ended, Ending, Outcome, Report
    from delegtop.model.forest import Forest
    from delegtop.observation import made_files
    from delegtop.protocols.standard.dialects.return_reading import repair_artifacts, repair_fault

    notes = Notes(Origin(path, 1, 0))
    if contract == _ARTIFACT:
        told = Report(artifacts=repair_artifacts([value], notes, "artifacts"))
    else:
        fault = repair_fault(value, notes, "errors[0]")
        told = Report(errors=() if fault is None else (fault,))
    forest = Forest(policy)
    forest.apply([Ended(path, None, notes.origin, Outcome.UNKNOWN, Ending.RETURN, told)])
    (handle,), exists = forest.walk(), made_files.existence(forest, root)
    case = Case(forest, handle, exists[Path(path).parent])
    found = list(diagnose(case, [RULES[id] for id in _RULES[contract]]))
    found += [log_findings.not_found(path, *each) for each in made_files.unfound(forest, exists).values()]
    odd = notes.deviations()
    _, odd = log_findings.untold(path, {}, len(odd), odd, log_findings.places(found))
    examples = [(each.origin, f"{each.kind}: {each.detail}") for each in odd]
    found += log_findings.judge(DEVIATION, path, len(examples), examples, "return")
    return [replace(each, fields=tuple(map(_own_field, each.fields))) for each in found]


def _own_field(field: str) -> str:
    """The field of the part, of what is told as a field of a return."""
    return "|".join(_WITHIN.sub("", name) for name in field.split("|"))
