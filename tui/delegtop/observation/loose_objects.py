"""Files that are neither a log nor a return but a part of one: an artifact or an error, judged by its contract.

And files of text that nobody can tell the format of: an agent's answer is judged if somebody says that it is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from delegtop.observation.unread_sources import unread

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding
    from delegtop.feed.live_feed import SourceStatus

_ERROR = frozenset({"code", "recoverable", "recommendation"})
_PATHLESS = frozenset({"type", "summary"})
_WHOLE = frozenset({"status", "session_id", "event"})
_LARGEST = 1024 * 1024


class LooseObject(NamedTuple):
    """One such file."""

    contract: str
    """Its name, as `delegtop schema` has it."""
    title: str
    findings: "tuple[Finding, ...]"


def judged(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> dict[str, LooseObject]:
    """Those named files that are an artifact or an error, by path, with what is wrong with each."""
    from delegtop.protocols.contracts import contracts

    found: dict[str, LooseObject] = {}
    for path, data in _unrecognised(named, statuses):
        value = _object(data)
        contract = None if value is None else _contract(value)
        if value is not None and contract is not None:
            findings = tuple(_findings(path, contract, value))
            found[path] = LooseObject(contract, contracts()[contract].title, findings)
    return found


def texts(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> list[str]:
    """Those named files that hold words, in no format that is known."""
    return [path for path, data in _unrecognised(named, statuses) if _is_words(data)]


def torn(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> dict[str, int]:
    """Those named files that mean to be one object and are no valid JSON, with the line that shows it."""
    import json

    found: dict[str, int] = {}
    for path, data in _unrecognised(named, statuses):
        text = data.decode("utf-8-sig", "replace")
        if not text.lstrip().startswith("{") or len(data) == _LARGEST:
            continue
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):  # lines, each of which may be valid
                found[path] = error.lineno
        except RecursionError:
            continue
    return found


def answers() -> list[str]:
    """The formats of what an agent answered."""
    from delegtop.dialects import load, names

    return [name for name in names() if load(name).is_answer]


def _unrecognised(named: Sequence[str], statuses: "tuple[SourceStatus, ...]") -> Iterator[tuple[str, bytes]]:
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


def _contract(value: Mapping[str, Any]) -> str | None:
    """What the object means to be, by the names in it."""
    names = value.keys()
    if names & _WHOLE:
        return None
    if "message" not in names and (("path" in names and names & {"type", "summary"}) or names == _PATHLESS):
        return "artifact"
    return "error" if ("message" in names and names & _ERROR) or len(names & _ERROR) > 1 else None


def _findings(path: str, contract: str, value: dict[str, Any]) -> "Iterator[Finding]":
    from delegtop.base.origin import Origin
    from delegtop.diagnosis.finding import Finding
    from delegtop.diagnosis.rule_table import RULES
    from delegtop.diagnosis.rules.log_rules import DEVIATION
    from delegtop.protocols.contract_model import breaches
    from delegtop.protocols.contracts import model

    for breach in breaches(model(contract), value):
        rule = RULES.get(breach.rule or "", DEVIATION)
        message, advice = f"In the {contract}, {breach}.", f"`delegtop schema {contract}` prints what it must hold."
        yield Finding(rule.id, rule.severity, path, message, (Origin(path, 1, 0),), advice, fields=(breach.field,))
