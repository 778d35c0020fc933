"""Tokens without double counting.

One answer of the model is written as several records that repeat its usage while it grows, so tokens are summed by
message, and the largest word of each counts. Counted are the tokens that were new. What was read from the cache is left
out: every call reads the whole conversation again, and a sum of that says how long the conversation was, many times
over, and not how much work was done.
"""

_REMEMBERED = 4
"""Messages whose records may still come: records of one message stand close together."""


class Tokens:
    """The tokens of one conversation."""

    __slots__ = ("_recent", "total")

    def __init__(self) -> None:
        self.total: int | None = None
        self._recent: dict[str, int] = {}

    def add(self, message: str, tokens: int) -> int:
        """Count what the message used so far; how much of it is new."""
        before = self._recent.pop(message, 0)
        tokens = max(before, tokens)
        self._recent[message] = tokens
        self.total = (self.total or 0) + tokens - before
        if len(self._recent) > _REMEMBERED:
            del self._recent[next(iter(self._recent))]
        return tokens - before
