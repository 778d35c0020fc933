"""The kinds of departure from a format: the words deviations are counted by, which the reference pages explain."""

from enum import StrEnum
from typing import NamedTuple


class DeviationKind(StrEnum):
    """In what way something readable does not fit."""

    UNKNOWN_EVENT = "unknown event"
    UNKNOWN_KEY = "unknown key"
    UNKNOWN_SCHEMA_VERSION = "unknown schema_version"
    UNKNOWN_STATUS = "unknown status"
    MISSING_SESSION_ID = "missing session_id"
    MALFORMED_SESSION_ID = "malformed session id"
    ANOTHER_SESSION_ID = "another session id"
    MISSING_TIME = "missing time"
    GARBLED_TIME = "garbled time"
    NAIVE_TIME = "time without zone"
    MISSING_FIELD = "missing field"
    WRONG_TYPE = "wrong type"
    WRONG_VALUE = "wrong value"


UNLISTED = "not listed"
"""A file lies beside a log that should name it, and it does not: no departure of a line, and no format notes it."""


class Departure(NamedTuple):
    """One way in which something does not fit, in words that name the field."""

    kind: DeviationKind
    detail: str
