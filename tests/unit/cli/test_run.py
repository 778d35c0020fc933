"""`delegtop run` with real processes: what passes through it, what it writes, and how it ends things."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE, until
from tests.run_shell import DELEGTOP, GIVE_RETURN, Shell, is_alive

from delegtop.base.clock import sleep
from delegtop.cli import main
from delegtop.delegate import prepare_delegation, validate_return

# What passes through


def test_output_is_byte_identical_and_each_stream_stays_itself(shell: Shell) -> None:
    data = bytes(range(256)) * 3000 + b"no newline at the end"
    ended = shell.run("tee copy; printf '\\377\\000oops' >&2", input=data)
    assert ended.stdout == data
    assert ended.stderr == b"\xff\x00oops"


@pytest.mark.parametrize("code", [0, 1, 3, 42, 255])
def test_the_exit_code_is_passed_through(shell: Shell, code: int) -> None:
    assert shell.run(f"exit {code}").returncode == code


def test_a_command_ended_by_a_signal_gives_the_code_a_shell_would_give(shell: Shell) -> None:
    assert shell.run("kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_output_comes_while_the_command_runs(shell: Shell) -> None:
    running = shell.start("echo first; read line < gate; echo last")
    os.mkfifo(shell.folder / "gate")
    assert running.stdout
    try:
        assert running.stdout.readline() == b"first\n"
    finally:
        (shell.folder / "gate").write_text("go\n")
    assert running.communicate(timeout=PATIENCE)[0] == b"last\n"


def test_a_reader_that_leaves_ends_the_writer_as_in_any_pipeline(shell: Shell) -> None:
    line = f"{DELEGTOP} run --log {shell.log} -- yes | head -n 2"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, timeout=PATIENCE, check=True)
    assert ended.stdout == b"y\ny\n"
    assert ended.stderr == b""


def test_a_reader_that_is_slow_and_made_the_pipe_non_blocking_gets_everything(shell: Shell) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    running = subprocess.Popen(shell.arguments("head -c 1000000 /dev/zero"), stdout=write, cwd=shell.folder)
    os.close(write)
    until(lambda: shell.told() == ["register"])
    sleep(0.2)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == bytes(1_000_000)
    assert running.wait(timeout=PATIENCE) == 0


def test_descriptors_the_shell_opened_reach_the_command(shell: Shell) -> None:
    script = shlex.join(shell.arguments("cat <&3"))
    ended = subprocess.run(
        ["sh", "-c", f"echo through > file; {script} 3<file"], capture_output=True, cwd=shell.folder, check=True
    )
    assert ended.stdout == b"through\n"


def test_options_after_the_dashes_are_the_commands_own(shell: Shell) -> None:
    ended = shell.run('echo "$@"', "--agent", "echoer")
    assert ended.returncode == 0
    line = [sys.executable, "-m", "delegtop", "run", "--log", str(shell.log), "--", "echo", "--help", "--", "--log"]
    assert subprocess.run(line, capture_output=True, check=True).stdout == b"--help -- --log\n"


def test_it_loads_no_library_but_pythons_own(shell: Shell) -> None:
    code = "import sys; from delegtop.cli import main; main(sys.argv[1:]); print(*sorted(sys.modules))"
    line = [sys.executable, "-c", code, "run", "--log", str(shell.log), "--", "true"]
    loaded = subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()
    assert "delegtop.delegate.supervise" in loaded
    assert not {"textual", "rich", "pydantic", "msgspec", "watchfiles"} & set(loaded)


# What is written


def test_the_outermost_is_an_agent_too_by_the_name_it_was_given(
    shell: Shell, capfd: pytest.CaptureFixture[str]
) -> None:
    shell.run("$RUN --agent helper -- true", "--agent", "researcher")
    assert main(["tree", str(shell.log), "--json", "--filter", "agent:researcher"]) == 0
    [row] = json.loads(capfd.readouterr().out)["delegations"]
    assert (row["agent"], row["command"], row["depth"]) == ("researcher", "researcher", 0)
    assert main(["tree", str(shell.log), "--plain", "--no-color"]) == 0
    names = [line.split()[0] for line in capfd.readouterr().out.splitlines() if " completed " in line]
    assert names == ["researcher", "helper"]


def test_the_process_in_the_log_is_that_of_the_command(shell: Shell) -> None:
    ended = shell.run("echo $$")
    assert shell.events("register")[0]["pid"] == int(ended.stdout)


def test_a_command_whose_run_was_killed_is_not_called_lost_while_it_runs(
    shell: Shell, capfd: pytest.CaptureFixture[str]
) -> None:
    running = shell.start("exec sleep 600", "--agent", "orphan", "--registry", "registry.json")
    until(lambda: shell.told() == ["register"])
    pid = shell.events("register")[0]["pid"]
    try:
        running.kill()
        running.communicate(timeout=PATIENCE)
        assert main(["tree", str(shell.log), "--json"]) == 0
        [row] = json.loads(capfd.readouterr().out)["delegations"]
        assert row["state"] == "running"
    finally:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    shell.run("cp registry.json seen.json", "--registry", "registry.json")
    assert len(json.loads((shell.folder / "seen.json").read_bytes())) == 1, "its entry was cleared away"


def test_a_command_is_a_register_and_a_return(shell: Shell) -> None:
    shell.run("true", "--agent", "implement", "--task", "191", "--timeout", "5m")
    register, returned = shell.events()
    assert (register["command"], register["task_number"], register["timeout"]) == ("implement", 191, 300)
    assert (register["delegation_depth"], register["delegation_path"]) == (0, ["orchestrator", "implement"])
    validate_return(returned["return"], register["session_id"])
    assert returned["return"]["status"] == "completed"
    assert "It printed no return" in returned["return"]["summary"]
    assert returned["return"]["metadata"]["made_by"] == "delegtop run"
    assert returned["return"]["metadata"]["agent_type"] == "implement"


def test_a_return_that_was_printed_is_recorded_as_it_is(shell: Shell) -> None:
    ended = shell.run(f"echo working; {GIVE_RETURN}")
    register, returned = shell.events()
    assert returned["return"] == json.loads(ended.stdout.splitlines()[-1])
    assert returned["return"]["metadata"]["session_id"] == register["session_id"]
    assert ended.stderr == b""


def test_a_failure_without_a_return_is_an_error_and_a_failed_return(shell: Shell) -> None:
    shell.run("exit 7")
    _, error, returned = shell.events()
    assert error["error"]["message"] == "sh ended with exit code 7"
    assert returned["return"]["status"] == "failed"
    assert returned["return"]["errors"] == [error["error"]]


def test_a_completed_return_with_a_failing_exit_code_is_both(shell: Shell) -> None:
    assert shell.run(f"{GIVE_RETURN}; exit 4").returncode == 4
    _, error, returned = shell.events()
    assert "exit code 4, although its return says completed" in error["error"]["message"]
    assert returned["return"]["status"] == "completed"


def test_the_return_it_makes_for_a_success_has_no_findings(shell: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.run("true", "--agent", "implement", "--task", "191")
    assert main(["check", str(shell.log), "--json", "--fail-on", "info"]) == 0, capfd.readouterr().out


def test_a_malformed_return_is_recorded_and_reported(shell: Shell) -> None:
    ended = shell.run("""echo '{"status": "done", "summary": "Fine."}'""")
    assert ended.returncode == 0
    assert ended.stderr.startswith(b'delegtop: the return of sh is not valid: status is "done", not completed, ')
    _, error, returned = shell.events()
    assert returned["return"]["status"] == "failed"
    assert returned["return"]["metadata"]["original_return"] == {"status": "done", "summary": "Fine."}
    assert (error["error"]["code"], error["error"]["made_by"]) == ("VALIDATION_FAILED", "delegtop")


def test_a_return_that_says_how_it_ended_stays_what_it_says_whatever_else_is_wrong(shell: Shell) -> None:
    ended = shell.run("""echo '{"status": "completed", "summary": "Fine.", "artifacts": [{"path": "/etc/passwd"}]}'""")
    assert b"artifacts[0].path is" in ended.stderr
    _, returned, error = shell.events()
    assert returned["return"]["status"] == "completed"
    assert error["error"]["code"] == "VALIDATION_FAILED"


def test_gaps_in_a_return_are_left_to_check(shell: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    """A poem for an artifact, a summary of one word, metadata with nothing but the id."""
    poem = {"status": "completed", "summary": "Done", "artifacts": [{"type": "poem", "path": "a.md"}]}
    given = json.dumps(poem | {"metadata": {"session_id": "ID"}})
    ended = shell.run(f"echo '{given}' | sed \"s/ID/$DELEGTOP_SESSION_ID/\"")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert shell.told() == ["register", "return"]
    main(["check", str(shell.log), "--json"])
    rules = {finding["rule"] for finding in json.loads(capfd.readouterr().out)["findings"]}
    assert {"RET-003", "RET-020"} <= rules


def test_words_between_markers_are_a_malformed_return(shell: Shell) -> None:
    ended = shell.run("echo AGENT_OUTPUT_START; echo all fine; echo AGENT_OUTPUT_END")
    assert b"the return must be a JSON object" in ended.stderr
    [returned] = shell.events("return")
    assert returned["return"]["metadata"]["original_return"] == "all fine"
    assert returned["return"]["status"] == "failed"


def test_heartbeats_carry_the_last_line_while_output_flows_and_none_come_in_silence(shell: Shell) -> None:
    long, beaten = "x" * 300, f"until [ $(grep -c heartbeat {shell.log}) = {{}} ]; do sleep 0.1; done"
    script = f"printf '\\033[32mstep one\\033[0m\\n\\n'; {beaten}; echo {long} >&2; {beaten}; sleep 2.2"
    shell.run(script.format(1, 2))
    beats = shell.events("heartbeat")
    assert [beat["activity"] for beat in beats] == ["step one", "x" * 200]


def test_a_command_that_is_not_there_is_127_and_recorded(shell: Shell) -> None:
    line = [sys.executable, "-m", "delegtop", "run", "--log", str(shell.log), "--", "no-such-command-here"]
    ended = subprocess.run(line, capture_output=True, check=False)
    assert ended.returncode == 127
    assert ended.stderr == b"delegtop: no-such-command-here: there is no such command\n"
    assert shell.events("error")[0]["error"]["code"] == "TOOL_UNAVAILABLE"
    assert shell.events("return")[0]["return"]["status"] == "failed"


def test_a_file_that_cannot_be_executed_is_126(shell: Shell) -> None:
    line = [sys.executable, "-m", "delegtop", "run", "--log", str(shell.log), "--", str(shell.folder)]
    assert subprocess.run(line, capture_output=True, check=False).returncode == 126


def test_without_a_place_the_log_is_kept_where_delegtop_looks_for_logs(tmp_path: Path, shell: Shell) -> None:
    line = [sys.executable, "-m", "delegtop", "run", "--", "true"]
    subprocess.run(line, check=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")})
    [log] = (tmp_path / "state" / "delegtop" / "logs").glob("*.jsonl")
    assert json.loads(log.read_bytes().splitlines()[0])["event"] == "register"
    assert not shell.log.exists()


def test_it_is_listed_in_a_registry_while_it_runs(shell: Shell) -> None:
    shell.run("cp registry.json seen.json", "--registry", "registry.json")
    [entry] = json.loads((shell.folder / "seen.json").read_bytes()).values()
    assert entry["status"] == "running"
    assert json.loads((shell.folder / "registry.json").read_bytes()) == {}


@pytest.mark.parametrize("log", ["file/log", "/dev/full", "link"])
def test_a_log_that_cannot_be_written_costs_a_warning_and_not_the_command(shell: Shell, log: str) -> None:
    (shell.folder / "file").write_text("")
    (shell.folder / "link").symlink_to("file")
    line = [sys.executable, "-m", "delegtop", "run", "--log", log, "--", "sh", "-c", "echo working; sleep 1.2; exit 7"]
    ended = subprocess.run(line, capture_output=True, cwd=shell.folder, check=False)
    assert (ended.returncode, ended.stdout) == (7, b"working\n")
    assert ended.stderr.startswith(b"delegtop: the log cannot be written, the command goes on: ")
    assert ended.stderr.count(b"\n") == 1
    assert (shell.folder / "file").read_text() == "", "and nothing is written through a link"


def test_a_registry_that_cannot_be_written_costs_neither_the_command_nor_the_log(shell: Shell) -> None:
    (shell.folder / "file").write_text("")
    ended = shell.run("echo fine", "--registry", "file/registry.json")
    assert (ended.returncode, ended.stdout) == (0, b"fine\n")
    assert ended.stderr.count(b"\n") == 1
    assert shell.told() == ["register", "return"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "run: which command? Put it after two dashes"),
        (["run", "make", "test"], "put two dashes before the command: delegtop run -- make test"),
        (["run", "--timeout", "soon", "--", "true"], "soon is no time above 0"),
        (["run", "--timeout", "0", "--", "true"], "0 is no time above 0"),
        (["run", "--agent", " ", "--", "true"], "an agent needs a name"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capfd.readouterr().err


def test_a_broken_context_in_the_environment_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELEGTOP_CONTEXT", "{}")
    ended = shell.run("touch made")
    assert (ended.returncode, ended.stderr) == (2, b"delegtop: DELEGTOP_CONTEXT: session_id must be text\n")
    assert not (shell.folder / "made").exists()


def test_a_registry_that_is_none_starts_nothing_and_leaves_no_trace(shell: Shell) -> None:
    (shell.folder / "notes.json").write_text("[]")
    ended = shell.run("touch made", "--registry", "notes.json")
    assert ended.returncode == 2
    assert b"notes.json: is no registry" in ended.stderr
    assert not (shell.folder / "made").exists()
    assert shell.told() == []


def test_a_log_that_is_lost_on_the_way_costs_the_command_nothing(shell: Shell) -> None:
    ended = shell.run(f"rm {shell.log}; mkdir {shell.log}; echo done", "--agent", "x")
    assert (ended.returncode, ended.stdout) == (0, b"done\n")
    assert ended.stderr.startswith(b"delegtop: the log cannot be written, the command goes on: ")
    assert ended.stderr.count(b"\n") == 1


# Nesting


def test_nested_runs_make_one_tree(shell: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.run(
        '$RUN --agent executor -- sh -c "$RUN --agent implementer -- true"', "--agent", "implement", "--task", "9"
    )
    registers = shell.events("register")
    assert [register["delegation_path"][-1] for register in registers] == ["implement", "executor", "implementer"]
    assert [register["delegation_depth"] for register in registers] == [0, 1, 2]
    assert [register.get("parent_session_id") for register in registers[1:]] == [
        register["session_id"] for register in registers[:-1]
    ]
    assert {register["task_number"] for register in registers} == {9}
    assert main(["tree", str(shell.log), "--plain", "--no-color"]) == 0
    shown = [line for line in capfd.readouterr().out.splitlines() if " completed " in line]
    assert [len(line) - len(line.lstrip()) for line in shown] == sorted({len(x) - len(x.lstrip()) for x in shown})
    assert [line.split()[0] for line in shown] == ["/implement", "executor", "implementer"]


def test_the_return_of_a_nested_run_is_not_taken_for_the_outer_ones(shell: Shell) -> None:
    ended = shell.run(f"$RUN --agent inner -- sh -c '{GIVE_RETURN}'", "--agent", "outer")
    assert ended.stderr == b""
    inner, outer = shell.events("return")
    assert inner["return"]["summary"] == "It is done."
    assert "outer ended with exit code 0. It printed no return" in outer["return"]["summary"]


def test_a_cycle_is_refused_before_anything_starts(shell: Shell) -> None:
    ended = shell.run("$RUN --agent planner -- touch made; echo $?", "--agent", "planner")
    assert ended.stdout == b"125\n"
    assert ended.stderr.startswith(b"delegtop: CYCLE_DETECTED: orchestrator \xe2\x86\x92 planner \xe2\x86\x92 planner")
    assert not (shell.folder / "made").exists()
    [error] = shell.events("error")
    assert error["error"]["code"] == "CYCLE_DETECTED"
    assert [register["session_id"] for register in shell.events("register")] == [error["session_id"]]


def test_the_fifth_level_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    context = prepare_delegation(None, "a")
    for name in "bcd":
        context = prepare_delegation(context, name)
    for name, value in context.to_environment().items():
        monkeypatch.setenv(name, value)
    ended = shell.run("touch made")
    assert ended.returncode == 125
    assert ended.stderr == b"delegtop: MAX_DEPTH_EXCEEDED: depth 4 is deeper than the limit of 3\n"
    assert not (shell.folder / "made").exists()
    assert [event["session_id"] for event in shell.events("error")] == [context.session_id]


def test_names_nobody_gave_make_no_cycle(shell: Shell) -> None:
    shell.run("$RUN -- sh -c true")
    assert [register["delegation_path"] for register in shell.events("register")] == [
        ["orchestrator", "sh"],
        ["orchestrator", "sh", "sh-2"],
    ]


# Ends


def test_a_timeout_ends_the_command_and_its_grandchildren(patient: Shell) -> None:
    # Nobody ignores the first signal, so nobody waits for the second: that would take longer than the test may.
    ended = patient.run_out_of_time("sleep 600 & one=$!; sleep 601 >/dev/null 2>&1 & echo $one $!; wait")
    assert ended.returncode == 124
    assert re.search(rb"ran out of time after [\d.]+s", ended.stderr)
    assert len(ended.stdout.split()) == 2
    assert not any(is_alive(int(pid)) for pid in ended.stdout.split())
    assert [told for told in patient.told() if told != "heartbeat"] == ["register", "error", "timeout"]
    assert patient.events("error")[0]["error"]["code"] == "TIMEOUT"


def test_a_timeout_kills_what_does_not_listen(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    # At the deepest level the grace is shortest, so this test is too.
    context = prepare_delegation(prepare_delegation(prepare_delegation(None, "a"), "b"), "c")
    for name, value in context.to_environment().items():
        monkeypatch.setenv(name, value)
    ended = shell.run_out_of_time("trap '' TERM; echo $$; while :; do sleep 1; done")
    assert ended.returncode == 124
    until(lambda: not is_alive(int(ended.stdout)))


def test_a_timeout_reaches_through_nested_runs(patient: Shell) -> None:
    ended = patient.run_out_of_time("$RUN --agent inner -- sh -c 'echo $$; sleep 600'", "--agent", "outer")
    assert ended.returncode == 124
    assert not is_alive(int(ended.stdout))
    outer, inner = (register["session_id"] for register in patient.events("register"))
    assert {event["session_id"]: event["event"] for event in patient.events("timeout", "cancel")} == {
        inner: "cancel",
        outer: "timeout",
    }


def test_partial_artifacts_are_looked_for_after_a_timeout(patient: Shell) -> None:
    (patient.folder / "old.md").write_text("")
    os.utime(patient.folder / "old.md", (1, 1))
    script = """echo x > plan.md; echo y > named.md
    echo '{"status":"partial","summary":"So far.","artifacts":[{"path":"named.md"},{"path":"never.md"}]}'; sleep 600"""
    patient.run_out_of_time(script, "--artifacts", "*.md")
    [timeout] = patient.events("timeout")
    assert timeout["artifacts"] == [{"path": "named.md"}, {"type": "plan", "path": "plan.md"}]


def test_a_good_return_given_at_the_last_moment_is_recorded_beside_the_timeout(patient: Shell) -> None:
    script = f"trap '{GIVE_RETURN}; exit 0' TERM; echo working; sleep 600 & wait"
    assert patient.run_out_of_time(script).returncode == 124
    assert [told for told in patient.told() if told != "heartbeat"] == ["register", "error", "timeout", "return"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "ended by SIGTERM"), (signal.SIGHUP, "ended by SIGHUP")],
)
def test_a_signal_is_passed_on_and_recorded_as_cancel(shell: Shell, number: signal.Signals, reason: str) -> None:
    # exec: a shell in the background of another would ignore Ctrl-C, sleep does not
    running = shell.start("echo $$; exec sleep 60")
    assert running.stdout
    pid = int(running.stdout.readline())
    running.send_signal(number)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + number
    assert not is_alive(pid)
    assert shell.told() == ["register", "cancel"]
    assert shell.events("cancel")[0]["reason"] == reason


def test_a_command_that_somebody_ends_by_its_own_process_is_a_cancel(shell: Shell) -> None:
    running = shell.start("sleep 600 >/dev/null 2>&1 & echo $!; wait")
    assert running.stdout
    child = int(running.stdout.readline())
    os.kill(shell.events("register")[0]["pid"], signal.SIGTERM)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + signal.SIGTERM
    assert shell.told() == ["register", "cancel"]
    until(lambda: not is_alive(child))


def test_sigquit_is_passed_on_and_recorded_as_cancel(shell: Shell) -> None:
    running = shell.start("echo $$; exec sleep 600")
    assert running.stdout
    pid = int(running.stdout.readline())
    running.send_signal(signal.SIGQUIT)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + signal.SIGQUIT
    assert not is_alive(pid)
    assert shell.events("cancel")[0]["reason"] == "ended by SIGQUIT"


@pytest.mark.parametrize("name", ["USR1", "USR2", "WINCH", "ALRM", "PROF", "VTALRM", "IO"])
def test_other_signals_reach_the_command_and_end_nothing_by_themselves(shell: Shell, name: str) -> None:
    script = f"trap 'echo heard' {name}; echo ready; until [ -e enough ]; do sleep 0.05; done; echo over"
    running = shell.start(script)
    assert running.stdout
    assert running.stdout.readline() == b"ready\n"
    running.send_signal(signal.Signals[f"SIG{name}"])
    assert running.stdout.readline() == b"heard\n"
    (shell.folder / "enough").touch()
    assert running.communicate(timeout=PATIENCE)[0] == b"over\n"
    assert running.returncode == 0
    assert [told for told in shell.told() if told != "heartbeat"] == ["register", "return"]


@pytest.mark.parametrize("name", ["USR1", "USR2", "ALRM"])
def test_a_signal_that_asks_for_no_end_reaches_only_the_command_itself(shell: Shell, name: str) -> None:
    """As without `run`: what the command has started may not know the signal, and would die of it."""
    script = (
        f"heard=0; trap 'heard=$((heard + 1)); echo heard' {name}; sleep 600 & started=$!; echo $started; "
        "until [ $heard = 2 ]; do sleep 0.05; done; kill $started && echo over"
    )
    running = shell.start(script)
    assert running.stdout
    assert running.stdout.readline()
    running.send_signal(signal.Signals[f"SIG{name}"])
    assert running.stdout.readline() == b"heard\n"
    running.send_signal(signal.Signals[f"SIG{name}"])
    assert running.communicate(timeout=PATIENCE)[0] == b"heard\nover\n"
    assert running.returncode == 0


def test_a_signal_that_ends_the_command_ends_the_run_with_its_code(shell: Shell) -> None:
    running = shell.start("echo $$; exec sleep 600")
    assert running.stdout
    pid = int(running.stdout.readline())
    running.send_signal(signal.SIGUSR1)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + signal.SIGUSR1
    assert not is_alive(pid)
    assert shell.events("return")[0]["return"]["status"] == "failed"


@pytest.mark.parametrize("left", ["sh -c", "setsid sh -c"])
def test_what_a_command_leaves_behind_holds_up_nobody_and_goes_on_printing(shell: Shell, left: str) -> None:
    script = f"{left} 'echo $$; until [ -e gate ]; do sleep 0.05; done; echo late; echo later >&2' & exit 3"
    with (shell.folder / "out").open("wb") as out, (shell.folder / "err").open("wb") as err:
        line = shell.arguments(script, "--timeout", "600")
        ended = subprocess.run(line, stdout=out, stderr=err, cwd=shell.folder, timeout=PATIENCE, check=False)
    assert ended.returncode == 3, "it is not the timeout, nor is it waited for"
    assert shell.told() == ["register", "error", "return"]
    (shell.folder / "gate").touch()
    until(lambda: (shell.folder / "out").read_bytes().endswith(b"late\n"))
    until(lambda: (shell.folder / "err").read_bytes() == b"later\n")
