"""One piece of a conversation as it is shown: when, who or which tool, and the text under itself.

What is long is folded: thoughts to a line, results to a few. All text is foreign: it is masked, made safe, and only
then cut and wrapped.
"""

from collections.abc import Callable
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from textual.content import Content

from delegtop.app.pages.inspector.page_words import MUTED
from delegtop.base.clock import Millis
from delegtop.base.text import line, safe
from delegtop.model.spoken import Utterance, Voice

_TIME, _LABEL = 9, 13
_NARROW = 60
"""Columns below which there is no room for times."""
_LONGEST = 64 * 1024
"""Characters that are shown of one piece when it is unfolded."""
_LINES = {
    Voice.PROMPT: 12,
    Voice.ANSWER: 40,
    Voice.THINKING: 1,
    Voice.CALL: 6,
    Voice.RESULT: 4,
    Voice.ERROR: 8,
    Voice.NOTE: 3,
}
"""So many lines are left of what is folded."""
_STYLES = {
    Voice.PROMPT: ("bold $accent", "bold"),
    Voice.ANSWER: ("bold $success", ""),
    Voice.THINKING: (MUTED, f"italic {MUTED}"),
    Voice.CALL: ("bold $primary", ""),
    Voice.RESULT: (MUTED, MUTED),
    Voice.ERROR: ("bold $error", "$error"),
    Voice.NOTE: (MUTED, MUTED),
}
"""Of the label, and of the text."""
_NAMED = frozenset({Voice.CALL, Voice.NOTE})
"""What goes by its name."""


class SpokenLook(NamedTuple):
    """How pieces are shown."""

    width: int
    zone: tzinfo | None
    hide: Callable[[str], str]
    """Hides secrets, unless they are to be seen."""


def lines_of(said: Utterance, look: SpokenLook, *, unfolded: bool, day: date | None) -> list[Content]:
    """The lines of one piece; with the day before it, if it is another than that of the piece before."""
    label_style, style = _STYLES[said.voice]
    label = line(look.hide(said.name), 200) if said.name and said.voice in _NAMED else said.voice.value
    if said.voice is Voice.ERROR and said.name:
        label = "error"
    timed = look.width >= _NARROW
    indent = (_TIME if timed else 0) + _LABEL
    body = _body(said, look, max(look.width - indent, 8), style, unfolded=unfolded)
    when = Content.styled(f"{clock_of(said.at, look.zone):{_TIME}}" if timed else "", MUTED)
    head = when + Content.styled(f"{label[: _LABEL - 2]:{_LABEL}}", label_style)
    if len(label) > _LABEL - 2:  # a long name has a line of its own
        head = when + Content.styled(label[: max(look.width - len(when), 8)], label_style)
        lines = [head, *(each.pad_left(indent) for each in body if each)]
    else:
        lines = [head + body[0], *(each.pad_left(indent) for each in body[1:])]
    if day is not None:
        lines.insert(0, Content.styled(f"{day:%Y-%m-%d}", f"bold {MUTED}"))
    return lines


def searched(said: Utterance, hide: Callable[[str], str]) -> str:
    """What is searched: the words as they are shown, whole, in small letters."""
    return safe(hide(f"{said.name}\n{said.text}")).casefold()


def _body(said: Utterance, look: SpokenLook, width: int, style: str, *, unfolded: bool) -> list[Content]:
    most = _LINES[said.voice]
    # Secrets are looked for beyond the cut: half a key is one too.
    reach = _LONGEST if unfolded else (most + 1) * width
    text = look.hide(said.text[: reach + 4_096])
    if said.voice is Voice.ERROR and said.name:
        text = f"{look.hide(said.name)}: {text}"
    shown = safe(text, reach)
    wrapped = Content.styled(shown, style).wrap(width) if shown else [Content()]
    if unfolded:
        left = len(said.text) - reach
        more = [Content.styled(f"… {left:,} more characters: V shows the file", MUTED)] if left > 0 else []
        return [*wrapped, *more]
    if len(wrapped) <= most and len(said.text) <= reach:
        return wrapped
    hidden = _hidden(said.text, "\n".join(each.plain for each in wrapped[:most]))
    if most == 1:
        return [wrapped[0][: max(width - len(hidden) - 1, 1)].rstrip() + Content.styled(f" {hidden}", MUTED)]
    return [*wrapped[:most], Content.styled(hidden, MUTED)]


def _hidden(text: str, shown: str) -> str:
    """How much is folded away, in lines if it has some."""
    lines = text.count("\n") - shown.count("\n")
    return f"… {lines:,} more line{'' if lines == 1 else 's'}" if lines > 0 else "… more"


def clock_of(at: Millis | None, zone: tzinfo | None) -> str:
    """`10:02:11`; a dash if nobody said when."""
    then = _then(at, zone)
    return "–" if then is None else then.strftime("%H:%M:%S")


def day_of(at: Millis | None, zone: tzinfo | None) -> date | None:
    then = _then(at, zone)
    return None if then is None else then.date()


def _then(at: Millis | None, zone: tzinfo | None) -> datetime | None:
    try:
        return None if at is None else datetime.fromtimestamp(at / 1_000, zone)
    except (ValueError, OverflowError, OSError):
        return None
