"""What triage says: one line for the list, and a page of one problem."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.content import Content

from delegtop.app import clipboard
from delegtop.app.artifacts import Presence
from delegtop.app.inspector.findings import Command
from delegtop.app.inspector.outcome import PRESENCE
from delegtop.app.inspector.words import MUTED, Subject, ago, foreign, heading, moment, one_line, path_of, said
from delegtop.app.spans import cut, fit, size
from delegtop.app.theme import drawing, state_content
from delegtop.app.triage.marks import Mark
from delegtop.app.widgets.sheet import Block, Fact
from delegtop.clock import duration
from delegtop.diagnosis import recovery
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.problems import Problem, held_up
from delegtop.diagnosis.recovery import By
from delegtop.model.delegation import Delegation, State
from delegtop.model.measures import label
from delegtop.origin import Origin
from delegtop.text import line

_KIND, _SHORT_KIND, _TIME = 25, 18, 8
_WHO, _LEAST_WORK, _LEAST_SENTENCE = 34, 10, 14
_EXCERPT = 400
_SHOWN = 30
_COLOURS = {"needs review": "bold $warning", **{state.value: f"$state-{state.value}" for state in State}}
_TROUBLE = "bold $error"
_QUIET = frozenset({"silent", "waiting for the model", "interrupted", "partial"})


class Known(NamedTuple):
    """What had to be looked up for a page."""

    findings: tuple[Finding, ...] = ()
    presence: Mapping[str, Presence] = {}
    lines: Mapping[Origin, bytes | None] = {}


def row(problem: Problem, subject: Subject, mark: Mark | None, width: int, *, settled: bool) -> Content:
    """One line: what, since when, who, of what work, and the sentence as far as there is room."""
    marks = drawing(ascii=subject.ascii)
    kind_room = _KIND if width >= 100 else _SHORT_KIND
    since = "–" if problem.since is None else duration(max(subject.forest.now - problem.since, 0))
    holds = f" {marks.blocker}{problem.blocks}" if problem.blocks else ""
    room = max(width - kind_room - _TIME - 5, 0)
    who_room = room if room < 2 * _WHO else max(room * 2 // 5, _WHO)
    name = cut(called(subject.forest.delegation(problem.handle)), who_room - len(holds), marks.cut)
    work, sentence = (line(subject.hide(words), 400) for words in (context(subject), problem.message))
    quiet = MUTED if settled else ""
    parts = [
        (f"{_sign(mark, settled, subject.ascii)} ", "$accent"),
        (fit(problem.kind, kind_room, marks.cut) + " ", quiet or _style(problem)),
        (fit(since, _TIME, marks.cut, right=True) + "  ", MUTED),
        (name, quiet or "bold"),
        (holds, "bold $warning"),
    ]
    left = who_room - size(name) - len(holds)
    # Many have the same name: of what work it is comes first, its sentence in a column of its own or right after it.
    if work and left >= _LEAST_WORK:
        parts.append(("  " + cut(work, left - 2, marks.cut), MUTED))
        left -= size(parts[-1][0])
    if room > who_room:
        parts.append((" " * left, ""))
        left = room - who_room
    if left >= _LEAST_SENTENCE:
        parts.append(("  " + cut(sentence, left - 2, marks.cut), quiet))
    return Content.assemble(*parts)


def called(facts: Delegation) -> str:
    """The agent, and its own name beside it if it has one."""
    name, own = line(label(facts), 80), line(facts.own_name or "", 80)
    return f"{name} {own}" if own and own != name else name


def context(subject: Subject) -> str:
    """The work in a few words; if nobody says, the command that it is done for."""
    forest, facts = subject.forest, subject.forest.delegation(subject.handle)
    if told := facts.title or (facts.prompt or "").strip().partition("\n")[0]:
        return told
    climber = forest.parent(subject.handle)
    while climber is not None:
        above = forest.delegation(climber)
        if above.command and not above.agent:
            return label(above)
        climber = forest.parent(climber)
    return ""


def _sign(mark: Mark | None, settled: bool, plain: bool) -> str:
    if mark is None:
        return " "
    if settled:
        return "+" if plain else "✔"
    return ("*" if plain else "✎") if mark.note else " "


def _style(problem: Problem) -> str:
    if problem.kind in _QUIET:
        return "$warning"
    return _COLOURS.get(problem.kind, _TROUBLE)


def page(problem: Problem, subject: Subject, mark: Mark | None, known: Known) -> list[Block]:
    """Everything there is to say of one problem: what, since when, what to do, what to save, where it says so."""
    return [
        *_what(problem, subject),
        *_noted(mark, subject),
        *_to_do(problem, subject, known),
        *_saved(problem, subject, known),
        *_evidence(problem, subject, known),
        *_also(problem, known),
    ]


def _what(problem: Problem, subject: Subject) -> list[Block]:
    facts = subject.delegation
    sure = f"{problem.certainty.value}" if problem.certainty else ""
    name = called(facts)
    blocks: list[Block] = [
        said(
            Content.styled(name, "bold"),
            one_line(facts.title, "", 120) if facts.title else "",
            state_content(subject.forest.state(subject.handle), ascii=subject.ascii),
            one_line(facts.id, MUTED, 120) if facts.id != name else "",
        )
    ]
    if path := path_of(facts, " > " if subject.ascii else " › "):
        blocks.append(Content.styled(path, MUTED))
    blocks += [Content(), foreign(subject.hide(problem.message), _style(problem))]
    words = said(Content.styled(problem.kind, _style(problem)), sure, problem.rule if problem.rule.isupper() else "")
    blocks.append(Fact("verdict", words))
    if problem.since is not None:
        since = said(Content(moment(problem.since, subject)), ago(problem.since, subject.forest.now))
        blocks.append(Fact("since", since))
    return blocks + _path(problem, subject)


def _path(problem: Problem, subject: Subject) -> list[Block]:
    """Who waits for it, and whom it waits for."""
    above = held_up(subject.forest, problem.handle) if problem.blocks else ()
    if above:
        names = Content(", ").join(one_line(label(subject.forest.delegation(handle)), "", 80) for handle in above[:8])
        more = f" and {len(above) - 8:,} more" if len(above) > 8 else ""
        return [Fact("holds up", Content.styled(f"{len(above):,}: ", "bold $warning") + names + more)]
    on = subject.forest.blocker(problem.handle)
    return [] if on is None else [Fact("waits on", one_line(label(subject.forest.delegation(on)), "bold", 80))]


def _noted(mark: Mark | None, subject: Subject) -> list[Block]:
    if mark is None:
        return []
    state = ""
    if mark.acknowledged:
        state = f"acknowledged {ago(mark.at, subject.forest.now)}"
    elif mark.until is not None:
        state = f"put off until {moment(mark.until, subject)}"
    note = [Fact("your note", foreign(mark.note, "$accent"))] if mark.note else []
    return [*([Fact("you", Content.styled(state, "$accent"))] if state else []), *note]


def _to_do(problem: Problem, subject: Subject, known: Known) -> list[Block]:
    facts, findings = subject.delegation, known.findings
    steps = recovery.steps(subject.forest, problem.handle, problem.verdict, findings, facts, problem.rule)
    if not steps:
        return []
    blocks: list[Block] = [Content(), heading("What to do")]
    for number, step in enumerate(_told_once(steps), 1):
        style = "bold" if step.by is By.AGENT else ""
        who = Content.assemble((f"{number} ", "bold $accent"), (step.by.value, MUTED))
        blocks.append(Fact(who, foreign(step.words, style), 21))
        if step.command:
            blocks.append(command(subject.hide(step.command), 21))
    return blocks


def _told_once(steps: Sequence[recovery.Step]) -> list[recovery.Step]:
    """Without those that another step says too, and more; an agent's advice often stands in several files."""

    def is_said(number: int, step: recovery.Step) -> bool:
        others = (other for place, other in enumerate(steps) if place < number or len(other.words) > len(step.words))
        return not step.command and any(step.words in other.words for other in others)

    return [step for number, step in enumerate(steps) if not is_said(number, step)]


def command(text: str, indent: int) -> Fact:
    """A command as it is; it is copied only if it hides nothing, and never run."""
    if refused := clipboard.refusal(text):
        shown = said(one_line(text), Content.styled(f"cannot be copied: {refused}", "$warning"))
        return Fact("", shown, indent, Command(text))
    return Fact("", said(one_line(text, "bold $accent"), "enter copies"), indent, Command(text))


def _saved(problem: Problem, subject: Subject, known: Known) -> list[Block]:
    found = [each for each in recovery.salvage(subject.delegation) if each.text != problem.message]
    if not found:
        return []
    blocks: list[Block] = [Content(), heading("What can be saved")]
    for each in found[:_SHOWN]:
        words = [foreign(each.text)]
        if each.path is not None:
            words.append(_presence(each.path, subject, known))
        blocks.append(Fact(each.what, said(*words)))
    if len(found) > _SHOWN:
        blocks.append(Content.styled(f"… and {len(found) - _SHOWN:,} more", MUTED))
    return blocks


def _presence(path: str, subject: Subject, known: Known) -> Content:
    seen = known.presence.get(path)
    if seen is None:
        return Content.styled("looking …", MUTED)
    glyph, plain, words, style = PRESENCE[seen]
    return Content.styled(f"{plain if subject.ascii else glyph} {words}", style)


def _evidence(problem: Problem, subject: Subject, known: Known) -> list[Block]:
    if not problem.evidence:
        return []
    blocks: list[Block] = [Content(), heading("Evidence")]
    for origin in problem.evidence:
        blocks.append(Fact("", one_line(str(origin), MUTED), 2, origin))
        data = known.lines.get(origin)
        if data:
            excerpt = subject.hide(data[: 2 * _EXCERPT].decode("utf-8", "replace"))
            blocks.append(Fact("", one_line(" ".join(excerpt.split()), "", _EXCERPT), 4))
    return blocks


def _also(problem: Problem, known: Known) -> list[Block]:
    """What else the rules find, but for what the problem and the steps say already."""
    new = (finding for finding in known.findings if finding.rule != problem.rule and finding.by != "agent")
    others = [finding for finding in new if problem.message not in finding.message][:_SHOWN]
    if not others:
        return []
    return [
        Content(),
        heading("Also found"),
        *(Fact(finding.rule, foreign(finding.message)) for finding in others),
    ]


def summary(shown: int, settled: int, share: float) -> str:
    """The words beside the title."""
    problems = f"{shown:,} problem{'' if shown == 1 else 's'}"
    parts = [problems if shown else "no problem"]
    if settled:
        parts.append(f"{settled:,} seen to")
    if share < 1.0:
        parts.append(f"looking … {share:.0%}")
    return " · ".join(parts)
