"""What to do about the session that something stuck belongs to: by whether its process is there, and how it runs.

A session whose process is there is answered, sent a message, interrupted or stopped where it runs, and never opened a
second time: two would write one transcript. One whose process is gone is taken up again. Where nobody can see it, the
advice says so, and what to look at first.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from delegtop.base.product import Product
from delegtop.diagnosis import session_commands as commands
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.session_commands import place
from delegtop.diagnosis.session_process import SessionProcess
from delegtop.diagnosis.verdicts.kinds import Need
from delegtop.dialects.products import product
from delegtop.model.session_manner import Manner

_KEPT = "its conversation is kept"
_ONCE = "Do not open its session a second time while it runs: two would write one transcript."


class Advice(NamedTuple):
    """One thing to do, in a sentence, and what to type for it."""

    words: str
    command: str | None = None
    to_agent: bool = False
    """Whether that is typed to an agent, and not in a shell."""
    instead: bool = False
    """Whether it stands in place of what frees such ones as a rule: that is not possible here."""


# -- its process is there ----------------------------------------------------------------------------------------------


def while_there(case: Case, at: SessionProcess, need: Need, frees: str, tried: bool) -> Iterator[Advice]:
    """What to do where it runs, the first thing together with what frees such ones (`frees`) unless something milder
    was advised before (`tried`)."""
    program = product(at.facts.product)
    if program is None:
        return
    first, *others = _MANNERS[at.runs_as](_Reach(case, at, program), need)
    if tried:
        first = first._replace(words=f"If that does not free it: {first.words[:1].lower()}{first.words[1:]}")
    elif frees and not first.instead:
        first = first._replace(words=f"{frees} {first.words}")
    yield first
    yield from others
    yield from take_up_child(case, at)
    if at.runs_as not in (Manner.BACKGROUND, Manner.SERVER):
        yield Advice(_ONCE)


class _Reach(NamedTuple):
    """Somebody's way to a session."""

    case: Case
    at: SessionProcess
    program: Product

    @property
    def where(self) -> str:
        return place(self.at)

    @property
    def is_own(self) -> bool:
        """Whether what is stuck is the session itself, not an agent within it."""
        return self.at.session == self.case.handle

    @property
    def press(self) -> str:
        """What to press in its terminal, the mildest first; nothing if that is not known."""
        keys, key = self.program.stop_child_keys, self.program.interrupt_key
        if self.is_own:
            return key and f"press {key}, which interrupts its turn"
        alone = keys and f"press {keys}, which stops this agent alone"
        whole = key and f"{key}, which interrupts the turn of its session, not only this agent"
        return f"{alone}, or {whole}" if alone and whole else alone or (whole and f"press {whole}")


def _in_terminal(to: _Reach, need: Need) -> Iterator[Advice]:
    command = commands.pane_command(to.at)
    if need is Need.ANSWER:
        yield Advice(f"Its terminal: {to.where}.", command)
    elif need is Need.MESSAGE:
        yield Advice(f"Type it in its terminal: {to.where}.", command)
    elif not to.press:
        yield Advice(f"Interrupt it in its terminal: {to.where}.", command)
    elif need is Need.LOOK:
        yield Advice(f"Its terminal: {to.where}. If nothing moves, {to.press}.", command)
    else:
        yield Advice(f"In its terminal ({to.where}) {to.press}.", command)


def _headless(to: _Reach, need: Need) -> Iterator[Advice]:
    pid = to.at.pid or 0
    command = f"kill -INT {pid}" if commands.is_single(pid) else None
    below = "it" if to.is_own else "its session, with all agents in it"
    ends = f"this signal (SIGINT) ends {below}; {_KEPT}, and then it can be taken up again"
    if need is Need.ANSWER:
        words = f"It runs without a terminal ({to.where}), where nobody can answer: {ends}."
        yield Advice(words, command, instead=True)
    elif need is Need.MESSAGE:
        yield Advice(
            f"It runs without a terminal ({to.where}), where nobody can send it a message: {ends}.",
            command,
            instead=True,
        )
    elif need is Need.LOOK:
        yield Advice(f"It runs without a terminal ({to.where}). If nothing moves, {ends}.", command)
    else:
        yield Advice(f"It runs without a terminal ({to.where}), so only a signal reaches it: {ends}.", command)


def _in_background(to: _Reach, need: Need) -> Iterator[Advice]:
    attach, logs, stop = (commands.background_command(to.at, each) for each in ("attach", "logs", "stop"))
    if attach is None or stop is None:
        yield Advice(
            f"It runs in the background ({to.where}): use its program's own commands. A signal does not end it, its "
            "supervisor would start it again."
        )
        return
    ended = Advice(
        f"This ends {'it' if to.is_own else 'its session, with all agents in it'}; {_KEPT}. A signal would not: its "
        "supervisor would start it again.",
        stop,
    )
    if need is Need.STOP:
        yield ended._replace(words=f"It runs in the background ({to.where}). {ended.words}")
        yield Advice("This opens it, to see what it does.", attach)
        return
    if need is Need.LOOK and logs is not None:
        yield Advice(f"It runs in the background ({to.where}): this prints what it shows.", logs)
        yield Advice(f"This opens it; there {to.press}.", attach)
    else:
        then = {
            Need.ANSWER: "this opens it, to answer there",
            Need.MESSAGE: "this opens it, to type one",
        }.get(need, f"this opens it; there {to.press}")
        yield Advice(f"It runs in the background ({to.where}): {then}.", attach)
    yield ended._replace(words=f"If that does not help: {ended.words[:1].lower()}{ended.words[1:]}")


def _in_server(to: _Reach, need: Need) -> Iterator[Advice]:
    opens, abort = commands.server_command(to.at), commands.abort_command(to.case.facts, to.at)
    if need in (Need.ANSWER, Need.MESSAGE):
        yield Advice(
            f"A server has it ({to.where}): {'this opens it' if opens else 'do that in what shows it'}.", opens
        )
    elif abort is None and opens is not None:
        yield Advice(f"A server has it ({to.where}): this opens it there; {to.press}.", opens)
    elif abort is None:
        yield Advice(f"A server has it, with other sessions ({to.where}): interrupt it in the program that shows it.")
    else:
        if need is Need.LOOK and opens:
            yield Advice(f"A server has it ({to.where}): this opens it.", opens)
        yield Advice(
            f"A server has it ({to.where}), which this asks to abort {'it' if to.is_own else 'this child'} alone. The "
            "answer proves nothing: see whether it moves.",
            abort,
        )


def _somewhere(to: _Reach, need: Need) -> Iterator[Advice]:
    yield Advice(f"Its program runs ({to.where}), nobody can see how: {_THERE[need]} where it was started.")


_THERE = {
    Need.ANSWER: "do that",
    Need.MESSAGE: "type it",
    Need.INTERRUPT: "interrupt it",
    Need.STOP: "interrupt it",
    Need.LOOK: "look",
}
_MANNERS: dict[Manner, Callable[[_Reach, Need], Iterator[Advice]]] = {
    Manner.TERMINAL: _in_terminal,
    Manner.HEADLESS: _headless,
    Manner.BACKGROUND: _in_background,
    Manner.SERVER: _in_server,
    Manner.UNKNOWN: _somewhere,
}


def told_there(case: Case, at: SessionProcess) -> Iterator[Advice]:
    """What to do about something that has ended in a session whose process is there: its session is told."""
    if at.runs_as is Manner.HEADLESS:
        yield Advice(f"Its session still runs, without a terminal ({place(at)}): wait for what it makes of this.")
        return
    opened = {
        Manner.TERMINAL: commands.pane_command(at),
        Manner.BACKGROUND: commands.background_command(at, "attach"),
        Manner.SERVER: commands.server_command(at),
    }
    yield Advice(f"Its session is open ({place(at)}): tell it there how to go on.", opened.get(at.runs_as))
    yield from take_up_child(case, at)


# -- its process is gone, or nobody can see it -------------------------------------------------------------------------


def taken_up(case: Case, at: SessionProcess) -> Iterator[Advice]:
    """What opens its session again, if its process is not there."""
    program = product(at.facts.product)
    if program is None or at.is_there:
        return
    if (command := commands.session_command(at.facts)) is None:
        if at.is_gone:
            why = commands.no_command(at.facts)
            yield Advice(f"Its program is gone, and {why}: ask for the work anew, with what it left.")
        return
    whose = "its session" if at.session == case.handle else "the session it belongs to"
    on = f", on {at.facts.elsewhere}" if at.facts.elsewhere else ""
    how = "" if program.tried else ", as its documentation has it"
    folder = " Type it in the folder of its project, it finds no others." if _wants_folder(at, program) else ""
    opens = f"this opens {whose} again{on}{how}.{folder}"
    if at.is_gone:
        yield Advice(f"Its program is gone: {opens}", command)
    else:
        seen = f"Look first whether its program is still open, which cannot be seen from here ({at.why})."
        yield Advice(f"{seen} If it is closed, {opens}", command)
    if at.runs_as is Manner.HEADLESS and (again := commands.headless_command(at.facts)) is not None:
        yield Advice(f"Or it goes on without a terminal, as it ran{how}; give it the options it had.", again)
    yield from take_up_child(case, at)


def _wants_folder(at: SessionProcess, program: Product) -> bool:
    return program.needs_folder and not at.facts.cwd


def take_up_child(case: Case, at: SessionProcess) -> Iterator[Advice]:
    """What its parent is told so that a child with a session of its own goes on in that."""
    if (call := commands.child_call(case.facts, at)) is not None:
        yield Advice(
            "Typed to that session once the child has stopped: it goes on, and no work is done twice.", call, True
        )
