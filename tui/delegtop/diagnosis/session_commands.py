"""What to type to a program about one of its sessions, as its product declares it, and which of that opens the session.

A command is only ever text: it is shown and copied, and nothing here runs it.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Literal, NamedTuple

from delegtop.base.product import Product
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.session_process import SessionProcess, session_process
from delegtop.dialects.products import product
from delegtop.model.delegation import Delegation
from delegtop.model.session_manner import LISTENS, PANE, TTY, Manner

GO_ON = "Go on where you stopped."
"""What a session is told that is taken up again where nobody can type."""
_ADDRESS = r"(?:[\d.]+|\[[0-9a-f:.]+\]):\d+"
_PIDS = 1 << 22
"""No system has so many processes."""


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
        return Opening(None, "it belongs to no agent program")
    found = _there(at) if at.is_there else _not_there(at)
    return found if found.command is None else _on_its_host(case, found)


def _on_its_host(case: Case, found: Opening) -> Opening:
    command, there = on_host(case, found.command or "")
    return Opening(command, "; ".join(filter(None, (found.why, there))))


def on_host(case: Case, command: str) -> tuple[str | None, str]:
    """What to type in a shell of this machine so that a command is run on the host of a delegation; where nobody knows
    how that is reached there is nothing to type, and it is told in words what is to be typed there."""
    if not case.facts.told_by:
        return command, ""
    if via := case.forest.word_of(case.handle).via:
        return shlex.join(("ssh", "-t", via, command)), ""
    return None, f"on {case.facts.told_by}: `{command}`"


def _there(at: SessionProcess) -> Opening:
    if at.runs_as is Manner.BACKGROUND:
        if (command := background_command(at, "attach")) is not None:
            return Opening(command)
        return Opening(None, f"it runs in the background ({place(at)}), and what it is called there is not known")
    if (command := server_command(at)) is not None:
        return Opening(command)
    where = {
        Manner.TERMINAL: f"it is open in a terminal ({place(at)}): go there",
        Manner.HEADLESS: f"it runs without a terminal ({place(at)}): there is nothing to open until it has ended",
        Manner.SERVER: f"a server has it ({place(at)}): open it in the program that shows it",
    }
    return Opening(None, where.get(at.runs_as, f"it is open elsewhere ({place(at)}): go there"))


def _not_there(at: SessionProcess) -> Opening:
    command = session_command(at.facts)
    if command is None:
        return Opening(None, no_command(at.facts))
    on = f"it is on {at.facts.elsewhere}" if at.facts.elsewhere else ""
    if at.is_gone:
        return Opening(command, on)
    seen = f"whether its program is closed cannot be seen from here: {at.why}"
    return Opening(command, seen if on in at.why or not on else f"{seen}; {on}")


def no_command(facts: Delegation) -> str:
    """Why there is no command that opens it again."""
    program = product(facts.product)
    if program is None or not program.resume:
        return f"{program.title if program else 'its program'} has no command that opens a session again"
    return "what its session is called is not known"


def session_command(facts: Delegation) -> str | None:
    """The command that opens this session again once its process is gone, from the folder it worked in; None if its
    program has none, or it is not known what the session is called."""
    program = product(facts.product)
    return _in_folder(facts, program.resume, session_name(facts, program)) if program else None


def headless_command(facts: Delegation) -> str | None:
    """The command that lets it go on without a terminal, by one more prompt."""
    program = product(facts.product)
    if program is None or (named := session_name(facts, program)) is None:
        return None
    return _in_folder(facts, program.resume_headless, named, *program.prompt_option, GO_ON)


def background_command(at: SessionProcess, which: Literal["attach", "logs", "stop"]) -> str | None:
    """The command of its program for a session in the background that opens it where it runs, prints what it shows, or
    ends it."""
    program, called = product(at.facts.product), at.background_id
    words: tuple[str, ...] = getattr(program, which) if program else ()
    return shlex.join((*words, called)) if words and called and not called.startswith("-") else None


def server_command(at: SessionProcess) -> str | None:
    """The command that opens it in the server that has it, where it is at work; nobody else writes its transcript."""
    program, url = product(at.facts.product), server_url(at)
    named = session_name(at.facts, program) if program else None
    if at.runs_as is not Manner.SERVER or program is None or not program.attach_server:
        return None
    if named is None or named.startswith("-") or ("{url}" in program.attach_server and url is None):
        return None
    words = [{"{url}": url or "", "{id}": named}.get(word, word) for word in program.attach_server]
    return _in_folder(at.facts, words[:1], *words[1:])


def abort_command(facts: Delegation, at: SessionProcess) -> str | None:
    """What asks its server to abort this one alone: a child that has a session of its own, else the whole session."""
    program, url = product(at.facts.product), server_url(at)
    if program is None or not program.abort_path or url is None:
        return None
    named = child_session(facts, at) or session_name(at.facts, program)
    if named is None or not re.fullmatch(program.session_id, named):
        return None
    return shlex.join(("curl", "-X", "POST", url + program.abort_path.format(id=named)))


def server_url(at: SessionProcess) -> str | None:
    """Where its server listens, as somebody on this machine reaches it."""
    told = dict(at.facts.refs).get(LISTENS) if at.runs_as is Manner.SERVER else None
    if not told or not re.fullmatch(_ADDRESS, told):
        return None
    host, _, port = told.rpartition(":")
    everywhere = host.strip("[]") in ("0.0.0.0", "::")  # noqa: S104 -- compared with, not listened at
    return f"http://{'127.0.0.1' if everywhere else host}:{port}"


def child_call(facts: Delegation, at: SessionProcess) -> str | None:
    """What its parent is told to call so that a child goes on in the session it had."""
    program, named = product(at.facts.product), child_session(facts, at)
    return program.take_up_child.format(id=named) if program and program.take_up_child and named else None


def child_session(facts: Delegation, at: SessionProcess) -> str | None:
    """The session that an agent within a session has of its own, as its program calls it; None if it has none."""
    program = product(facts.product)
    if program is None or not program.session_id or facts.id == at.facts.id:
        return None
    return facts.id if re.fullmatch(program.session_id, facts.id) else None


def pane_command(at: SessionProcess) -> str | None:
    """What shows the pane of tmux that it runs in, from within tmux and from without."""
    pane = dict(at.facts.refs).get(PANE)
    if at.runs_as is not Manner.TERMINAL or not pane or pane.startswith("-"):
        return None
    to = shlex.quote(pane)
    return f"tmux switch-client -t {to} || tmux attach -t {to}"


def _in_folder(facts: Delegation, words: Sequence[str], *arguments: str | None) -> str | None:
    named, *others = arguments
    if not words or not named or named.startswith("-"):  # it would be taken for an option
        return None
    command = shlex.join((*words, named, *filter(None, others)))
    if not facts.cwd:
        return command
    return f"cd {'-- ' if facts.cwd.startswith('-') else ''}{shlex.quote(facts.cwd)} && {command}"


def session_name(facts: Delegation, program: Product) -> str | None:
    """What its program calls this session."""
    refs = dict(facts.refs)
    named = next((refs[name] for name in program.session_refs if refs.get(name)), None)
    return facts.id if named is None and program.is_session else named


def place(at: SessionProcess) -> str:
    """Where its process is: `pts/3, tmux %3, pid 4711, in /srv/garden`."""
    refs = dict(at.facts.refs)
    pane, folder = refs.get(PANE), at.facts.cwd
    on = f" on {at.facts.elsewhere}" if at.facts.elsewhere else ""
    parts = (refs.get(TTY), f"tmux {pane}" if pane else "", f"pid {at.pid}{on}", f"in {folder}" if folder else "")
    return ", ".join(filter(None, parts))


def is_single(pid: int) -> bool:
    """Whether that number is of one process only: less than that, and all are meant, or the first of the machine."""
    return 1 < pid < _PIDS
