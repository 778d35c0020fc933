"""Events with something in every field, whatever fields there are."""

from typing import Any, get_args, get_type_hints

import msgspec

from delegtop.base.origin import Origin


def filled(kind: type[Any], text: str = "words") -> Any:
    """One of that kind with something in every field."""
    hints = get_type_hints(kind)
    return kind(*(value(hints[field.name], text) for field in msgspec.structs.fields(kind)))


def value(hint: Any, text: str) -> Any:
    """Something of that type."""
    if hint is Origin:
        return Origin(text, 3, 77)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return filled(hint, text)
    if hasattr(hint, "__members__"):
        return next(iter(hint))
    inner = [each for each in get_args(hint) if each not in (type(None), Ellipsis)]
    if inner and getattr(hint, "__origin__", None) is tuple:
        return tuple(value(each, text) for each in inner)
    if inner:
        return value(inner[0], text)
    plain = {str: text, int: 7, float: 0.5, bool: True}
    return plain.get(getattr(hint, "__supertype__", hint), 7)
