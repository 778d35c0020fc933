"""`delegtop run` for somebody at a terminal: whatever is typed and shown is as it would be without it.

Every program is tried both ways, typed into a shell as it is and behind `delegtop run --`.
"""

import os
import shlex
import shutil
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.patience import until
from tests.run_shell import GIVE_RETURN, Shell, is_alive
from tests.run_terminal import PROMPT, Terminal

pytestmark = pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs a shell with job control")
Open = Callable[..., Terminal]
Typed = Callable[..., str]

CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH, ESCAPE = b"\x03", b"\x04", b"\x1a", b"\x1c", b"\x1b"


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program} here")


@pytest.fixture
def terminal(shell: Shell) -> Iterator[Open]:
    opened: list[Terminal] = []

    def open_(*line: str) -> Terminal:
        opened.append(Terminal(shell.folder, *line))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()
    until(lambda: not _left(str(shell.log)), "everybody leaving")


def _left(word: str) -> list[str]:
    """The processes in whose command line it stands."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word.encode() in line.read_bytes():
                found.append(line.parent.name)
    return found


@pytest.fixture(params=["plain", "delegtop run"])
def typed(request: pytest.FixtureRequest, shell: Shell) -> Typed:
    """Words of a command line as they are typed: as they are, and behind `delegtop run --`."""

    def line(*words: str) -> str:
        before = [] if request.param == "plain" else [*shell.program, "run", "--log", str(shell.log), "--"]
        return shlex.join([*before, *words])

    return line


@pytest.fixture
def program(shell: Shell) -> Callable[[str], str]:
    """A script in a file: what it prints must not stand in the line that is typed."""

    def written(text: str) -> str:
        path = shell.folder / "program"
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return "./program"

    return written


PYTHON = f"#!{sys.executable}\n"


# Programs with keys


@pytest.fixture
def long_file(shell: Shell) -> Path:
    path = shell.folder / "long.txt"
    path.write_text("".join(f"line {number}.\n" for number in range(1, 501)))
    return path


@needs("less")
@pytest.mark.parametrize("before", ["", "cat long.txt | "], ids=["of a file", "of a pipe"])
def test_less_gets_its_keys(terminal: Open, typed: Typed, long_file: Path, before: str) -> None:
    opened = terminal()
    opened.enter(before + typed("less", *([] if before else [str(long_file)])))
    opened.wait_for("line 1.")
    opened.type("G")
    opened.wait_for("line 500.")
    opened.type("q")
    opened.wait_for(PROMPT)
    opened.enter("echo over $?")
    opened.wait_for("over 0")


@needs("vim")
def test_vim_edits_a_file(shell: Shell, terminal: Open, typed: Typed) -> None:
    opened = terminal()
    opened.enter(typed("vim", "-u", "NONE", "new.txt"))
    opened.wait_for("[New")
    opened.type(b"ihello\rworld" + ESCAPE)
    opened.wait_for("world")
    opened.type(":wq\r")
    opened.wait_for(PROMPT)
    assert (shell.folder / "new.txt").read_text() == "hello\nworld\n"


@needs("top")
def test_top_is_left_with_its_key(terminal: Open, typed: Typed) -> None:
    opened = terminal()
    opened.enter(f"{typed('top')}; echo over $?")
    opened.wait_for("Tasks")
    opened.type("q")
    opened.wait_for("over 0")


@needs("top")
def test_top_in_a_pipeline_is_not_stopped(terminal: Open, typed: Typed) -> None:
    opened = terminal()
    opened.enter(f"{typed('top', '-n1')} | tail -n 30; echo over $?")
    opened.wait_for("PID")
    opened.wait_for("over 0")


@needs("git")
@needs("less")
def test_git_log_has_its_pager(terminal: Open, typed: Typed) -> None:
    opened = terminal()
    who = "-c user.name=a -c user.email=a@example.org"
    opened.enter(f"git init -q . && for i in 1 2 3 4 5 6; do git {who} commit -q --allow-empty -m commit$i; done")
    opened.wait_for(PROMPT)
    opened.enter(f"LESS= {typed('git', '-c', 'core.pager=less', 'log')}; echo over $?")
    opened.wait_for("commit6")
    opened.type("G")
    opened.wait_for("commit1")
    opened.type("q")
    opened.wait_for("over 0")


def test_a_prompt_of_python_hears_ctrl_c_and_ends_with_ctrl_d(terminal: Open, typed: Typed) -> None:
    opened = terminal()
    opened.enter(f"{typed(sys.executable, '-q')}; echo over $?")
    opened.wait_for(">>> ")
    opened.enter("print(6 * 7)")
    opened.wait_for("42")
    opened.wait_for(">>> ")
    opened.type_until(CTRL_C, "KeyboardInterrupt")
    opened.wait_for(">>> ")
    opened.type(CTRL_D)
    opened.wait_for("over 0")


ASK = PYTHON + "from getpass import getpass; print(len(getpass('Password: ')), 'letters', flush=True)"
"""As ssh asks: at /dev/tty, wherever input and output go."""


@pytest.mark.parametrize("around", ["{}", "{} > out; cat out", "{} | cat", "{} < /dev/null 2> /dev/null | cat"])
def test_a_password_is_asked_for_at_the_terminal_and_not_shown(
    terminal: Open, typed: Typed, program: Callable[[str], str], around: str
) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program(ASK))))
    opened.wait_for("Password: ")
    until(lambda: not echoes(opened))
    opened.enter("secret")
    assert b"secret" not in opened.wait_for("6 letters")


def echoes(opened: Terminal) -> bool:
    return bool(opened.modes()[3] & termios.ECHO)


def test_a_shell_in_it_has_job_control(shell: Shell, terminal: Open, typed: Typed) -> None:
    opened = terminal()
    opened.enter(f"{typed('bash', '--norc', '--noprofile', '-i')}; echo over $?")
    opened.wait_for(PROMPT)
    opened.enter("echo $$ > pid; sleep 600")
    until(lambda: _in_foreground(shell.folder / "pid") == "sleep")
    opened.type(CTRL_Z)
    opened.wait_for("Stopped")
    opened.enter("fg")
    until(lambda: _in_foreground(shell.folder / "pid") == "sleep")
    opened.type(CTRL_C)
    opened.wait_for(PROMPT)
    opened.enter("echo code=$?; exit 7")
    opened.wait_for("code=130")
    opened.wait_for("over 7")


def _in_foreground(pid: Path) -> str:
    """The program that has the terminal of the process in that file, and is not stopped."""
    try:
        leader = Path(f"/proc/{int(pid.read_text())}/stat").read_text().rpartition(")")[2].split()[5]
        name, _, rest = Path(f"/proc/{leader}/stat").read_text().rpartition(")")
        return "" if rest.split()[0] == "T" else name.partition("(")[2]
    except (OSError, ValueError):
        return ""


@pytest.mark.parametrize("around", ["{}", "{} | cat", "{} > out; cat out"])
def test_a_question_is_answered_wherever_the_answer_goes(
    terminal: Open, typed: Typed, program: Callable[[str], str], around: str
) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program("printf 'Go on? ' >&2; read answer; echo got=$answer"))))
    opened.wait_for("Go on? ")
    opened.enter("yes")
    opened.wait_for("got=yes")


def test_of_a_pipeline_the_last_gets_its_keys(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    (shell.folder / "pager").write_text("read word; echo page=$word; read key < /dev/tty; echo key=$key")
    opened = terminal()
    opened.enter(f"{typed(program('echo first; exec sleep 600'))} | sh ./pager")
    opened.wait_for("page=first")
    opened.enter("q")
    opened.wait_for("key=q")
    opened.type(CTRL_C)
    opened.wait_for(PROMPT)


def test_who_is_before_it_in_a_pipeline_may_ask_for_a_password(
    terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    opened = terminal()
    opened.enter(f"{program(ASK)} | {typed('cat')}")
    opened.wait_for("Password: ")
    until(lambda: not echoes(opened))
    opened.enter("secret")
    assert b"secret" not in opened.wait_for("6 letters")


# Signals of the keyboard

SLEEP = "echo begun >&2; exec sleep 600"


@pytest.mark.parametrize("around", ["{}", "{} | cat", "{} > out"])
def test_ctrl_c_ends_it_and_the_loop_it_stands_in(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str], around: str
) -> None:
    opened = terminal()
    opened.enter(f"for i in 1 2; do {around.format(typed(program(SLEEP)))}; done")
    opened.wait_for("begun")
    opened.type(CTRL_C)
    assert b"begun" not in opened.wait_for(PROMPT)
    if shell.log.exists():
        assert shell.told() == ["register", "cancel"] or shell.told() == ["register", "heartbeat", "cancel"]
        assert shell.events("cancel")[0]["reason"] == "Ctrl-C"


@pytest.mark.parametrize("around", ["{}", "{} | cat"])
def test_ctrl_c_ends_the_script_it_stands_in(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str], around: str
) -> None:
    (shell.folder / "script.sh").write_text(f"{around.format(typed(program(SLEEP)))}\necho next\n")
    opened = terminal()
    opened.enter("bash script.sh")
    opened.wait_for("begun")
    opened.type(CTRL_C)
    assert b"next" not in opened.wait_for(PROMPT)


COUNT = (
    PYTHON
    + """
import os, signal, sys
heard = []
signal.signal(signal.SIGINT, lambda *_: (heard.append(1), os.write(2, b"there")))
os.write(2, b"begun")
while os.read(0, 100) != b"end\\n": pass
os.write(2, b"heard %d" % len(heard))
"""
)


@pytest.mark.parametrize("around", ["{}", "{} | (trap '' INT; cat)"])
def test_ctrl_c_comes_once(terminal: Open, typed: Typed, program: Callable[[str], str], around: str) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program(COUNT))))
    opened.wait_for("begun")
    opened.type(CTRL_C)
    opened.wait_for("there")
    opened.enter("end")
    opened.wait_for("heard 1")
    opened.wait_for(PROMPT)


def test_a_signal_to_it_in_a_pipeline_reaches_its_command(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    opened = terminal()
    opened.enter(f"(echo $BASHPID > pid; exec {typed(program(COUNT))}) | cat")
    opened.wait_for("begun")
    os.kill(int((shell.folder / "pid").read_text()), signal.SIGINT)
    opened.wait_for("there")
    opened.enter("end")
    opened.wait_for("heard 1")


PATIENT = (
    PYTHON
    + """
import os, time
open("pid", "w").write(str(os.getpid()))
os.write(2, b"begun")
while not os.path.exists("enough"): time.sleep(0.05)
print("the end")
"""
)
"""It starts nobody: a shell that is just about to would leave that half started when it is stopped."""


@pytest.mark.parametrize("around", ["{}", "{} | cat"])
def test_ctrl_z_stops_it_fg_goes_on_and_so_does_bg(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str], around: str
) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program(PATIENT))))
    opened.wait_for("begun")
    pid = int((shell.folder / "pid").read_text())
    opened.type(CTRL_Z)
    opened.wait_for("Stopped")
    until(lambda: state(pid) == "T")
    opened.enter("fg")
    until(lambda: state(pid) != "T")
    opened.type(CTRL_Z)
    opened.wait_for("Stopped")
    (shell.folder / "enough").touch()
    opened.enter("bg; wait; echo code=$?")
    opened.wait_for("the end")
    opened.wait_for("code=0")


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_in_the_background_it_is_stopped_when_it_asks_for_input(
    terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    opened = terminal()
    opened.enter(f"{typed(program('read answer; echo got=$answer'))} &")
    opened.wait_for(PROMPT)
    until(lambda: _says(opened, "jobs", "Stopped"))
    opened.enter("fg")
    opened.wait_for("program")
    opened.enter("yes")
    opened.wait_for("got=yes")


def _says(opened: Terminal, line: str, wanted: str) -> bool:
    opened.enter(f"{line}; echo as'ked'")
    return wanted.encode() in opened.wait_for("asked")


def test_ctrl_backslash_ends_it(shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str]) -> None:
    opened = terminal()
    opened.enter(f"ulimit -c 0; {typed(program(SLEEP))}; echo code=$?")
    opened.wait_for("begun")
    opened.type(CTRL_BACKSLASH)
    opened.wait_for("code=131")
    if shell.log.exists():
        assert shell.told()[-1] == "cancel"


WATCH = (
    PYTHON
    + """
import os, signal
signal.signal(signal.SIGWINCH, lambda *_: os.write(2, b"%r" % (os.get_terminal_size(0),)))
os.write(2, b"begun")
while True: signal.pause()
"""
)


@pytest.mark.parametrize("around", ["{}", "{} | cat", "{} > out"])
def test_a_new_size_is_heard_of(terminal: Open, typed: Typed, program: Callable[[str], str], around: str) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program(WATCH))))
    opened.wait_for("begun")
    opened.resize(101, 33)
    opened.wait_for("columns=101, lines=33")
    opened.type(CTRL_C)
    opened.wait_for(PROMPT)


# What is heard, and how it ends


WHERE = PYTHON + "import os; print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size(), flush=True)"


def test_the_command_has_a_terminal_as_large_and_what_it_prints_is_heard(
    shell: Shell, terminal: Open, program: Callable[[str], str]
) -> None:
    script = shlex.join(shell.arguments(f"{program(WHERE)}; printf 'two\\nlines\\n'; {GIVE_RETURN}"))
    opened = terminal("/bin/sh", "-c", f"stty cols 97 rows 31; {script}; echo over $?")
    opened.wait_for(b"[True, True, True] os.terminal_size(columns=97, lines=31)\r\ntwo\r\nlines\r\n")
    opened.wait_for(b"over 0")
    assert shell.events("return")[0]["return"]["summary"] == "It is done."


@pytest.mark.parametrize(
    ("around", "terminals"),
    [
        ("{} 2>err", "[True, True, False]"),
        ("{} </dev/null", "[False, True, True]"),
        ("{} | cat", "[True, False, True]"),
    ],
)
def test_only_what_is_a_terminal_is_one_for_the_command(
    terminal: Open, typed: Typed, program: Callable[[str], str], around: str, terminals: str
) -> None:
    opened = terminal()
    opened.enter(around.format(typed(program(PYTHON + "import os; print([os.isatty(fd) for fd in (0, 1, 2)])"))))
    opened.wait_for(terminals)


NO_MORE = f"""{PYTHON}
import errno, os, sys
from delegtop.cli import main
def refuse():
    raise OSError(errno.ENOSPC, "no more terminals")
os.openpty = refuse
sys.exit(main(sys.argv[1:]))
"""


def test_where_there_are_no_more_terminals_it_goes_without(
    shell: Shell, terminal: Open, program: Callable[[str], str]
) -> None:
    script = "read answer; echo got=$answer; exit 3"
    opened = terminal()
    opened.enter(shlex.join([program(NO_MORE), *shell.arguments(script)[3:]]) + "; echo code=$?")
    until(lambda: shell.told() == ["register"])
    opened.enter("yes")
    opened.wait_for("got=yes")
    opened.wait_for("code=3")


RAW_KEYS = (
    PYTHON
    + """
import os, sys, termios, tty
before = termios.tcgetattr(1)
tty.setraw(1)
os.write(1, b"ready")
os.write(1, b" key %r" % os.read(0, 1))
os.write(1, b" then %r" % os.read(0, 1))
if sys.argv[1:] == ["tidy"]:
    termios.tcsetattr(1, termios.TCSANOW, before)
"""
)


@pytest.mark.parametrize("manner", ["tidy", "untidy"])
def test_a_program_that_wants_raw_keys_gets_them_and_the_terminal_is_as_before(
    shell: Shell, terminal: Open, program: Callable[[str], str], manner: str
) -> None:
    script = shlex.join(shell.arguments(f"{program(RAW_KEYS)} {manner}"))
    opened = terminal("/bin/sh", "-c", f"stty -a >before; {script}; stty -a >after; echo done")
    opened.wait_for(b"ready")
    opened.type(b"q")
    opened.wait_for(b"key b'q'")
    opened.type(CTRL_C)
    opened.wait_for(b"then b'\\x03'")
    opened.wait_for(b"done")
    assert (shell.folder / "after").read_text() == (shell.folder / "before").read_text()
    assert [each for each in shell.told() if each != "heartbeat"] == ["register", "return"]


@pytest.mark.parametrize("around", ["{}", "{} | cat"])
def test_a_timeout_ends_it_and_all_that_it_started_and_nobody_else(
    patient: Shell, terminal: Open, program: Callable[[str], str], around: str
) -> None:
    # One of them has lost its parent: it is still the command's.
    script = "sh -c 'sleep 600 & echo $! >> pids'; sleep 601 & echo $! >> pids; echo $$ >> pids; exec sleep 602"
    name, pids = program(script), []
    for seconds in ("0.7", "5", "50"):  # more, if that was over before it had begun
        line = around.format(shlex.join(patient.arguments(name, "--timeout", seconds)))
        (patient.folder / "pids").write_text("")
        (patient.folder / "script.sh").write_text(f"sleep 603 & echo other=$!; {line}; echo next; read line; kill %1")
        opened = terminal()
        opened.enter("bash script.sh")
        opened.wait_for("other=")
        other = int(opened.wait_for("\r\n"))
        opened.wait_for("ran out of time")
        opened.wait_for("next")
        assert is_alive(other)
        opened.enter("")
        pids = [int(pid) for pid in (patient.folder / "pids").read_text().split()]
        if len(pids) == 3:
            break
    assert len(pids) == 3
    until(lambda: not any(map(is_alive, pids)))


def test_what_it_leaves_in_the_background_goes_on_printing(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    left = "(until [ -e gate ]; do sleep 0.05; done; echo later) & exit 3"
    opened = terminal()
    opened.enter(f"{typed(program(left))}; echo code=$?")
    opened.wait_for("code=3")
    (shell.folder / "gate").touch()
    opened.wait_for("later")


def test_what_it_leaves_without_an_output_lives_on(
    shell: Shell, terminal: Open, typed: Typed, program: Callable[[str], str]
) -> None:
    left = "(exec >/dev/null 2>&1 </dev/null; until [ -e gate ]; do sleep 0.05; done; echo > done) & exit 3"
    opened = terminal()
    opened.enter(f"{typed(program(left))}; echo code=$?")
    opened.wait_for("code=3")
    (shell.folder / "gate").touch()
    until((shell.folder / "done").exists)


def test_a_terminal_that_is_closed_ends_it(shell: Shell, program: Callable[[str], str]) -> None:
    opened = Terminal(shell.folder)
    opened.enter(shlex.join(shell.arguments(program(SLEEP))))
    opened.wait_for("begun")
    [command] = [event["pid"] for event in shell.events("register")]
    opened.close()
    until(lambda: not is_alive(command))
    until(lambda: shell.told()[-1] == "cancel")


def test_if_it_is_killed_the_command_lives_on_and_the_terminal_is_as_before(
    shell: Shell, terminal: Open, program: Callable[[str], str]
) -> None:
    line = shlex.join(shell.arguments(program(SLEEP)))
    opened = terminal("/bin/sh", "-c", f"stty -a >before; {line}; read line; stty -a >after; echo done")
    opened.wait_for("begun")
    [command] = [event["pid"] for event in shell.events("register")]
    [running] = map(int, Path(f"/proc/{opened.pid}/task/{opened.pid}/children").read_text().split())
    os.kill(running, signal.SIGKILL)
    until(lambda: echoes(opened))
    assert is_alive(command)
    opened.enter("")
    opened.wait_for("done")
    assert (shell.folder / "after").read_text() == (shell.folder / "before").read_text()
    os.kill(command, signal.SIGKILL)
