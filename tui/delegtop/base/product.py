"""An agent program, or a protocol that delegations follow, as its own package declares it.

Whoever needs to know where a program keeps its logs, how one of its sessions is taken up again or what it is called
asks `delegtop.dialects.products`. Packages declare theirs where they begin, and some are imported by programs that
must start at once: so this needs nothing but Python.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path

import msgspec

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
SESSION_REFS = ("session_id", "thread_id")
"""The foreign ids that name a session."""


class Basis(Enum):
    """How sure it is that the format is read as it is meant."""

    OWN = "a format of delegtop's own, or of the protocol it stands for"
    REAL = "verified on logs of real work"
    MADE = "verified on logs that the real program wrote for the purpose"
    FIXTURES = "verified on small logs that other readers of the format keep"
    DOCUMENTED = "as its documentation and its source describe it"


class Home(msgspec.Struct, frozen=True):
    """One place where a program keeps logs, whether it is there or not."""

    folder: str
    """`~/…` is below the home of the user, anything else below the folder of the project."""
    below: str = ""
    """What of it is read; the last part may be a pattern."""
    variable: str | None = None
    """The variable of the environment that names another folder."""
    of_project: Callable[[Path], tuple[str, ...]] | None = None
    """The names in it, or patterns of names, of what belongs to one project; None if sessions of all lie together."""

    @property
    def is_users(self) -> bool:
        return self.folder.startswith("~")

    def path(self, environ: Mapping[str, str], home: Path, project: Path) -> Path:
        moved = environ.get(self.variable) if self.variable else None
        folder = Path(moved) if moved else home / self.folder[2:] if self.is_users else project / self.folder
        return folder / self.below


class Permissions(msgspec.Struct, frozen=True):
    """When a program asks a person to allow a call, without a word in its log."""

    quick: frozenset[str] = frozenset()
    """Tools that take a moment by themselves."""
    edits: frozenset[str] = frozenset()
    """Those of them that change files."""
    runs: frozenset[str] = frozenset()
    """Tools that run whatever they are given."""
    free: frozenset[str] = frozenset()
    """Modes in which nobody is asked."""
    free_edits: frozenset[str] = frozenset()
    """Modes in which edits are asked for only where they are out of the ordinary."""
    longest: int = 0
    """Milliseconds after which it ends a command, or goes on without it, whatever it was told; 0 if it does not."""


class Contract(msgspec.Struct, frozen=True):
    """What a file must hold, as a model: what is known of it before that is loaded."""

    name: str
    """What `delegtop schema` calls it."""
    title: str
    place: str
    """`module:Model`, below `delegtop.protocols`."""
    page: str
    """The reference page that tells more."""
    keyed: bool = False
    """A file holds many of them, by their session ids."""


class Product(msgspec.Struct, frozen=True):
    """One program or protocol. What it has no command for is empty: none is invented."""

    name: str
    """What `product` of its events says."""
    title: str
    basis: Basis
    """How well the best known of its formats is known."""
    homes: tuple[Home, ...] = ()
    contracts: tuple[Contract, ...] = ()
    resume: tuple[str, ...] = ()
    """What takes up a session again, once its process is gone; the id of the session follows."""
    resume_headless: tuple[str, ...] = ()
    """What does so without a terminal; the id of the session and one more prompt follow."""
    prompt_option: tuple[str, ...] = ()
    """What stands between that id and the prompt; nothing where the prompt is a word by itself."""
    needs_folder: bool = False
    """Whether it finds a session only if it is started in the folder in which the session worked."""
    attach: tuple[str, ...] = ()
    """What opens a session that runs in the background; the id that it has there follows, as in the next two."""
    logs: tuple[str, ...] = ()
    """What prints what a session in the background shows."""
    stop: tuple[str, ...] = ()
    """What ends a session that runs in the background and keeps its conversation. A signal would not: whoever watches
    over it would start it again."""
    interrupt_key: str = ""
    """What to press in its terminal to interrupt its turn; the session stays."""
    stop_child_keys: str = ""
    """What to press there to stop one agent within the session; everything else goes on."""
    take_up_child: str = ""
    """What its agent is told to call so that the own session of a child goes on and its work is not done again; `{id}`
    stands for the child's."""
    abort_path: str = ""
    """Where its own server is asked, by POST, to abort one session, be it that of a child; `{id}` stands for it."""
    attach_server: tuple[str, ...] = ()
    """What opens a session in the server that has it; `{id}` stands for the session, and `{url}` for where that listens
    if it has to be told."""
    control_socket: str = ""
    """Where, below the folder of its logs, the server listens that can interrupt the turn of one session."""
    hears_tool_end: bool | None = None
    """Whether its agent was seen to notice that the process of its tool was ended from outside, and to go on; None if
    nobody has tried."""
    headless: tuple[str, ...] = ()
    """Words of its command line with which it runs without a terminal: nobody can press a key there."""
    tried: str = ""
    """The version whose command line was seen to accept these commands; empty if they are only documented."""
    session_refs: tuple[str, ...] = SESSION_REFS
    """The foreign ids that name a session to it, the best first."""
    is_session: bool = True
    """Where there is no such id, the id of the row itself is the session's."""
    session_id: str = ""
    """The shape of its session ids: a regular expression for all of one."""
    session_variable: str = ""
    """The variable of the environment by which it tells the programs it starts in which session that was."""
    executables: tuple[str, ...] = ()
    """How its process is found: what the program is called, as the first word of a command line. A product that names
    neither these nor scripts has no process of its own, and none is looked for. That there is none is believed only of
    a program that was seen to run, which its basis tells."""
    scripts: tuple[str, ...] = ()
    """Parts of a path that tell it where an interpreter is the first word."""
    helpers: tuple[str, ...] = ()
    """Words of a command line by which a process of it works on no session, and may outlive all of them."""
    holds: tuple[str, ...] = ()
    """Files that its process keeps open for as long as it is there: patterns of names, in the folder of a session's log
    or one above it."""
    open_log: bool = False
    """Whether it keeps the log of a session open for as long as it works on it."""
    lock: str = ""
    """The name of the file beside a session's log that names the process it is open in: a regular expression for all of
    it, in which the group `pid` is the number."""
    registry: str = ""
    """The folder above a session's log that has a file for each of its processes, `<pid>.json` with the session's id in
    it, for as long as the process is there."""
    registry_since: tuple[int, ...] = ()
    """The first version that is known to write that registry."""
    words: tuple[str, ...] = ()
    """Names of it that also stand for users and hosts; they tell of nobody and are never redacted."""
    permissions: Permissions | None = None
    """None if its log tells when it asks, or if nobody knows."""
    outputs_beside: bool = False
    """What its logs name as files without a folder lies in the folder of the log."""
    workspace_variable: str | None = None
    """The variable of the environment that names the folder which the files it made are in."""
    standard_returns: bool = False
    """Its returns are of the standard form, and are judged by the rules on that."""
