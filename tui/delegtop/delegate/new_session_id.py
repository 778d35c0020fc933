"""Session ids, made."""

import os
import string

from delegtop.base.clock import SECOND, Clock, WallClock

_LETTERS = string.ascii_lowercase + string.digits


def generate_session_id(*, clock: Clock | None = None) -> str:
    """A new id, `sess_{epoch seconds}_{six letters or digits}`."""
    random = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(6))
    return f"sess_{(clock or WallClock()).now() // SECOND}_{random}"
