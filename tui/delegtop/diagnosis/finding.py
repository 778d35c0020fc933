"""A finding: what is wrong, where it is written, and what to do about it."""

from enum import StrEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin


class Severity(StrEnum):
    """How much it matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


FIRST = frozenset({"FAM-001"})
"""What a person must decide comes before everything else that is as grave."""


class Finding(msgspec.Struct, frozen=True):
    """One thing a rule found."""

    rule: str
    severity: Severity
    subject: str
    """The id of the delegation, or the path of the file."""
    message: str
    """One sentence."""
    evidence: tuple[Origin, ...] = ()
    advice: str = ""
    command: str | None = None
    """What to type to recover, if the data or the protocol names it. Shown and copied, never run."""
    by: str = "delegtop"
    """Whose advice it is: `agent` (its own recommendation) or `delegtop`."""
    since: Millis | None = None
    fields: tuple[str, ...] = ()
    """What it is about in the JSON that the evidence holds, such as `artifacts[1].path`; a file has lines for them."""
