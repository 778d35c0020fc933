"""What is known of a delegation after somebody set the clock: its moments as the clock would tell them now.

Else what was heard of a minute ago would have been quiet for two days, and be suspicious for it.
"""

from collections.abc import Callable

import msgspec

from delegtop.base.clock import Millis
from delegtop.model.delegation import Delegation

_MOMENTS = ("started_at", "heard_at", "phase_since", "resumed_at", "ended_at", "listed_at")
_DUE = {"deadline": "started_at", "call_deadline": "phase_since"}
"""What is due, and since when that is counted."""


def by_present_clock(facts: Delegation, scale: Callable[[Millis | None], Millis | None]) -> Delegation:
    """The same with its moments by the clock as it is now; what is due keeps its distance from where that began."""
    moments = {name: scale(getattr(facts, name)) for name in _MOMENTS}
    for name, since in _DUE.items():
        due, began, begins = getattr(facts, name), getattr(facts, since), moments[since]
        if due is not None and began is not None and begins is not None:
            moments[name] = Millis(due + begins - began)
    return msgspec.structs.replace(facts, **moments)
