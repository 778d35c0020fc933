"""How the work ended, by the status of an answer."""

from delegtop.model.events import Outcome
from delegtop.protocols.hyper.output_contract import COMPLETE_WORDS, FAILED_WORDS

_OUTCOMES = {"partial": Outcome.PARTIAL, "blocked": Outcome.BLOCKED}


def outcome_of(status: str | None) -> Outcome:
    word = (status or "").strip().lower()
    if word in COMPLETE_WORDS:
        return Outcome.COMPLETED
    return Outcome.FAILED if word in FAILED_WORDS else _OUTCOMES.get(word, Outcome.UNKNOWN)
