"""What to type to a program about one of its sessions, as its product declares it, and which of that opens the session.

A command is only ever text: it is shown and copied, and nothing here runs it.
"""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from delegtop.base.product import Product
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.session_process import SessionProcess, session_process
from delegtop.dialects.products import product
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST
from delegtop.model.session_manner import PANE, Manner


class Opening(NamedTuple):
    """How somebody gets into a session."""

    command: str | None
    """What opens it; None if nothing that is typed elsewhere does."""
    why: str = ""
    """Without a command: why there is none, and where it is. With one: what has to be seen to first; empty if nothing
    has."""


def opening(case: Case) -> Opening:
    """What opens the session that a delegation belongs to, given whether its process is there. One that is there is
    never opened a second time: two would write one transcript."""
    at = session_process(case.forest, case.handle)
    if at is None:
        return Opening(None, "it is of no agent program, so there is no session to open")
    return _there(at) if at.is_there else _not_there(at)


def _there(at: SessionProcess) -> Opening:
    if at.runs_as is Manner.BACKGROUND:
        if (command := attach_command(at)) is not None:
            return Opening(command)
        return Opening(None, f"it runs in the background ({place(at)}), and what it is called there is not known")
    where = {
        Manner.TERMINAL: f"it is open in a terminal ({place(at)}): go there",
        Manner.HEADLESS: f"it runs without a terminal ({place(at)}): there is nothing to open until it has ended",
        Manner.SERVER: f"a server has it ({place(at)}): open it in the program that shows it",
    }
    return Opening(None, where.get(at.runs_as, f"it is open elsewhere ({place(at)}): go there"))


def _not_there(at: SessionProcess) -> Opening:
    command = session_command(at.facts)
    if command is None:
        return Opening(None, _no_command(at.facts))
    on = f"it is on {at.facts.host}" if is_elsewhere(at.facts) else ""
    if at.is_gone:
        return Opening(command, on)
    seen = f"whether its program is closed cannot be seen from here: {at.why}"
    return Opening(command, seen if on in at.why or not on else f"{seen}; {on}")


def _no_command(facts: Delegation) -> str:
    program = product(facts.product)
    if program is None or not program.resume:
        return f"{program.title if program else 'its program'} has no command that opens a session again"
    return "what its session is called is not known"


def session_command(facts: Delegation) -> str | None:
    """The command that opens this session again once its process is gone, from the folder it worked in; None if its
    program has none, or it is not known what the session is called."""
    program = product(facts.product)
    return _in_folder(facts, program.resume, session_name(facts, program)) if program else None


def attach_command(at: SessionProcess) -> str | None:
    """The command that opens it where it runs, in the background."""
    program = product(at.facts.product)
    return _of_background(at, program.attach) if program else None


def _of_background(at: SessionProcess, words: Sequence[str]) -> str | None:
    called = at.background_id
    return shlex.join((*words, called)) if words and called and not called.startswith("-") else None


def _in_folder(facts: Delegation, words: Sequence[str], *arguments: str | None) -> str | None:
    given = [argument for argument in arguments if argument]
    if not words or len(given) < len(arguments) or given[0].startswith("-"):  # it would be taken for an option
        return None
    command = shlex.join((*words, *given))
    if not facts.cwd:
        return command
    return f"cd {'-- ' if facts.cwd.startswith('-') else ''}{shlex.quote(facts.cwd)} && {command}"


def session_name(facts: Delegation, program: Product) -> str | None:
    """What its program calls this session."""
    refs = dict(facts.refs)
    named = next((refs[name] for name in program.session_refs if refs.get(name)), None)
    return facts.id if named is None and program.is_session else named


def place(at: SessionProcess) -> str:
    """Where its process is: `pid 4711, tmux %3, in /srv/garden`."""
    pane = dict(at.facts.refs).get(PANE)
    on = at.facts.host if is_elsewhere(at.facts) else None
    parts = [f"pid {at.pid}", f"on {on}" if on else "", f"tmux {pane}" if pane else ""]
    return ", ".join(filter(None, [*parts, f"in {at.facts.cwd}" if at.facts.cwd else ""]))


def is_elsewhere(facts: Delegation) -> bool:
    return facts.host not in (None, LOCALHOST)
