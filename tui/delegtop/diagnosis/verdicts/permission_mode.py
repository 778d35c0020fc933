"""Whether the program of a delegation asks a person before it acts, by the permission mode it works in."""

from delegtop.base.product import Permissions
from delegtop.diagnosis.case import Case
from delegtop.dialects.products import product
from delegtop.model.plain_work import ANCESTORS
from delegtop.model.store.ledger import Handle


def asks_nobody(case: Case) -> bool:
    """Whether it works in a mode in which its program asks nobody: then no call of it waits for a permission."""
    asks = _permissions(case)
    return asks is not None and mode_of(case) in asks.free


def asked_by(case: Case) -> tuple[Permissions | None, str | None]:
    """When its program asks a person, and the permission mode it works in; nothing where nobody is asked."""
    asks, mode = _permissions(case), mode_of(case)
    return (None if asks is None or mode in asks.free else asks), mode


def mode_of(case: Case) -> str | None:
    """Its permission mode; where it does not tell its own, that of whoever started it."""
    handle: Handle | None = case.handle
    for _ in range(ANCESTORS):
        if handle is None:
            return None
        if (mode := case.forest.permission_mode(handle)) is not None:
            return mode
        handle = case.forest.parent(handle)
    return None


def _permissions(case: Case) -> Permissions | None:
    program = product(case.facts.product)
    return program.permissions if program else None
