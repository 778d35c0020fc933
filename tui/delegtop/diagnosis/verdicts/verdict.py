"""What a verdict is."""

from enum import StrEnum

import msgspec

from delegtop.clock import Millis
from delegtop.model.ledger import Handle
from delegtop.origin import Origin


class Kind(StrEnum):
    """What is going on, in the words shown to people."""

    AWAITING_PERMISSION = "awaiting a permission"
    AWAITING_ANSWER = "awaiting an answer"
    LOST = "lost"
    ORPHANED = "orphaned"
    LOOPING = "looping"
    DISAGREEMENT = "registry and log disagree"
    WAITING_ON_CHILD = "waiting on a child"
    LOST_RETURN = "lost return"
    HUNG_IN_TOOL = "hung in a tool"
    WORKED_NEVER_REPORTED = "worked but never reported"
    HOST_SLEPT = "host slept"
    OVERDUE = "overdue"
    WAITING_FOR_MODEL = "waiting for the model"
    SILENT = "silent"


class Certainty(StrEnum):
    """How sure a verdict is."""

    CERTAIN = "certain"
    """The records say so."""
    LIKELY = "likely"
    """The records fit nothing else well."""
    POSSIBLE = "possible"
    """It fits, and so do harmless explanations."""


class Verdict(msgspec.Struct, frozen=True):
    """One sentence on one delegation, with where it is written."""

    kind: Kind
    certainty: Certainty
    message: str
    since: Millis | None = None
    evidence: tuple[Origin, ...] = ()
    waits_on: Handle | None = None
    """The delegation at the end of the path that it waits on."""
