"""Prices as the settings spell them."""

from delegtop.model.prices import Rates
from delegtop.setting_kinds import Refused, SettingKind

_DEAREST = 1_000_000
_CACHES = ("cache_read", "cache_write", "cache_write_1h")


def _price(value: object) -> Rates:
    """Dollars for a million tokens: input and output, and what the caches cost where that is another price. In one text
    they stand in that order, with `/` between: `3/15/0.3/3.75/6`."""
    if isinstance(value, str):
        numbers, names = value.split("/"), Rates.__struct_fields__
        if len(numbers) > len(names):
            raise Refused(value, f"it should have {len(names)} prices at most: {', '.join(names)}")
        value = dict(zip(names, map(_decimal, numbers), strict=False))
    if not isinstance(value, dict) or not {"input", "output"} <= set(value) <= set(Rates.__struct_fields__):
        raise Refused(value, f"it should have input and output, and may have {', '.join(_CACHES)}")
    wrong = [each for each in value.values() if not isinstance(each, int | float) or isinstance(each, bool)]
    if wrong or not all(0 <= each <= _DEAREST for each in value.values()):
        raise Refused(value, "it should have dollars for a million tokens, such as 1.25")
    rates = {name: float(each) for name, each in value.items()}
    rates.setdefault("cache_read", rates["input"])
    rates.setdefault("cache_write", rates["input"])
    rates.setdefault("cache_write_1h", rates["cache_write"])
    return Rates(**rates)


def _decimal(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


PRICE = SettingKind(_price)
