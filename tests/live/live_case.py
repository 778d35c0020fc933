"""One way to hang, or to be slow and healthy: what is run, how it is started, and what an honest observer says."""

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import NamedTuple


class Truth(Enum):
    """What is really so, which decides what may be said."""

    HUNG = "hung"
    """It waits for what cannot come by itself: an alarm, certain, with its cause."""
    STUCK = "stuck"
    """It waits for what nobody in sight will do, though somebody could: an alarm, at least likely, with its cause."""
    FOR_EVER = "sleeps for ever"
    """A timer without an end, or a program that ends only when it is told to: an alarm, with its cause."""
    NETWORK = "waits for the network"
    """Whether the other side will answer is not to be seen from here: named, at most likely."""
    GONE = "gone"
    """The tool's process has ended, and no result came: an alarm, certain."""
    SLEEPS = "sleeps"
    """A timer that runs out: no alarm; how long, where the command line tells."""
    WORKS = "works"
    """Something moves, however little: no alarm."""
    UNSURE = "unsure"
    """Whoever looks for half a minute cannot tell it from a healthy one: nobody may call it certainly hung."""


class Launch(StrEnum):
    """How agent programs start the command of a call."""

    SHELL = "shell"
    """`bash -c "source … && eval 'COMMAND' \\< /dev/null && pwd …"`, output to a file: Claude Code."""
    REPLACED = "replaced"
    """`bash -lc COMMAND`, which a simple command replaces; output to pipes, read to their end: Codex, OpenCode."""
    TERMINAL = "terminal"
    """The same on a terminal of its own, of which the session has the other side: Codex, Gemini."""
    OPEN_INPUT = "open input"
    """The same with a pipe as standard input that the session neither writes to nor closes."""
    NOT_STARTED = "not started"
    """The call stands in the log, and nothing runs yet: somebody has to allow it."""
    NO_CALL = "no call"
    """Nothing is called: the model was asked."""


class Case(NamedTuple):
    name: str
    command: str
    """In a folder of its own."""
    truth: Truth
    says: tuple[str, ...] = ()
    """Patterns that the sentence must match, each; none for what need not be named. `{beside}` is the number of the
    process beside it."""
    proc: str = ""
    """What tells it from its healthy look-alikes."""
    plain: Truth | None = None
    """What it is for whoever is not told that, as by psutil, if that is another truth."""
    launch: Launch = Launch.SHELL
    files: Mapping[str, str] = {}
    """What lies in the folder before it starts."""
    prepare: str = ""
    """What is done there before, in a shell."""
    beside: str = ""
    """A process outside of the session, started before; it makes a file `ready` when it is."""
    begins: str = ""
    """A file that it makes once it does what it is there for, if it takes long to start; nobody looks before that."""
    late: int = 0
    """So many looks pass before it does what it is there for, and these are to be seen."""
    undo: str = ""
    """What is done there after all of its processes have ended, in a shell."""
    needs: tuple[str, ...] = ()
    """Programs that not every machine has."""
    typed: tuple[str, ...] = ()
    """Lines that come in on the terminal, one every other second, over and over."""
    returns: bool = True
    """Whether the session writes down the result when the tool has ended."""
    stays: bool = True
    """Whether the process that the session started is there to the end."""
    hook: str = ""
    """What the session runs when the tool has ended, before it writes down the result."""
    again: bool = False
    """The same is called again as soon as the result is there."""
    alone: bool = False
    """It has a session of its own: what it does, it does to all of it."""
    if_works: str = ""
    """A command that fails where the case cannot be run."""
    busy: bool = False
    """It takes as much of a core as it gets: few at a time."""
    default: bool = False
    """Part of the default run."""
