"""Errors go up the chain, so one may stand in many returns; each is told once, where it happened."""

from delegtop.diagnosis.case import Case
from delegtop.model.events import Fault


def own_errors(case: Case) -> list[Fault]:
    """The errors of a delegation but for those that a child told before."""
    if "own errors" not in case.known:  # seven rules ask, and the children may be many
        case.known["own errors"] = _own_errors(case)
    own: list[Fault] = case.known["own errors"]
    return own


def _own_errors(case: Case) -> list[Fault]:
    errors = case.facts.errors
    if not errors:
        return []
    below = {
        (fault.code, fault.message)
        for child in case.forest.children(case.handle)
        for fault in case.forest.delegation(child).errors
    }
    return [fault for fault in errors if (fault.code, fault.message) not in below]
