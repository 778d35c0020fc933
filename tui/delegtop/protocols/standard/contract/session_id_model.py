"""What a session id is as a field of a model."""

from collections.abc import Callable
from typing import Any

from delegtop.protocols.contract_model import broken
from delegtop.protocols.standard.contract.session_ids import SHAPE, is_well_formed

ID_SCHEMA: dict[str, Any] = {"pattern": f"^{SHAPE}$"}
"""For JSON Schema, which cannot tell that the 32nd is no day."""


def well_formed(rule: str) -> Callable[[str], str]:
    """Lets pass what has the form of a session id; the rule tells the same of a log."""

    def judge(id: str) -> str:
        if not is_well_formed(id):
            raise broken(rule, "", f'is "{id[:60]}", which is not of the form sess_{{timestamp}}_{{random}}')
        return id

    return judge
