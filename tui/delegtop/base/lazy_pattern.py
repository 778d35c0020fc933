"""Regular expressions that are compiled when the first text needs them: all together would hold up every start."""

import re
from typing import Any, AnyStr, Generic, cast


class _LazyPattern(Generic[AnyStr]):
    """Compiles itself when something is asked of it, and keeps the answer: asking again costs nothing more."""

    def __init__(self, source: AnyStr, flags: int) -> None:
        self._how: tuple[AnyStr, int] = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._how), name)
        setattr(self, name, found)
        return found


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but a mistake in it shows when it is first used. Only for the methods of a pattern: `re.sub` and
    others do not take it for one."""
    return cast(re.Pattern[AnyStr], _LazyPattern(source, flags))
