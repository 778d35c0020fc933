"""What the models of the contracts share: how strict they are, who asks for a field, and what is wrong with a value.

A model is the one place where a demand of a document stands as data: fields in the document's own words, enums, limits.
`validate_return`, `lint`, `migrate`, the writing side, `delegtop schema` and the reference pages ask them, and who
reads a lone answer of hyper's. Reading logs does not: it decodes with msgspec, and tests hold both to the same. So
nobody loads pydantic who does not need it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

from delegtop.protocols.protocol_drift import json_type

_SHOWN = 60
_PYDANTICS = frozenset(get_args(ErrorType))
"""The errors that pydantic knows itself."""


class ContractModel(BaseModel):
    """A contract. What a document does not name is let pass, unless a model says otherwise: agents add fields."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="allow", allow_inf_nan=False, populate_by_name=True, ser_json_inf_nan="null"
    )


def _said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is empty")
    return text


Said = Annotated[str, Field(min_length=1), AfterValidator(_said)]
"""A text that says something."""


def when(field: str, values: Iterable[str], then: Mapping[str, Any]) -> dict[str, Any]:
    """For JSON Schema: what must hold if the field has one of these values. A validator says the same."""
    given = {"properties": {field: {"enum": [*values]}}, "required": [field]}
    return {"if": given, "then": dict(then)}


def some(field: str) -> dict[str, Any]:
    """For JSON Schema: the list is there, and something is in it."""
    return {"required": [field], "properties": {field: {"minItems": 1}}}


@dataclass(frozen=True)
class Demand:
    """Who asks for a field, and which rule tells that it is missing, of another type, or none of the values allowed."""

    by: str
    """The document and its section."""
    missing: str
    type: str | None = None
    """As that on missing ones if None: what cannot be read is as good as missing."""
    value: str | None = None
    """As that on types if None."""
    least: str | None = None
    """On a number that is too small; as that on values if None."""

    def rule(self, error: str) -> str:
        """The rule that tells an error of this type in pydantic's words."""
        if error in _ABSENT:
            return self.missing
        if error in _TOO_SMALL and self.least is not None:
            return self.least
        of_type = self.type or self.missing
        return of_type if error in _TYPES else self.value or of_type

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        schema["x-asked-by"] = self.by
        schema["x-rules"] = {
            "missing": self.missing,
            "type": self.rule("string_type"),
            "value": self.rule("literal_error"),
        }
        return schema


class Breach(NamedTuple):
    """One thing that is wrong with a value."""

    field: str
    """Such as `artifacts[0].path`; empty for the value itself."""
    what: str
    """In words that follow the name of the field: `is missing`."""
    rule: str | None
    """The rule that tells the same of a log or a file; None if there is none."""

    def __str__(self) -> str:
        return f"{self.field} {self.what}" if self.field else self.what


def broken(rule: str, field: str, what: str) -> PydanticCustomError:
    """What a validator raises that looks at several fields at once."""
    return PydanticCustomError("contract", "{what}", {"rule": rule, "field": field, "what": what})


def besides(value: Any, validate: Callable[[Any], Any], *faults: PydanticCustomError | None) -> Any:
    """For a validator around a field or a model: what is wrong with its value and these faults, all told at once."""
    told: list[InitErrorDetails] = [{"type": each, "input": value} for each in faults if each is not None]
    try:
        valid = validate(value)
    except ValidationError as error:
        told = [*map(_again, error.errors(include_url=False)), *told]
    if told:
        raise ValidationError.from_exception_data("contract", told)
    return valid


def _again(details: ErrorDetails) -> InitErrorDetails:
    kind, context = details["type"], details.get("ctx", {})
    own = kind if kind in _PYDANTICS else PydanticCustomError(kind, "{what}", {"what": details["msg"], **context})
    return {"type": own, "loc": details["loc"], "input": details["input"], "ctx": context}


def breaches(model: type[BaseModel], value: object, context: object = None) -> tuple[Breach, ...]:
    """Everything that is wrong with the value, in the order of its fields; empty if it keeps to the contract. What the
    context means is up to the model."""
    try:
        model.model_validate(value, context=context)
    except ValidationError as error:
        told = error.errors(include_url=False)
        inner = {details["loc"][:-1] for details in told}
        # pydantic counts only the members of a list that are right; the others are told one by one
        counted = (each for each in told if not (each["type"] == "too_short" and each["loc"] in inner))
        return tuple(dict.fromkeys(_breach(model, details) for details in counted))
    except RecursionError:
        return (Breach("", "is nested too deeply", None),)
    return ()


def _breach(model: type[BaseModel], details: ErrorDetails) -> Breach:
    named, demand, required = _field(model, details["loc"])
    if details["type"] == "contract":
        context = details["ctx"]
        return Breach(_joined(named, context["field"]), context["what"], context["rule"])
    kind, given = details["type"], details["input"]
    if given is None and required:
        kind = "missing"
    elif kind in ("literal_error", "enum") and not isinstance(given, str):
        kind = "string_type"
    return Breach(named, _words(details), demand.rule(kind) if demand else None)


def _words(details: ErrorDetails) -> str:
    """What is wrong, as people say it."""
    context, given = details.get("ctx", {}), details["input"]
    match details["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is no field of it"
        case "literal_error" | "enum":
            return f"is {_shown(given)}, not {_choice(context['expected'])}"
        case "blank" | "string_too_short":
            return "is empty"
        case "too_short":
            return f"has {context['actual_length']}, at least {context['min_length']} asked for"
        case "too_long" | "string_too_long":
            unit = " characters" if isinstance(given, str) else ""
            return f"has {len(given)}{unit}, more than {context['max_length']}"
        case "string_pattern_mismatch":
            return f"is {_shown(given)}, which is not of the form asked for"
        case "finite_number":
            return "is no finite number"
        case kind if kind in _LIMITS:
            limit = next(iter(context.values()))
            return f"is {_shown(given)}, not {_LIMITS[kind]} {limit:g}"
        case kind if kind in _TYPES:
            return f"is {json_type(given)}, not {_TYPES[kind]}"
        case _:
            return _lower(details["msg"])


_ABSENT = frozenset({"missing", "blank", "string_too_short"})
"""Errors that say that nothing is there."""
_TOO_SMALL = frozenset({"greater_than", "greater_than_equal"})
_LIMITS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def _shown(given: object) -> str:
    if isinstance(given, str):
        return f'"{given[:_SHOWN]}…"' if len(given) > _SHOWN else f'"{given}"'
    if isinstance(given, bool):
        return str(given).lower()
    return str(given) if isinstance(given, int | float) else json_type(given)


def _choice(expected: str) -> str:
    return re.sub(r"'([^']*)'", r"\1", expected)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _joined(outer: str, inner: str) -> str:
    return f"{outer}.{inner}" if outer and inner else outer or inner


def _field(model: type[BaseModel], place: tuple[int | str, ...]) -> tuple[str, Demand | None, bool]:
    """The name of the field at that place, and who asks for it or for the nearest one around it."""
    name, demand, required = "", None, False
    inner: tuple[type[BaseModel], ...] = (model,)
    shape: Any = None
    for part in place:
        if isinstance(part, int):
            name, required, shape = f"{name}[{part}]", False, _inner(shape, 0)
            continue
        if get_origin(shape) is dict:
            name, shape = _joined(name, part), _inner(shape, 1)
            continue
        field = next(
            (each for kind in inner for key, each in kind.model_fields.items() if part in (key, each.alias)), None
        )
        if field is None and not any(kind.model_config.get("extra") == "forbid" for kind in inner):
            continue  # which type of several pydantic tried
        name = _joined(name, part)
        if field is not None:
            demand = next((each for each in field.metadata if isinstance(each, Demand)), demand)
            required = field.is_required()
            inner, shape = tuple(_models(field.annotation)), field.annotation
    return name, demand, required


def _inner(shape: Any, number: int) -> Any:
    """What a list or a mapping of that type holds."""
    args = get_args(shape)
    return args[number] if number < len(args) else None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in the annotation of a field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in getattr(annotation, "__args__", ()):
        yield from _models(each)


def dumped(model: BaseModel) -> dict[str, Any]:
    """The value as JSON has it, under the names of the document; what is not given is left out."""
    told: Mapping[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return dict(told)
