"""How an answer departs from the output contract, in the words of its model."""

from collections.abc import Mapping
from typing import Any

from delegtop.protocols.protocol_drift import Drift

_DEEPEST = 5
"""Levels of the object, and one more."""
_JUDGED = 50
"""Members of a list that are judged."""
_TOLD = 5
"""Breaches of one rule that are told."""


def drift_of(value: Mapping[str, Any]) -> list[Drift]:
    """How the object departs from the contract, in the words of its model; the kind is the rule that tells it."""
    # A lone answer is read now and then; all else that delegtop reads needs no pydantic.
    from delegtop.protocols.contract_model import breaches
    from delegtop.protocols.hyper.output_model import AgentOutput

    found: dict[str, list[str]] = {}
    for breach in breaches(AgentOutput, _shortened(value)):
        found.setdefault(breach.rule or "", []).append(str(breach))
    for told in found.values():
        if more := len(told[_TOLD:]):
            told[_TOLD - 1 :] = [f"{told[_TOLD - 1]}; {more} more such"]
    return [Drift(rule, each) for rule, told in found.items() for each in told]


def _shortened(value: Any, depth: int = 0) -> Any:
    """The value without what an endless list has beyond its first members."""
    if depth == _DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: _shortened(each, depth + 1) for key, each in value.items()}
    return [_shortened(each, depth + 1) for each in value[:_JUDGED]] if isinstance(value, list) else value
