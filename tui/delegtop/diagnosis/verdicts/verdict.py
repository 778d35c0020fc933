"""What a verdict is."""

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.model.store.ledger import Handle


class Verdict(msgspec.Struct, frozen=True):
    """One sentence on one delegation, with where it is written."""

    kind: Kind
    certainty: Certainty
    sentence: Sentence
    since: Millis | None = None
    evidence: tuple[Origin, ...] = ()
    waits_on: Handle | None = None
    """The delegation at the end of the path that it waits on."""
