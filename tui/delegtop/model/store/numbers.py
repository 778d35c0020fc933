"""Numbers in columns, and what stands there for one that nobody knows."""

from delegtop.base.clock import Millis

UNSET = -(1 << 62)


def known(value: int) -> Millis | None:
    return None if value == UNSET else Millis(value)
