"""What a setting may be: each kind makes its value of what a file or a variable says, or tells why it will not do."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from delegtop.base.clock import parse_hours, parse_span
from delegtop.base.secret_references import is_reference
from delegtop.base.secrets import MASKED


class Refused(ValueError):  # noqa: N818 - reads better where it is raised
    """A value will not do."""

    def __init__(self, value: object, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.value, self.reason = value, reason
        self.key = key
        """In a table, the key of the value."""


class SettingKind(NamedTuple):
    """One kind of values."""

    judge: Callable[[Any], Any]
    """The value of what a file says; `Refused` if it will not do."""
    spelled: Callable[[str], object] = str
    """What a variable of the environment, which holds only text, says."""


class ProjectMaySet:
    """The mark of a setting that the file of a project may make. All others are the user's alone: whoever looks into a
    folder does not want to run what it says, nor to send, to read or to show what it would rather see."""


Value = TypeVar("Value")
ByProject = Annotated[Value, ProjectMaySet]


def whole(least: int, most: int) -> SettingKind:
    """A number without a fraction."""

    def judge(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Refused(value, "it should be a whole number")
        if value < least:
            raise Refused(value, f"it should be greater than or equal to {least}")
        if value > most:
            raise Refused(value, f"it should be less than or equal to {most}")
        return value

    return SettingKind(judge, _number)


def one_of(names: Sequence[str]) -> SettingKind:
    """One of a few words."""
    *others, last = map(repr, names)

    def judge(value: object) -> str:
        if value not in names or not isinstance(value, str):
            raise Refused(value, f"it should be {', '.join(others)} or {last}")
        return value

    return SettingKind(judge)


def words(known: Sequence[str] = (), *, least: int = 0) -> SettingKind:
    """A list of words, or one text with commas between them; if some are known, only of these."""

    def judge(value: object) -> tuple[str, ...]:
        parts = [part for part in map(str.strip, value.split(",")) if part] if isinstance(value, str) else value
        found = _texts(parts)
        if len(found) < least:
            raise Refused(value, "it should not be empty")
        if known and not set(found) <= set(known):
            raise Refused(value, f"it may name {', '.join(known)}")
        return found

    return SettingKind(judge)


def table(of: SettingKind) -> SettingKind:
    """Values by name, or one text such as `name=value name=value`."""

    def judge(value: object) -> dict[str, Any]:
        if isinstance(value, str):
            pairs = [part.partition("=") for part in value.split()]
            if not all(name and rest for name, _, rest in pairs):
                raise Refused(value, "it must look like name=value name=value")
            value = {name: rest for name, _, rest in pairs}
        if not isinstance(value, dict):
            raise Refused(value, "it should be a table")
        return {name: _within(name, of, part) for name, part in value.items()}

    return SettingKind(judge)


def _within(name: str, kind: SettingKind, value: object) -> Any:
    try:
        return kind.judge(value)
    except Refused as error:
        raise Refused(error.value, error.reason, name) from None


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise Refused(value, "it should be true or false")
    return value


def _spelled_truth(text: str) -> object:
    return _TRUTHS.get(text.lower(), text)


def _number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Refused(value, "it should be text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise Refused(value, "it should be a list")
    return tuple(map(_text, value))


def _span(value: object) -> int:
    """Milliseconds of a span of time as text or as a number of seconds."""
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    span = parse_span(text) if isinstance(text, str) else None
    if span is None:
        raise Refused(value, 'it must be a time such as "90s", "5m" or "1h30m", or a number of seconds')
    if span <= 0:
        raise Refused(value, "it should be greater than 0")
    return span


def _command(value: object) -> tuple[str, ...]:
    """A list of words, or one text in which they are quoted as for a shell; no shell ever sees it."""
    if not isinstance(value, str):
        return _texts(value)
    import shlex

    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise Refused(value, f"it is no command: {error}") from None


def _hours(value: object) -> str:
    """A part of the day; nothing for none."""
    text = _text(value).strip()
    if text and parse_hours(text) is None:
        raise Refused(value, 'it must be two times of the day such as "22:00-07:00"')
    return text


def _secret(value: object) -> str:
    """A secret, or where it is to be had; no error tells it."""
    if not isinstance(value, str):
        raise Refused(MASKED, "it should be text")
    if is_reference(value) and not value.partition(":")[2]:
        raise Refused(value, "it should name a variable or a file, as env:NAME or file:PATH")
    return value.strip()


_TRUTHS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
TRUTH, TEXT, SPAN, COMMAND = (
    SettingKind(_truth, _spelled_truth),
    SettingKind(_text),
    SettingKind(_span),
    SettingKind(_command),
)
HOURS, SECRET = SettingKind(_hours), SettingKind(_secret)
