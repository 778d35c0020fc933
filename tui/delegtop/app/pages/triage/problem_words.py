"""What triage says: one line for the list, and a page of one problem."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from delegtop.app import cell_width
from delegtop.app.cell_width import cells, cut, fit
from delegtop.app.pages.inspector.matter import command_line, sentence, style
from delegtop.app.pages.inspector.page_words import (
    MUTED,
    PageSubject,
    ago,
    foreign,
    heading,
    moment,
    one_line,
    path_of,
    said,
)
from delegtop.app.pages.inspector.returned import PRESENCE
from delegtop.app.pages.triage import seen_before_words
from delegtop.app.state.problem_marks import Mark
from delegtop.app.theme import state_content
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base.clock import duration
from delegtop.base.origin import Origin
from delegtop.base.text import brief, line, prose
from delegtop.diagnosis import recovery
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.recovery import By
from delegtop.diagnosis.rule_table import RULES
from delegtop.model.measures import called, label, title, told_host
from delegtop.report.table.drawing import drawing
from delegtop.report.table.namesakes import fitted
from delegtop.sources.artifact_files import Presence

if TYPE_CHECKING:
    from delegtop.search.seen_before import SeenBefore

_KIND, _TIME = 20, 8
_WHO, _HOLDS, _LEAST_SENTENCE = 34, 3, 14
_EXCERPT = 400
_SHOWN = 30
_NAMED = 8
_STEP = 21


class Known(NamedTuple):
    """What had to be looked up for a page."""

    findings: tuple[Finding, ...] = ()
    presence: Mapping[str, Presence] = {}
    lines: Mapping[Origin, bytes | None] = {}
    before: "SeenBefore | None" = None


def who(found: Assessment, subject: PageSubject) -> tuple[str, str]:
    """Whose problem it is: its name, and of what work."""
    name = line(subject.hide(called(subject.forest.delegation(found.handle))), 120)
    return name, prose(subject.hide(context(subject)), 400)


class Widths(NamedTuple):
    """The cells that two columns of the list ask for: what is the matter, and who and of what work."""

    kind: int = _KIND
    who: int = _WHO


def widths(problems: Sequence[Assessment], names: Sequence[tuple[str, str]], places: Sequence[str]) -> Widths:
    """As much as any of these."""
    kind = max((cells(each.short) + (not each.is_sure) for each in problems), default=_KIND)
    who = max((sum(map(cells, name)) + 2 for name in names), default=_WHO)
    return Widths(min(kind, _KIND), who + _HOLDS + max((cells(place) + 3 for place in places if place), default=0))


def row(
    found: Assessment,
    subject: PageSubject,
    mark: Mark | None,
    width: int,
    *,
    settled: bool,
    place: str,
    differs_at: int | None = None,
    asked: Widths = Widths(),  # noqa: B008 -- a tuple, which nobody changes
) -> Content:
    """One line: what, since when, who, where and of what work, and the sentence as far as there is room. Of many that
    have the same name `differs_at` says from where on the work tells which it is."""
    marks = drawing(ascii=subject.ascii)
    since = "–" if found.since is None else duration(max(subject.now - found.since, 0))
    holds = f" {marks.blocker}{len(found.blocks)}" if found.blocks else ""
    room = max(width - asked.kind - _TIME - 5, 0)
    who_room = room if room < 2 * _WHO else max(room * 2 // 5, _WHO, min(room * 3 // 5, asked.who))
    name, work = who(found, subject)
    before = f"{place} · " if place and work else place
    name, work = fitted(name, work, differs_at, who_room - len(holds), cell_width, marks.cut, before)
    told = brief(subject.hide(found.sentence(subject.now)), 400)
    quiet = MUTED if settled else ""
    unsure = "" if found.is_sure else "?"
    parts = [
        (f"{_sign(mark, settled, subject.ascii)} ", "$accent"),
        (fit(found.short + unsure, asked.kind, marks.cut) + " ", quiet or style(found)),
        (fit(since, _TIME, marks.cut, right=True) + "  ", MUTED),
        (name, quiet or "bold"),
        (holds, "bold $stuck"),
        (f"  {work}" if name and work else work, MUTED if name else quiet or "bold"),
    ]
    left = who_room - sum(cells(text) for text, _ in parts[3:])
    # Many have the same name: of what work it is comes first, its sentence in a column of its own or right after it.
    if room > who_room:
        parts.append((" " * left, ""))
        left = room - who_room
    if left >= _LEAST_SENTENCE:
        parts.append(("  " + cut(told, left - 2, marks.cut), quiet))
    return Content.assemble(*parts)


def context(subject: PageSubject) -> str:
    """The work in a few words; if nobody says, the command that it is done for."""
    forest, facts = subject.forest, subject.forest.delegation(subject.handle)
    if told := title(facts):
        return told
    climber = forest.parent(subject.handle)
    while climber is not None:
        above = forest.delegation(climber)
        if above.is_command:
            return label(above)
        climber = forest.parent(climber)
    return ""


def _sign(mark: Mark | None, settled: bool, plain: bool) -> str:
    if mark is None:
        return " "
    if settled:
        return drawing(ascii=plain).seen
    return ("*" if plain else "✎") if mark.note else " "


def page(found: Assessment, subject: PageSubject, mark: Mark | None, known: Known) -> list[Block]:
    """Everything there is to say of one problem: what, since when, what to do, what to save, where it says so."""
    return [
        *_what(found, subject),
        *_noted(mark, subject),
        *_to_do(subject, known),
        *seen_before_words.blocks(known.before, subject),
        *_saved(subject, known),
        *_evidence(found, subject, known),
        *_also(found, known),
    ]


def _what(found: Assessment, subject: PageSubject) -> list[Block]:
    facts = subject.delegation
    name = line(subject.hide(called(facts)), 120)
    on = f" on {line(subject.hide(host), 80)}" if (host := told_host(subject.forest, subject.handle)) else ""
    blocks: list[Block] = [
        said(
            Content.styled(name + on, "bold"),
            one_line(facts.title, "", 120) if facts.title else "",
            state_content(subject.forest.state(subject.handle), ascii=subject.ascii),
            one_line(facts.id, MUTED, 120) if facts.id != name else "",
        )
    ]
    if path := path_of(facts, " > " if subject.ascii else " › "):
        blocks.append(Content.styled(path, MUTED))
    blocks += [Content(), sentence(subject, found)]
    words = said(Content.styled(found.kind, style(found)), found.certainty.value, found.rule)
    blocks.append(LabelledFact("verdict", words))
    if found.since is not None:
        since = said(Content(subject.moment(found.since)), ago(found.since, subject.now))
        blocks.append(LabelledFact("since", since))
    return blocks + _path(found, subject)


def _path(found: Assessment, subject: PageSubject) -> list[Block]:
    """Who waits for it, and whom it waits for."""
    forest, above = subject.forest, found.blocks
    if above:
        names = Content(", ").join(
            one_line(subject.hide(label(forest.delegation(handle))), "", 80) for handle in above[:_NAMED]
        )
        more = f" and {len(above) - _NAMED:,} more" if len(above) > _NAMED else ""
        return [LabelledFact("holds up", Content.styled(f"{len(above):,}: ", "bold $stuck") + names + more)]
    on = found.waits_on
    if on is None:
        return []
    return [LabelledFact("waits on", one_line(subject.hide(label(forest.delegation(on))), "bold", 80))]


def _noted(mark: Mark | None, subject: PageSubject) -> list[Block]:
    if mark is None:
        return []
    state = ""
    if mark.acknowledged:
        state = f"acknowledged {ago(mark.at, subject.forest.shown_at)}"
    elif mark.until is not None:
        state = f"put off until {moment(mark.until, subject.forest.shown_at, subject.zone)}"
    note = [LabelledFact("your note", foreign(mark.note, "$accent"))] if mark.note else []
    return [*([LabelledFact("you", Content.styled(state, "$accent"))] if state else []), *note]


def _to_do(subject: PageSubject, known: Known) -> list[Block]:
    steps = subject.assessments.todo(subject.handle, known.findings)
    if not steps:
        return []
    blocks: list[Block] = [Content(), heading("What to do")]
    how = "y copies"
    for number, step in enumerate(steps, 1):
        emphasis = "bold" if number == 1 or step.by is By.AGENT else ""
        who = Content.assemble((f"{number} ", "bold $accent"), (step.by.value, MUTED))
        blocks.append(LabelledFact(who, foreign(subject.hide(step.words), emphasis), _STEP))
        if step.command:
            blocks.append(command_line("", subject.hide(step.command), indent=_STEP, how=how))
            how = "click copies"
    return blocks


def _saved(subject: PageSubject, known: Known) -> list[Block]:
    found = recovery.salvage(subject.delegation)
    if not found:
        return []
    blocks: list[Block] = [Content(), heading("What can be saved")]
    for each in found[:_SHOWN]:
        words = [foreign(each.text)]
        if each.path is not None:
            words.append(_presence(each.path, subject, known))
        blocks.append(LabelledFact(each.what, said(*words)))
    if len(found) > _SHOWN:
        blocks.append(Content.styled(f"… and {len(found) - _SHOWN:,} more", MUTED))
    return blocks


def _presence(path: str, subject: PageSubject, known: Known) -> Content:
    seen = known.presence.get(path)
    if seen is None:
        return Content.styled("looking …", MUTED)
    glyph, plain, words, how = PRESENCE[seen]
    return Content.styled(f"{plain if subject.ascii else glyph} {words}", how)


def _evidence(found: Assessment, subject: PageSubject, known: Known) -> list[Block]:
    if not found.evidence:
        return []
    blocks: list[Block] = [Content(), heading("Evidence")]
    for origin in found.evidence:
        blocks.append(LabelledFact("", one_line(str(origin), MUTED), 2, origin))
        data = known.lines.get(origin)
        if data:
            excerpt = subject.hide(data[: 2 * _EXCERPT].decode("utf-8", "replace"))
            blocks.append(LabelledFact("", one_line(" ".join(excerpt.split()), "", _EXCERPT), 4))
    return blocks


def _also(found: Assessment, known: Known) -> list[Block]:
    """What else the rules find, but for what the problem and the steps say already."""
    others = [each for each in known.findings if each.rule != found.rule and each.by != "agent"][:_SHOWN]
    if not others:
        return []
    return [
        Content(),
        heading("Also found"),
        *(LabelledFact(RULES[each.rule].name, said(foreign(each.message), each.rule), _STEP) for each in others),
    ]


def summary(shown: int, settled: int, waiting: int) -> str:
    """The words beside the title."""
    problems = f"{shown:,} problem{'' if shown == 1 else 's'}"
    parts = [problems if shown else "no problem"]
    if settled:
        parts.append(f"{settled:,} seen to")
    if waiting:
        parts.append(f"looking at {waiting:,} more …")
    return " · ".join(parts)
