"""The plan for stopping a delegation, and what came of it: nothing happens before somebody chooses and confirms.

What is planned does not change while it is looked at, whatever the rows below do. A rung is chosen with the first Enter
and taken with the next, which must not come at once.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from delegtop.act import plan_words
from delegtop.act.act_outcome import ActWatch, Upshot
from delegtop.act.aftermath import Aftermath
from delegtop.act.stop_plan import Rung, RungPlan, StopPlan
from delegtop.app import clipboard
from delegtop.app.pages.inspector.page_words import MUTED, one_line
from delegtop.app.screens.copy import copy
from delegtop.app.screens.dialog import Dialog
from delegtop.app.state.acts_under_way import ActsUnderWay
from delegtop.base.clock import monotonic

_CANCEL = "cancel"
_AT_ONCE = 0.6
"""Seconds: who presses Enter twice in less has not read what is asked."""
_LOOK = 0.25
_COLOURS = {Rung.PROCESS: "$warning", Rung.KILL: "$error"}
_UPSHOT = {Upshot.SEEN: "$success", Upshot.UNSEEN: "$warning", Upshot.REFUSED: "$error"}


class StopDialog(Dialog[None]):
    """Lies over the monitor or triage."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="stop-back"),
        Binding("y,c", "copy", "copy the command", id="stop-copy"),
        *(Binding(str(number), f"rung({number})", show=False) for number in range(1, 6)),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 -- Textual declares it so
    DEFAULT_CSS = """
    StopDialog > Vertical { width: 96%; max-width: 124; max-height: 96%; }
    StopDialog #stop-page { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
    StopDialog #stop-typed { display: none; }
    StopDialog #stop-typed.-asked { display: block; }
    StopDialog #stop-outcome { display: none; }
    StopDialog #stop-more { color: $row-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    StopDialog.-short #stop-more { display: none; }
    StopDialog OptionList, StopDialog OptionList:focus {
        text-wrap: nowrap; text-overflow: ellipsis; overflow-x: hidden;
    }
    StopDialog.-tall OptionList, StopDialog.-tall #stop-told, StopDialog.-tall #stop-outcome { margin-top: 1; }
    """

    def __init__(self, acts: ActsUnderWay, plan: StopPlan) -> None:
        super().__init__()
        self._acts, self._plan = acts, plan
        self._armed: tuple[Rung, float] | None = None
        """The rung that was chosen, and when."""
        self._watch: ActWatch | None = None
        self._rungs = OptionList()
        self._about, self._more = Static(id="stop-about"), Static(id="stop-more")
        self._outcome, self._told = Static(id="stop-outcome"), Static(id="stop-told")
        self._typed = Input(id="stop-typed", compact=True, max_length=80)

    def compose(self) -> ComposeResult:
        with Vertical(), VerticalScroll(id="stop-page", can_focus=False):
            yield self._about
            yield self._more
            yield self._rungs
            yield self._outcome
            yield self._typed
            yield self._told

    def on_mount(self) -> None:
        self._show()
        self.set_interval(_LOOK, self._second)

    def on_unmount(self) -> None:
        self._acts.in_view = None

    # -- what is shown -----------------------------------------------------------------------------------------------

    def _show(self) -> None:
        """The whole plan, with nothing chosen."""
        self._armed = None
        self._about.update(_about(self._plan))
        self._more.update(Content("\n").join(_more(self._plan)))
        self._rungs.clear_options()
        for number, rung in enumerate(self._plan.rungs, 1):
            self._rungs.add_option(Option(_row(number, rung), id=rung.rung.value, disabled=not rung.is_possible))
        words = "Close" if self._plan.refused or self._watch is not None else "Cancel, and do nothing"
        self._rungs.add_option(Option(Content.assemble(("  ", ""), (words, "bold")), id=_CANCEL))
        self._rungs.highlighted = self._rungs.option_count - 1
        self._rungs.focus()
        self._tell()

    def _tell(self) -> None:
        """What the next key would do."""
        self._told.update(self._hint())

    def _hint(self) -> Content:
        keys = Content.styled(
            "↑ ↓ choose   enter, and enter again, takes it   y copies the command   esc leaves", MUTED
        )
        if not self._plan.rungs:
            copies = "y copies what takes it up again   " if self._resumes else ""
            return Content.styled(f"{copies}esc leaves", MUTED)
        if not self._acts.acting.enabled:
            told = Content.styled(f"Nothing can be sent: {self._acts.acting.why_not}.", "$warning")
            return told.append("\n").append(Content.styled("y copies the command that would   esc leaves", MUTED))
        chosen = self._chosen
        if self._armed is not None and chosen is not None:
            sent = Content.assemble(("Enter once more: ", "bold $warning"), one_line(plan_words.steps(chosen)))
            return sent.append(Content.styled("\nany other key does not", MUTED))
        return keys

    def _second(self) -> None:
        """What came of what was done, as it becomes known."""
        watch = self._watch
        if watch is None or not self.is_here:
            return
        style = _UPSHOT.get(watch.standing, "$accent")
        told = [Content.styled(f"{watch.rung.rung}: ", f"bold {style}") + one_line(plan_words.shown(watch.words))]
        if (left := self._left) is not None:
            told += [Content.styled(each, MUTED) for each in plan_words.after(left)]
        self._outcome.display = True
        self._outcome.update(Content("\n").join(told))
        if watch.standing is not Upshot.WAITING and self._is_under_way:
            self._is_under_way = False
            self._plan = self._acts.plan(self._plan.id) or self._plan
            if watch.standing is Upshot.SEEN:  # nothing more is asked for; K plans anew
                self._plan = self._plan._replace(rungs=())
            self._show()

    _is_under_way = False

    @property
    def _left(self) -> Aftermath | None:
        """What is left to do, once it is stopped. One that only lost its tool goes on by itself."""
        watch = self._watch
        if watch is None or watch.standing is not Upshot.SEEN or watch.rung.rung is Rung.TOOL:
            return None
        return self._acts.aftermath(self._plan.id)

    @property
    def _resumes(self) -> str:
        """What takes the work up again; nothing if nothing does."""
        left = self._left
        return (left.command or "") if left is not None else ""

    # -- what is chosen ----------------------------------------------------------------------------------------------

    @property
    def _chosen(self) -> RungPlan | None:
        """The rung under the cursor."""
        place = self._rungs.highlighted
        option = None if place is None else self._rungs.get_option_at_index(place)
        if option is None or option.id in (None, _CANCEL):
            return None
        return self._plan.rung(Rung(option.id))

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        chosen = self._chosen
        if self._armed is not None and (chosen is None or chosen.rung is not self._armed[0]):
            self._armed = None
        self._ask_name(None)
        self._tell()

    def action_rung(self, number: int) -> None:
        """To that rung; it takes nothing."""
        if number <= len(self._plan.rungs) and self._plan.rungs[number - 1].is_possible:
            self._rungs.highlighted = number - 1

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        chosen = self._chosen
        if chosen is None:
            self.dismiss()
        elif not self._acts.acting.enabled or self._is_under_way:
            self._tell()
        elif chosen.typed:
            self._ask_name(chosen)
        elif self._armed is None or self._armed[0] is not chosen.rung:
            self._armed = chosen.rung, monotonic()
            self._tell()
        elif monotonic() - self._armed[1] >= _AT_ONCE:
            self._take(chosen)
        else:  # a key that is held down comes again and again, and is one
            self._armed = chosen.rung, monotonic()

    def _ask_name(self, rung: RungPlan | None) -> None:
        """Have the name of the program typed before it is killed."""
        self._typed.set_class(rung is not None, "-asked")
        self._typed.value = ""
        if rung is not None:
            self._typed.placeholder = f"type {rung.typed} and enter to kill it, esc leaves"
            self._typed.focus()

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        event.stop()
        chosen = self._plan.rung(Rung.KILL)
        if chosen is not None and event.value.strip() == chosen.typed:
            self._take(chosen, event.value.strip())
        else:
            self._ask_name(None)
            self._rungs.focus()

    def _take(self, rung: RungPlan, typed: str = "") -> None:
        self._armed, self._is_under_way = None, True
        self._watch = self._acts.in_view = self._acts.begin(self._plan, rung, typed)
        self._ask_name(None)
        self._rungs.focus()
        self._rungs.highlighted = self._rungs.option_count - 1
        self._second()
        self._tell()

    def action_copy(self) -> None:
        """What would have it done, for another terminal; once it is done, what takes the work up again."""
        if again := self._resumes:
            copy(self, "command", again, clipboard.refusal(again))
            return
        rung = self._chosen or self._plan.mildest
        if self._plan.refused or rung is None:
            self.notify("Nothing to copy: nothing can be done from here.", markup=False)
            return
        text = plan_words.command(self._plan, rung)
        copy(self, "command", text, clipboard.refusal(text))


def _about(plan: StopPlan) -> Content:
    name = one_line(plan_words.shown(plan.name), "bold")
    told = [
        Content.assemble(("Stop  ", "bold $accent"), name, "  ", one_line(plan.id, MUTED, 60)),
        Content.assemble((plan_words.matter(plan), "bold"), "  ", one_line(plan_words.shown(plan.sentence))),
    ]
    if plan.refused:
        told += [Content(), Content.styled(f"Nothing can be done: {plan_words.shown(plan.refused)}.", "$warning")]
    return Content("\n").join(told)


def _more(plan: StopPlan) -> Iterator[Content]:
    """What is left out where there is little room."""
    if plan.evidence:
        yield Content(f"evidence: {plan_words.evidence(plan)}")
    if plan.session:
        yield Content(f"its session: {plan_words.shown(plan.session)}")


def _row(number: int, rung: RungPlan) -> Content:
    """A line that says what happens, one with the very signal or request, and one with what is lost, if anything is."""
    name = f"{rung.rung:<9}"
    if not rung.is_possible:
        return Content.styled(f"– {name}", MUTED) + one_line(plan_words.shown(rung.why_not), MUTED)
    colour = _COLOURS.get(rung.rung, "$accent")
    does = one_line(plan_words.shown(rung.does))
    below = [plan_words.steps(rung)]
    if rung.typed:
        does = does.append(f"; {plan_words.shown(rung.typed)} must be typed")
    elif rung.loses:
        below.append(plan_words.losses(rung))
    head = Content.assemble((f"{number} ", f"bold {colour}"), (name, "bold"), does)
    indent = " " * (len(name) + 2)
    return Content("\n").join([head, *(Content.styled(indent + plan_words.shown(each), MUTED) for each in below)])


def open_plan(screen: Screen[Any], acts: ActsUnderWay | None, id: str | None) -> None:
    """Show the plan for that delegation."""
    plan = acts.plan(id) if acts is not None and id is not None else None
    if acts is None or plan is None:
        screen.notify("There is no delegation here to stop.", markup=False)
    else:
        screen.app.push_screen(StopDialog(acts, plan))
