"""Where a fact came from, so that everything on screen can be traced to the line that says it."""

import msgspec


class Origin(msgspec.Struct, frozen=True, order=True, gc=False):
    """One place in one source. `line` counts from 1; `offset` is the byte where the record starts."""

    source: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}"
