"""Breaches made from the models themselves: every field is dropped, retyped, put out of range and misspelt.

What a field may hold is read from the JSON Schema of its model; what is wrong with a value says the model (`breaches`),
with the rule that its `Demand` names. So a field that a model gets is broken here without a word more.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from tests.protocols.breaching import changed

_KINDS: dict[str, Any] = {"string": "odd", "number": 7, "array": [7], "object": {"odd": 7}}
_ABSENT: Any = ...


class Mutation(NamedTuple):
    """One field of an object, and what becomes of it."""

    kind: str
    field: str
    value: Any = _ABSENT
    """What it becomes; none if it is dropped."""

    def on(self, value: dict[str, Any]) -> dict[str, Any]:
        made = changed(value, self.field, self.value)
        assert isinstance(made, dict)
        return made

    def __str__(self) -> str:
        return f"{self.field} {self.kind}" + ("" if self.value is _ABSENT else f" {str(self.value)[:30]!r}")


def mutations(model: type[BaseModel], good: dict[str, Any]) -> Iterator[Mutation]:
    """All that can be done to a good value of the model, field by field."""
    schema = model.model_json_schema(by_alias=True)
    yield from _of_object(schema, schema, good, "")


def fields(model: type[BaseModel]) -> Iterator[str]:
    """The names of all fields of a model, and of those within them."""
    schema = model.model_json_schema(by_alias=True)
    yield from _names(schema, schema, "")


def _names(root: dict[str, Any], schema: dict[str, Any], within: str) -> Iterator[str]:
    for name, declared in schema.get("properties", {}).items():
        field = f"{within}.{name}" if within else name
        yield field
        for option in _options(root, declared):
            for inner in _options(root, option.get("items", option)):
                yield from _names(root, inner, field)


def _of_object(root: dict[str, Any], schema: dict[str, Any], value: dict[str, Any], within: str) -> Iterator[Mutation]:
    for name, declared in schema.get("properties", {}).items():
        if name not in value:
            continue
        field = f"{within}.{name}" if within else name
        if name in schema.get("required", ()):
            yield Mutation("dropped", field)
        yield from _of_value(root, declared, value[name], field)


def _of_value(root: dict[str, Any], declared: dict[str, Any], value: Any, field: str) -> Iterator[Mutation]:
    options = list(_options(root, declared))
    yield from _retyped(options, field)
    for schema in options:
        yield from _out_of_range(schema, value, field)
        if "enum" in schema or "const" in schema:
            yield Mutation("no such word", field, "no such word")
            yield Mutation("in other letters", field, str(value).swapcase())
        if isinstance(value, dict):
            yield from _of_object(root, schema, value, field)
        if isinstance(value, list) and value and "items" in schema:
            yield from _of_value(root, schema["items"], value[0], f"{field}[0]")


def _options(root: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a field may be, each way by itself."""
    if "$ref" in schema:
        inner = root["$defs"][schema["$ref"].rpartition("/")[2]]
        yield from _options(root, {**inner, **{key: each for key, each in schema.items() if key != "$ref"}})
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _options(root, each)
    else:
        yield schema


def _retyped(options: list[dict[str, Any]], field: str) -> Iterator[Mutation]:
    types = {each.get("type", "string") for each in options}
    allowed = types | ({"number"} if "integer" in types else set())
    others = [value for kind, value in _KINDS.items() if kind not in allowed]
    for value in (others[0], others[-1]):  # a plain one, and mostly one that holds others
        yield Mutation("retyped", field, value)
    if "integer" in types and "number" not in types:
        yield Mutation("retyped", field, 1.5)
    if "null" not in types:
        yield Mutation("null", field, None)


def _out_of_range(schema: dict[str, Any], value: Any, field: str) -> Iterator[Mutation]:
    out: list[Any] = []
    out += [schema["minimum"] - 1] if "minimum" in schema else []
    out += [schema["maximum"] + 1] if "maximum" in schema else []
    out += [schema["exclusiveMinimum"]] if "exclusiveMinimum" in schema else []
    out += ["", "  "] if schema.get("minLength") else []
    out += ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    out += [value[: schema["minItems"] - 1]] if schema.get("minItems") else []
    out += [[f"{value[0]} {number}" for number in range(schema["maxItems"] + 1)]] if "maxItems" in schema else []
    out += [[*value, value[-1], value[0]]] if schema.get("uniqueItems") else []
    pattern = schema.get("pattern")
    out += [next(each for each in ("§ §", "/§") if not re.search(pattern, each))] if pattern else []
    yield from (Mutation("out of range", field, each) for each in out)
