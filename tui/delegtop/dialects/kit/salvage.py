"""Reading a record that does not fit: take what fits, field by field, and note each thing that does not.

The wire Structs say what fits; there is no second description of the format for bad records.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec

from delegtop.base.clock import Millis, lacks_zone, parse_time
from delegtop.base.origin import Origin
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation

_NOTED = 32
_DETAIL = 200

_MISSING = {"session_id": DeviationKind.MISSING_SESSION_ID, "at": DeviationKind.MISSING_TIME}

Wire = TypeVar("Wire", bound=msgspec.Struct)


class Notes:
    """The deviations of one record. One made of nothing but oddities tells the first few and counts the rest."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._noted: list[Deviation] = []
        self._more = 0

    def add(self, kind: DeviationKind, detail: str) -> None:
        if len(self._noted) == _NOTED:
            self._more += 1
            return
        if len(detail) > _DETAIL:
            detail = detail[:_DETAIL] + "…"
        self._noted.append(Deviation(self.origin, kind.value, detail))

    def deviations(self) -> list[Deviation]:
        if not self._more:
            return self._noted
        last = self._noted[-1]
        return [*self._noted, Deviation(self.origin, last.kind, f"and {self._more} more on the same line")]


Repair = Callable[[Any, Notes, str], Any]
"""Makes the best of a field that does not fit: (what was given, notes, name of the field) -> what to take for it."""


class _Field(NamedTuple):
    name: str
    type: Any
    required: bool


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, _Field]:
    return {field.encode_name: _Field(field.name, field.type, field.required) for field in msgspec.structs.fields(kind)}


def salvage(
    kind: type[Wire],
    value: Mapping[str, Any],
    notes: Notes,
    where: str = "",
    repairs: Mapping[str, Repair] | None = None,
) -> Wire:
    """A `kind` made of the fields that fit. A required field that cannot be had is None, whatever its type says."""
    fields = _fields(kind)
    config = kind.__struct_config__
    known = {}
    for key, given in value.items():
        if key in fields or key == config.tag_field:
            known[key] = given
        elif config.forbid_unknown_fields:
            notes.add(DeviationKind.UNKNOWN_KEY, where + key)
    try:
        return msgspec.convert(known, kind)
    except ValueError:  # msgspec's own, or a lone surrogate that it cannot compare
        return _field_by_field(kind, known, notes, where, repairs or {})


def _field_by_field(
    kind: type[Wire], known: Mapping[str, Any], notes: Notes, where: str, repairs: Mapping[str, Repair]
) -> Wire:
    fitting: dict[str, Any] = {}
    for key, field in _fields(kind).items():
        given = known.get(key)
        if given is None and field.required:  # null is as good as missing
            notes.add(_MISSING.get(key, DeviationKind.MISSING_FIELD), where + key)
            continue
        if key not in known:
            continue
        try:
            fitting[field.name] = msgspec.convert(given, field.type)
        except ValueError as error:
            if key in repairs:
                fitting[field.name] = repairs[key](given, notes, where + key)
            else:
                _refuse(error, notes, where + key)
    return blank(kind, fitting)


def blank(kind: type[Wire], fitting: Mapping[str, Any] | None = None) -> Wire:
    """A `kind` of which only `fitting` is known."""
    unknown = {field.name: None for field in _fields(kind).values() if field.required}
    return kind(**unknown | dict(fitting or {}))


def _refuse(error: ValueError, notes: Notes, where: str) -> None:
    """Note that a field was left out because it does not fit its type."""
    what = str(error)
    notes.add(DeviationKind.WRONG_TYPE if "got" in what else DeviationKind.WRONG_VALUE, f"{where}: {what}")


def wrong_type(expected: str, given: object, notes: Notes, where: str) -> None:
    """Note a value of another JSON type than expected, in the words msgspec uses."""
    notes.add(DeviationKind.WRONG_TYPE, f"{where}: Expected `{expected}`, got `{_json_type(given)}`")


def object_at(value: Mapping[str, Any], key: str, notes: Notes) -> dict[str, Any]:
    """The object at this key, or an empty one; what is no object is noted."""
    given = value.get(key)
    if isinstance(given, dict):
        return given
    if given is not None:
        wrong_type("object", given, notes, key)
    return {}


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def moment(given: object, zone: tzinfo, notes: Notes, where: str) -> Millis | None:
    """The moment a text names; what is no time, or does not say its zone, is noted."""
    if given is None:
        return None
    if not isinstance(given, str):
        notes.add(DeviationKind.GARBLED_TIME, f"{where}: Expected `str`, got `{_json_type(given)}`")
        return None
    at = parse_time(given, zone)
    if at is None:
        notes.add(DeviationKind.GARBLED_TIME, f"{where}: {given!r}")
    elif lacks_zone(given):
        notes.add(DeviationKind.NAIVE_TIME, f"{where}: {given!r}")
    return at


def read_apart(given: object, notes: Notes, where: str) -> None:
    """The repair of a time: none here, since `moment` reads it from the record and knows the zone."""
