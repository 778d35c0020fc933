"""The Structs that decode logs and the models of the contracts take and refuse the same, but for what is said here.

Good values are changed at random. What a Struct refuses its model refuses, too; what a Struct takes and its model does
not, a rule tells of: nothing of it is left to the deviations of the format.
"""

import json
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.protocols import good_inputs as good
from tests.protocols.breaching import changed

from delegtop.model.events import Artifact, Fault
from delegtop.protocols.contract_model import breaches
from delegtop.protocols.standard.contract import return_model
from delegtop.protocols.standard.contract import session_log_model as models
from delegtop.protocols.standard.contract.context_model import DelegationContextModel
from delegtop.protocols.standard.dialects import session_log_lines as structs
from delegtop.protocols.standard.dialects.delegation_context import ContextObject
from delegtop.protocols.standard.dialects.return_reading import ReturnObject


class Pair(NamedTuple):
    """What decodes a value, what the contract says of it, and values to begin with."""

    struct: type[msgspec.Struct]
    model: type[BaseModel]
    values: tuple[dict[str, Any], ...]
    told: tuple[str, ...]
    """How the rules begin that tell what the Struct takes and the model does not."""


RETURN_RULES = ("RET-", "DEL-004", "DEL-007")
ENDED = good.ENDED_LOG
PAIRS = {
    "return": Pair(ReturnObject, return_model.Return, (good.RETURN, good.FAILED), RETURN_RULES),
    "artifact": Pair(Artifact, return_model.ReturnArtifact, tuple(good.RETURN["artifacts"]), RETURN_RULES),
    "error": Pair(Fault, return_model.ReturnError, (good.ERROR,), RETURN_RULES),
    "context": Pair(ContextObject, DelegationContextModel, (good.CONTEXT,), ("DEL-",)),
    "register": Pair(structs.Register, models.RegisterEntry, (good.REGISTER, good.FULL_REGISTER), ()),
    "heartbeat": Pair(structs.Heartbeat, models.HeartbeatEntry, (good.HEARTBEAT,), ()),
    "return line": Pair(structs.ReturnLine, models.ReturnEntry, (good.LOG[2], good.FAILED_LOG[3]), RETURN_RULES),
    "error line": Pair(structs.Error, models.ErrorEntry, (ENDED[1],), RETURN_RULES),
    "timeout line": Pair(structs.Timeout, models.TimeoutEntry, (ENDED[2],), RETURN_RULES),
    "cancel line": Pair(structs.Cancel, models.CancelEntry, (ENDED[4],), ()),
}
REFUSED_BY_STRUCTS_ALONE = {
    "$.task_context.task_number": "the guide leaves open what a task_context holds, and delegtop reads this of it",
    "unknown field": "agents add fields of their own, which a contract lets pass and a log has noted",
}
"""What only a Struct refuses, by a piece of its message, and why."""

DROP = object()
texts = st.text(max_size=5) | st.sampled_from(
    [
        "",
        " ",
        "completed",
        "Completed",
        "plan",
        "timeout",
        "/etc",
        "../a",
        "sess_20260203_k3x9qa",
        "2026-02-03T09:00:00Z",
        "2026-02-03 09:00:00",
        "2026-02-03",
        "20260203",
        "0",
    ]
)
scalars = st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from([2**63, 1e11, 0.5, 2.0]) | texts
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from(["a", "type", "path"]), scalars)
edits = st.lists(st.tuples(st.integers(0, 10_000), values | st.just(DROP)), min_size=1, max_size=3)


def places(value: Any, field: str = "") -> list[str]:
    """All fields of a value, and what is within them."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, each in inner:
        name = f"{field}[{key}]" if isinstance(key, int) else f"{field}.{key}" if field else key
        found += [name, *places(each, name)]
    return found


def edited(value: dict[str, Any], changes: list[tuple[int, Any]]) -> dict[str, Any]:
    for number, new in changes:
        names = [name for name in places(value) if name != "event"]
        if not names:
            break
        field = names[number % len(names)]
        made = changed(value, field) if new is DROP else changed(value, field, new)
        assert isinstance(made, dict)
        value = made
    return value


def why_refused(struct: type[msgspec.Struct], value: dict[str, Any]) -> str | None:
    try:
        msgspec.json.decode(json.dumps(value), type=struct)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@settings(max_examples=60)
@given(number=st.integers(0, 9), changes=edits)
def test_what_a_struct_refuses_its_model_does_and_the_rest_a_rule_tells(
    pair: Pair, number: int, changes: list[tuple[int, Any]]
) -> None:
    value = edited(pair.values[number % len(pair.values)], changes)
    refused, asked = why_refused(pair.struct, value), breaches(pair.model, value)
    if refused is not None:
        assert asked or any(words in refused for words in REFUSED_BY_STRUCTS_ALONE), (value, refused)
    else:
        left = [each for each in asked if not (each.rule or "LOG-002").startswith(pair.told or "-")]
        assert left == [], value


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_take_the_good_values(pair: Pair) -> None:
    for value in pair.values:
        assert why_refused(pair.struct, value) is None
        assert breaches(pair.model, value) == ()
