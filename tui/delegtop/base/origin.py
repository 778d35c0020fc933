"""Where a fact came from, so that everything on screen can be traced to the line that says it."""

import msgspec

HostFile = tuple[str, str]
"""A host and a source there: one path on two hosts is two files."""


class Origin(msgspec.Struct, frozen=True, order=True, gc=False, omit_defaults=True, repr_omit_defaults=True):
    """One place in one source. `line` counts from 1; `offset` is the byte where the record starts."""

    source: str
    line: int
    offset: int
    host: str = ""
    """Where the source lies; empty for this machine."""

    @property
    def file(self) -> HostFile:
        """By what to know the source from all others."""
        return self.host, self.source

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}"
        return f"{self.host}:{place}" if self.host else place
