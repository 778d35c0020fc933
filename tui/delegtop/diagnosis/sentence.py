"""A sentence that goes on being true: the times in it are told as how long ago they are when it is said.

What was judged once is shown for minutes. A sentence with the minutes written out would lag behind the columns beside
it; this one says the same as they do in every frame.
"""

from delegtop.base.clock import Millis, duration

Sentence = tuple[str | Millis, ...]
"""Words, and moments that are said as the time since then."""


def say(sentence: Sentence, now: Millis) -> str:
    """The sentence as it reads at that moment."""
    return "".join(part if isinstance(part, str) else duration(max(now - part, 0)) for part in sentence)
