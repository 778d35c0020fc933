"""What is normal: how long a call, an answer of the model or an agent takes, by this machine's history, and by what is
known of others (`known_durations`) as far as there is too little of it."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from delegtop.model.call_names import MODEL, TOOL
from delegtop.model.duration_curve import DurationCurve, as_long
from delegtop.model.known_durations import KNOWN
from delegtop.model.policy import Counts, Kind

ENOUGH = 100
"""So many of a kind are worth naming a share of."""
_RARE, _RARE_ANSWER, _UNHEARD_OF = 1 / 1_000, 1 / 5_000, 1 / 20_000
"""What one in so many exceeds is worth a word, and what hardly any does likely comes to no good end. An agent asks its
model some 350 times an hour: of a thousand answers one that is spoken of would be an alarm every three hours."""
_OFTEN, _STRETCH = 1 / 20, 30
"""Where what is rare takes more than thirty times as long as what one call in twenty exceeds, it tells of people who
were asked and away, and not of the work: a call may wait for a permission that no record tells of."""
_ANY = ""


class Normal(msgspec.Struct, frozen=True):
    """What is normal for a kind of call."""

    name: str
    """The narrowest name of which enough are known to name a share; nothing if there is none."""
    counts: Counts
    """Those that are known by this name."""
    here: bool
    """Whether they are this machine's own."""
    rare_after: int
    """Milliseconds that one in a thousand exceeds, of answers one in five thousand, or in as many as are known."""
    unheard_of_after: int
    """Milliseconds that hardly any exceeds."""
    is_known: bool
    """Whether so many of this program are known that what is rare among them was seen; else it is only estimated."""

    @property
    def count(self) -> int:
        return sum(self.counts)

    def shorter(self, span: int) -> float:
        """The share of those that took less."""
        return 1 - as_long(self.counts, span) / self.count if self.counts else 0.0


def normal(product: str | None, names: Iterable[str], own: Mapping[Kind, Counts]) -> Normal:
    """What is normal for what has these names, the widest first: by this machine's own calls, and by others'."""
    program, every, others = product or _ANY, tuple(names), KNOWN
    known = tuple((others.get((program, name), ()), own.get((program, name), ())) for name in every)
    return _normal(every, others.get((_ANY, every[0]), ()), known)


@lru_cache(maxsize=1_024)
def _normal(names: tuple[str, ...], widest: Counts, known: tuple[tuple[Counts, Counts], ...]) -> Normal:
    curve, told, most_known = DurationCurve().refined(widest), ("", Counts(), False), 0
    for name, (of_others, of_ours) in zip(names, known, strict=True):
        curve = curve.refined(of_others).refined(of_ours)
        most_known = max(most_known, sum(of_others), sum(of_ours))
        if name != TOOL and max(sum(of_others), sum(of_ours)) >= ENOUGH:  # any tool is no measure for one
            here = sum(of_ours) >= ENOUGH
            told = name, of_ours if here else of_others, here
    share = min(_RARE, max(_RARE_ANSWER, 1 / max(most_known, 1))) if names[0] == MODEL else _RARE
    rare, unheard_of = curve.exceeded_by(share), curve.exceeded_by(_UNHEARD_OF)
    most = _STRETCH * curve.exceeded_by(_OFTEN) if names[0] == TOOL else unheard_of
    return Normal(*told, min(rare, most), min(unheard_of, most), most_known * _RARE >= 1)
