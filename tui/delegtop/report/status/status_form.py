"""Forms of one's own: `{running}` is a field, `{problems? … }` a part that is left out while there are none.

A form is text with names in it and nothing more: nothing is looked up in anything, and nothing is run.
"""

from collections.abc import Mapping
from typing import NamedTuple

from delegtop.report.status.status_words import ASCII, FIELDS, UNICODE

DEEPEST = 8
_NOTHING = frozenset({"", "0", UNICODE.unknown, ASCII.unknown})


class FormError(ValueError):
    """The form means nothing; the message says why, and `name` is the field that there is none of."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class FormField(NamedTuple):
    name: str
    part: "tuple[str | FormField, ...] | None" = None
    """What is shown if the field is something; None for the field itself."""


Form = tuple[str | FormField, ...]


def parse(text: str) -> Form:
    """The form that a text means; two braces stand for one."""
    form, end = _parse(text, 0, 0)
    if end < len(text):
        raise FormError("a } stands there without its {; }} is one that is shown")
    return form


def _parse(text: str, at: int, depth: int) -> tuple[Form, int]:
    """A form from there to the brace that closes it, or to the end; and where that is."""
    if depth > DEEPEST:
        raise FormError(f"parts stand more than {DEEPEST} deep in each other")
    found: list[str | FormField] = []
    words = ""
    while at < len(text):
        char = text[at]
        if char in "{}" and text[at + 1 : at + 2] == char and not (char == "}" and depth):
            words, at = words + char, at + 2
        elif char == "{":
            field, at = _field(text, at + 1, depth)
            found += [words, field] if words else [field]
            words = ""
        elif char == "}":
            break
        else:
            words, at = words + char, at + 1
    return (*found, words) if words else tuple(found), at


def _field(text: str, at: int, depth: int) -> tuple[FormField, int]:
    end = next((index for index in range(at, len(text)) if text[index] in "?}{"), len(text))
    name = text[at:end]
    if name not in FIELDS:
        raise FormError(f"there is no field {{{name}}}", name)
    part: Form | None = None
    if text[end : end + 1] == "?":
        part, end = _parse(text, end + 1, depth + 1)
    if text[end : end + 1] != "}":
        raise FormError(f"the }} of {{{name} is missing")
    return FormField(name, part), end + 1


def fill(form: Form, fields: Mapping[str, str]) -> str:
    """The form with its fields in it."""
    return "".join(part if isinstance(part, str) else _filled(part, fields) for part in form)


def _filled(field: FormField, fields: Mapping[str, str]) -> str:
    value = fields[field.name]
    if field.part is None:
        return value
    return "" if value in _NOTHING else fill(field.part, fields)
