"""A moment as the records of the standard tell it: ISO 8601 with a zone."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from pydantic import AwareDatetime, BeforeValidator, Field, JsonValue, WithJsonSchema

MOMENT_SCHEMA: dict[str, JsonValue] = {
    "format": "date-time",
    "pattern": r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$",
}
"""With a pattern: to most validators a format is a remark and no demand."""


def _moment(given: Any) -> Any:
    """Read as the lines of a log are: pydantic would take a number for a moment too, and a text of digits."""
    if isinstance(given, datetime):  # a program made it
        return given
    try:
        return msgspec.convert(given, datetime)
    except msgspec.ValidationError:
        raise ValueError("a time is a text such as 2026-02-03T09:00:00.000Z") from None


Moment = Annotated[
    AwareDatetime, BeforeValidator(_moment), Field(strict=False), WithJsonSchema({"type": "string", **MOMENT_SCHEMA})
]
