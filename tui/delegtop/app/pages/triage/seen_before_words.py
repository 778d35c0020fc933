"""That it happened before, and what ended it then."""

from typing import TYPE_CHECKING

from textual.content import Content

from delegtop.app.pages.inspector.page_words import MUTED, PageSubject, heading, one_line, said
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base.clock import Millis, age, duration, moment

if TYPE_CHECKING:
    from delegtop.search.seen_before import SeenBefore

_DAYS = 90
_WHEN = 24
_WHAT = 120


def blocks(before: "SeenBefore | None", subject: PageSubject) -> list[Block]:
    """Nothing where nothing is known of the past."""
    if before is None:
        return []
    what = one_line(subject.hide(before.what), MUTED, _WHAT)
    told: list[Block] = [Content(), heading("Seen before")]
    if not before.times:
        never = f"Never in {_DAYS} days, of {before.searched:,} delegations that can be found: "
        return [*told, Content.assemble((never, MUTED), what)]
    often = "once" if before.often == 1 else f"{before.often:,} times"
    words = Content.styled(f"{often} in {_DAYS} days: ", "bold")
    if not before.is_alike:
        words = Content.styled(f"Not with these words; the same tool and agent {often} in {_DAYS} days: ", "")
    told.append(Content.assemble(words, what))
    for each in before.times:
        after = "" if each.lasted is None else f" after {duration(each.lasted)}"
        told.append(
            LabelledFact(
                when(each.at, subject),
                said(
                    one_line(f"{each.ended}{after}", "bold", 80),
                    one_line(each.agent, "", 40),
                    one_line(each.folder, MUTED, 80) if each.folder else "",
                    one_line(each.id, MUTED, 60),
                ),
                _WHEN,
            )
        )
    return told


def when(at: Millis, subject: PageSubject) -> str:
    """The day, and how long ago."""
    return f"{moment(at, subject.zone)[:10]}  {age(max(subject.now - at, 0))} ago"
