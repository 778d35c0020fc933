"""The command line: which command runs, what it prints where, and what it returns."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from delegtop import __version__
from delegtop.base.paths import logs_folder
from delegtop.cli import diagnostics, main, output
from delegtop.cli.command_table import COMMANDS
from delegtop.cli.exit_codes import Exit
from delegtop.cli.progress import Progress, bar
from delegtop.observation.source_discovery import find_sources
from delegtop.settings import FIELDS, Settings, load, toml

AT = "2025-12-26T10:30:00Z"


def line(event: str, at: str, session: str, **more: object) -> str:
    record = {"event": event, "at": f"2025-12-26T{at}Z", "session_id": f"sess_20251226_{session}", **more}
    return json.dumps(record) + "\n"


def register(at: str, session: str, *path: str, **more: object) -> str:
    """A delegation of the last agent on the path."""
    whole = ["orchestrator", *path]
    return line("register", at, session, delegation_depth=len(path) - 1, delegation_path=whole, **more)


HEALTHY = (
    register("10:00:00", "aaa111", "implement", command="implement", task_number=191, timeout=7200)
    + register(
        *("10:01:00", "bbb222", "implement", "implementer"),
        parent_session_id="sess_20251226_aaa111",
        command="implement",
        subagent="implementer",
        timeout=3600,
    )
    + line("heartbeat", "10:29:00", "bbb222", activity="bash: lake build")
)
OVERDUE = register("09:00:00", "ccc333", "plan", "planner", subagent="planner", timeout=60) + line(
    "heartbeat", "10:29:30", "ccc333", activity="thinking"
)
FAILED = register("10:00:00", "ddd444", "research", "researcher", subagent="researcher", timeout=3600) + line(
    "return", "10:05:00", "ddd444", **{"return": {"status": "failed", "summary": "no network"}}
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def log() -> None:
    Path("run.jsonl").write_text(HEALTHY)


def program(*arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """The real program, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "delegtop", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environ},
    )


class TestFindingTheCommand:
    @pytest.mark.parametrize("flag", ["--version", "-V"])
    def test_the_version_is_printed(self, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([flag]) == Exit.OK
        assert capsys.readouterr().out == f"delegtop {__version__}\n"

    def test_help_lists_every_command_and_exit_code(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == Exit.OK
        shown = capsys.readouterr().out
        assert all(f"\n  {name} " in shown for name in COMMANDS)
        assert all(f"\n  {code.value} " in shown for code in Exit)

    @pytest.mark.parametrize("name", COMMANDS)
    def test_help_is_a_command_too(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([name, "--help"]) == Exit.OK
        told = capsys.readouterr().out
        assert main(["help", name]) == Exit.OK
        assert capsys.readouterr().out == told

    def test_help_alone_is_the_overview(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == Exit.OK
        told = capsys.readouterr().out
        assert main(["help"]) == Exit.OK
        assert capsys.readouterr().out == told

    def test_options_may_stand_before_the_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("tree").write_text('theme = "safe"')
        assert main(["--config", "tree", "config", "show"]) == Exit.OK
        assert 'theme = "safe"' in capsys.readouterr().out

    @pytest.mark.usefixtures("log")
    def test_options_and_sources_may_be_mixed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "run.jsonl", "--json", "run.jsonl", "--at", AT]) == Exit.OK
        assert json.loads(capsys.readouterr().out)["schema_version"] == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["tre"], "tre is neither a command nor a file; did you mean tree?"),
            (["frobnicate"], "frobnicate is neither a command nor a file; the commands are tree, "),
            (["--completion", "bash"], "no such option --completion; see delegtop --help"),
            (["--them", "bash"], "no such option --them; did you mean --theme?"),
            (["--jsno", "tre"], "tre is neither a command nor a file; did you mean tree?"),
            (["help", "tre"], "tre is no command; did you mean tree?"),
            (["wait"], "the following arguments are required: ID (see delegtop wait --help)"),
            (["stop", "--json"], "the following arguments are required: ID (see delegtop stop --help)"),
            (["--bogus"], "no such option --bogus; see delegtop --help"),
            (["tree", "--theme", "dark"], "no such option --theme; see delegtop tree --help"),
            (["tree", "x", "--jsno"], "no such option --jsno; did you mean --json?"),
            (["tree", "x", "--zzz=1"], "no such option --zzz; see delegtop tree --help"),
            (["tree", "x", "--at", "soon"], "--at soon: that is no time; write it like 2025-12-26T10:00:00Z, or now"),
            (["tree", "x", "--filter", "stat:x"], "--filter: no key is named stat; did you mean state?"),
            (["tree", "x", "--format", "sesion-log"], "--format sesion-log: no such format; did you mean session-log?"),
            (["tree", "x", "--sort", "size"], "--sort: 'size' will not do"),
            (["tree", "x", "--config", "nowhere.toml"], "nowhere.toml: cannot be read: No such file"),
            (["config", "shw"], "argument path|show|default: invalid choice: 'shw'"),
            (["demo", "--speed", "0"], "argument --speed: 0 is no speed"),
            (["demo", "--write", "/dev/null/x"], "--write /dev/null/x: cannot be written: Not a directory"),
            (
                [],
                "the dashboard needs a terminal, and standard output is none; delegtop tree SOURCE prints",
            ),
            (["demo"], "the dashboard needs a terminal"),
            (["./tree"], "the dashboard needs a terminal"),
            (["replay", "x"], "the dashboard needs a terminal, and standard output is none; delegtop tree SOURCE --at"),
            (["replay"], "the following arguments are required: SOURCE"),
            (["replay", "x", "--speed", "2000"], "argument --speed: 2000 is no speed; give a number from 0.1 to 1000"),
            (["\x1b[31m.jsonl", "--zz"], "no such option --zz"),
        ],
    )
    def test_a_wrong_command_line_is_one_sentence_and_exit_2(
        self, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(arguments) == Exit.USAGE
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"delegtop: {message}")
        assert told.err.count("\n") == 1

    @pytest.mark.parametrize(("arguments", "instead"), [(["x.jsonl"], "tree SOURCE"), (["demo"], "demo --write DIR")])
    def test_a_terminal_that_cannot_move_its_cursor_is_told_what_it_can_show(
        self,
        arguments: list[str],
        instead: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr(output, "is_terminal", lambda: True)
        monkeypatch.setenv("TERM", "dumb")
        assert main(arguments) == Exit.USAGE
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("delegtop: this terminal cannot show the dashboard (TERM=dumb); delegtop " + instead)
        assert told.err.endswith("delegtop watch prints a line for each change\n")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--from", "noon"], "--from noon: that is no time; write it like 2025-12-26T10:00:00Z, 10:41 or 20m"),
            (["-"], "a replay goes back in what it reads, so it takes files, not standard input"),
        ],
    )
    def test_a_replay_that_cannot_be_is_said_before_the_screen_opens(
        self, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(output, "is_terminal", lambda: True)
        monkeypatch.setenv("TERM", "xterm-256color")
        assert main(["replay", "run.jsonl", *arguments]) == Exit.USAGE
        assert capsys.readouterr().err == f"delegtop: {message}\n"

    def test_a_keyboard_is_no_log(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(output, "is_terminal", lambda: True)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        assert main(["-"]) == Exit.USAGE
        assert capsys.readouterr().err == "delegtop: standard input is the keyboard; pipe a log into delegtop -\n"

    def test_foreign_text_in_an_error_is_made_harmless(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "x", "--at", "\x1b]52;c;x\x07\n"]) == Exit.USAGE
        assert capsys.readouterr().err.rstrip("\n").isprintable()

    def test_ctrl_c_ends_with_130(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def interrupted(_arguments: object) -> int:
            raise KeyboardInterrupt

        monkeypatch.setattr("delegtop.cli.tree.run", interrupted)
        assert main(["tree", "x"]) == Exit.INTERRUPTED
        assert capsys.readouterr() == ("", "")

    def test_ctrl_c_amid_the_making_of_a_class_does_so_too(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Interrupted:
            def __set_name__(self, _owner: type, _name: str) -> None:
                raise KeyboardInterrupt

        monkeypatch.setattr("delegtop.cli.tree.run", lambda _: type("Made", (), {"part": Interrupted()}))
        assert main(["tree", "x"]) == Exit.INTERRUPTED
        assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("log")
class TestTree:
    def test_the_tree_is_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "run.jsonl", "--at", AT]) == Exit.OK
        told = capsys.readouterr()
        assert told.err == ""
        assert told.out.splitlines() == [
            "2 delegations at 2025-12-26T10:30:00Z: 1 running, 1 waiting.",
            "",
            "DELEGATION      STATE               DEPTH      LEFT       AGE     QUIET  DOING",
            "/implement 191  ◐ waiting               0     1h30m     30:00     30:00  on implementer",
            "└─ implementer  ▶ running               1       31m     29:00      1:00  bash: lake build",
        ]

    @pytest.mark.usefixtures("log")
    def test_how_well_the_sources_are_read_is_printed_if_it_is_asked_for(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["tree", "run.jsonl", "--at", AT, "--sources"]) == Exit.OK
        assert capsys.readouterr().out.splitlines()[-3:] == ["", "Sources", "  run.jsonl: session-log, 3 records"]

    def test_what_the_sources_disagree_about_is_counted_and_printed_if_it_is_asked_for(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sample = [str(project / "sample_logs" / "09_two_books"), "--at", "2026-03-12T12:00:00Z"]
        assert main(["tree", *sample]) == Exit.OK
        *_, last = capsys.readouterr().out.splitlines()
        assert last == "3 claims are contradicted by another source: --claims tells"
        assert main(["tree", *sample, "--claims"]) == Exit.OK
        shown = capsys.readouterr().out
        assert len(shown.partition("\nClaims that disagree\n")[2].splitlines()) == 3
        assert "--claims" not in shown

    def test_standard_input_is_a_source(self) -> None:
        told = program("tree", "-", "--at", AT, stdin=HEALTHY)
        assert told.returncode == Exit.OK, told.stderr
        assert "2 delegations" in told.stdout

    def test_a_last_line_without_a_newline_counts(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("run.jsonl").write_text(HEALTHY.rstrip("\n"))
        assert main(["tree", "run.jsonl", "--at", AT]) == Exit.OK
        assert "bash: lake build" in capsys.readouterr().out

    def test_naive_times_follow_the_setting(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "run.jsonl", "--at", "2025-12-26T10:30:00"]) == Exit.OK
        assert "at 2025-12-26T10:30:00Z" in capsys.readouterr().out
        told = program(
            "tree", "run.jsonl", "--at", "2025-12-26T10:30:00", TZ="Europe/Berlin", DELEGTOP_NAIVE_TIMES="local"
        )
        assert "at 2025-12-26T09:30:00Z" in told.stdout

    def test_a_filter_shows_matches_and_what_is_above(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("run.jsonl").write_text(HEALTHY + OVERDUE)
        assert main(["tree", "run.jsonl", "--at", AT, "-f", "agent:impl*"]) == Exit.OK
        shown = capsys.readouterr().out
        assert shown.startswith("1 of 3 delegations match")
        assert "/implement 191" in shown
        assert "planner" not in shown

    def test_sorting_and_settings_reach_the_tree(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("run.jsonl").write_text(FAILED + HEALTHY + OVERDUE)
        Path("delegtop.toml").write_text("ascii = true")
        assert main(["tree", "run.jsonl", "--at", AT, "--sort", "problems"]) == Exit.OK
        shown = capsys.readouterr().out.splitlines()
        assert [row.split()[0] for row in shown[3:7]] == ["planner", "researcher", "/implement", "`-"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (HEALTHY, Exit.OK),
            (HEALTHY + FAILED, Exit.FINDINGS),
            (HEALTHY + FAILED + OVERDUE, Exit.STUCK),
        ],
        ids=["healthy", "failed", "overdue"],
    )
    def test_the_exit_code_tells_the_worst(self, text: str, expected: Exit) -> None:
        Path("run.jsonl").write_text(text)
        assert main(["tree", "run.jsonl", "--at", AT]) == Exit.OK
        assert main(["tree", "run.jsonl", "--at", AT, "--exit-code"]) == expected
        assert main(["tree", "run.jsonl", "--at", AT, "--exit-code", "--filter", "agent:implementer"]) == Exit.OK

    def test_a_missing_source_is_named_and_the_rest_is_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "run.jsonl", "nowhere.jsonl", "--at", AT, "--exit-code"]) == Exit.UNREADABLE
        told = capsys.readouterr()
        assert "2 delegations" in told.out
        assert told.err.startswith("delegtop: nowhere.jsonl: ")
        assert told.err.count("\n") == 1

    def test_a_glob_is_a_source_and_one_without_a_match_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "*.jsonl", "--at", AT]) == Exit.OK
        assert "2 delegations" in capsys.readouterr().out
        assert main(["tree", "*.nothing", "run.jsonl", "--at", AT]) == Exit.UNREADABLE
        told = capsys.readouterr()
        assert told.err == "delegtop: *.nothing: no file matches\n"
        assert "2 delegations" in told.out

    def test_a_pipe_named_as_a_source_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        os.mkfifo("pipe.jsonl")
        assert main(["tree", "pipe.jsonl", "--at", AT]) == Exit.UNREADABLE
        assert "delegtop: pipe.jsonl: a pipe" in capsys.readouterr().err

    def test_a_file_of_no_known_format_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("notes.txt").write_text("dear diary\n")
        assert main(["tree", "notes.txt", "run.jsonl", "--at", AT]) == Exit.UNREADABLE
        told = capsys.readouterr()
        assert "delegtop: notes.txt: " in told.err
        assert "2 delegations" in told.out

    def test_other_files_in_a_folder_are_no_harm(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("logs").mkdir()
        Path("run.jsonl").rename("logs/run.jsonl")
        Path("logs/notes.txt").write_text("dear diary\n")
        assert main(["tree", "logs", "--at", AT]) == Exit.OK
        told = capsys.readouterr()
        assert told.err == ""
        assert "2 delegations" in told.out

    def test_unreadable_lines_are_counted_with_their_place(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("run.jsonl").write_text(HEALTHY + "{oops\n")
        assert main(["tree", "run.jsonl", "--at", AT]) == Exit.OK
        *_, last = capsys.readouterr().out.splitlines()
        assert last == "1 source cannot be read whole (run.jsonl:4: not JSON: {oops): --sources tells"
        assert main(["tree", "run.jsonl", "--at", AT, "--sources"]) == Exit.OK
        shown = capsys.readouterr().out
        assert "1 unreadable\n    1 not JSON\n" in shown
        assert "run.jsonl:4: " in shown

    def test_a_reader_that_leaves_early_is_no_error(self) -> None:
        Path("run.jsonl").write_text(
            "".join(register("10:00:00", f"{n:06}", "plan", "a" * 60, subagent="a" * 60) for n in range(3_000))
        )
        for extra in ("--json", "--plain"):
            command = f"'{sys.executable}' -m delegtop tree run.jsonl --at {AT} {extra} | head -1"
            told = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
            assert (told.returncode, told.stderr) == (0, "")

    @pytest.mark.parametrize(
        ("where", "code", "said"),
        [
            (">&-", Exit.OK, ""),
            (">/dev/full", Exit.USAGE, "delegtop: standard output cannot be written: No space left"),
        ],
    )
    def test_an_output_that_cannot_be_written_ends_in_a_sentence(self, where: str, code: int, said: str) -> None:
        command = f"'{sys.executable}' -m delegtop tree run.jsonl --at {AT} {where}"
        told = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert told.returncode == code
        assert told.stderr.startswith(said)
        assert "Traceback" not in told.stderr

    def test_an_output_that_knows_no_unicode_gets_ascii(self) -> None:
        told = program("tree", "run.jsonl", "--at", AT, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert told.returncode == Exit.OK, told.stderr
        assert "`- implementer" in told.stdout

    def test_only_a_terminal_gets_colour(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(output, "is_terminal", lambda: True)
        monkeypatch.setenv("COLUMNS", "90")

        def coloured(*extra: str) -> bool:
            stream = io.StringIO()
            monkeypatch.setattr(sys, "stdout", stream)
            assert main(["tree", "run.jsonl", "--at", AT, *extra]) == Exit.OK
            return "\x1b[" in stream.getvalue()

        assert coloured()
        assert not coloured("--no-color")
        assert not coloured("--plain")
        monkeypatch.setenv("NO_COLOR", "")
        assert coloured()
        monkeypatch.setenv("NO_COLOR", "1")
        assert not coloured()


class TestConfig:
    def test_path_names_the_files(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("delegtop.toml").write_text("")
        assert main(["config", "path"]) == Exit.OK
        user, project = capsys.readouterr().out.splitlines()
        assert user.endswith("delegtop/config.toml  does not exist")
        assert project == "delegtop.toml  exists"

    def test_show_says_where_every_value_came_from(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("delegtop.toml").write_text('theme = "light"')
        monkeypatch.setenv("DELEGTOP_SILENT_AFTER", "90")
        assert main(["config", "show", "--no-mouse"]) == Exit.OK
        shown = {
            left.split(" = ")[0]: (left.split(" = ")[1].strip(), origin)
            for left, origin in (row.rsplit("# ", 1) for row in capsys.readouterr().out.splitlines())
        }
        assert set(shown) == set(FIELDS)
        assert shown["theme"] == ('"light"', "delegtop.toml")
        assert shown["silent_after"] == ('"90s"', "DELEGTOP_SILENT_AFTER")
        assert shown["mouse"] == ("false", "--no-mouse")
        assert shown["sort"] == ('"problems"', "default")

    def test_default_prints_a_file_that_loads_back(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["config", "default"]) == Exit.OK
        Path("mine.toml").write_text(capsys.readouterr().out)
        settings, origins = load(Path("mine.toml"))
        assert settings == Settings()
        assert set(origins.values()) == {"mine.toml"}

    def test_a_wrong_key_is_named_with_its_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("delegtop.toml").write_text("\nthmee = 1")
        assert main(["config", "show"]) == Exit.USAGE
        assert capsys.readouterr().err == "delegtop: delegtop.toml:2: thmee: no such setting; did you mean theme?\n"


class TestDemo:
    def test_write_only_writes(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["demo", "--write", "made", "--seed", "7"]) == Exit.OK
        paths = capsys.readouterr().out.splitlines()
        assert len(paths) == 2
        assert all(Path(path).stat().st_size for path in paths)
        assert main(["tree", "made"]) == Exit.OK
        assert "DELEGATION" in capsys.readouterr().out


class TestPlaces:
    @pytest.mark.usefixtures("log")
    def test_logs_here_and_folders_of_logs_below_are_found(self) -> None:
        Path("logs/deep").mkdir(parents=True)
        Path("logs/deep/a.jsonl").write_text(HEALTHY)
        Path("logs/deep/b.jsonl").write_text(HEALTHY)
        Path("package.json").write_text('{"name": "x", "version": "1"}')
        Path("notes.log").write_text("hello\n")
        assert find_sources(Path()) == ["run.jsonl", "logs/deep"]

    def test_known_places_are_looked_into_and_others_passed_over(self) -> None:
        for folder in (".opencode/logs", ".delegtop", ".git", "node_modules/x", "a/b/c/d/e"):
            Path(folder).mkdir(parents=True)
            (Path(folder) / "a.jsonl").write_text(HEALTHY)
        logs_folder().mkdir(parents=True)
        (logs_folder() / "x.jsonl").write_text(HEALTHY)
        assert find_sources(Path()) == [".opencode/logs", ".delegtop", str(logs_folder())]

    def test_what_the_settings_exclude_is_not_looked_at(self) -> None:
        for path in ("private.jsonl", "sub/a.jsonl", "kept/b.jsonl"):
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_text(HEALTHY)
        assert find_sources(Path(), ["private*", "*/sub/*"]) == ["kept"]

    @pytest.mark.parametrize("name", ["auth.json", "mcp-auth.json", "Credentials.json", "oauth_creds.json"])
    def test_credentials_are_never_opened_to_see_whether_they_are_logs(self, name: str) -> None:
        Path(name).write_text(HEALTHY)
        assert find_sources(Path()) == []

    def test_nothing_is_found_where_nothing_is(self) -> None:
        Path("empty.jsonl").touch()
        os.mkfifo("pipe.jsonl")
        Path("link.jsonl").symlink_to("nowhere")
        assert find_sources(Path()) == []


class TestProgress:
    def test_nothing_is_shown_when_stderr_is_no_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        with Progress("reading") as progress:
            progress._next = 0
            progress.update(lambda: (1, 2))
        assert capsys.readouterr().err == ""

    def test_a_terminal_sees_a_bar_after_a_moment_and_no_trace_after(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        now = [100.0]
        monkeypatch.setattr(diagnostics, "is_terminal", lambda: True)
        monkeypatch.setattr("delegtop.cli.progress.monotonic", lambda: now[0])
        with Progress("reading") as progress:
            progress.update(lambda: (1, 4_000_000))
            assert capsys.readouterr().err == ""
            now[0] += 0.31
            progress.update(lambda: (1_000_000, 4_000_000))
            assert "25%  1.0 of 4.0 MB" in capsys.readouterr().err
            progress.update(lambda: (2_000_000, 4_000_000))
            assert capsys.readouterr().err == ""
        assert capsys.readouterr().err == "\r\x1b[K"

    def test_a_bar_without_a_total_says_how_much_is_done(self) -> None:
        assert bar("reading", 2_500_000, 0) == "reading  2.5 MB"


def test_a_setting_is_shown_as_it_would_be_written() -> None:
    assert toml("silent_after", 90_000) == 'silent_after = "90s"'
    assert toml("silent_after", 1_500) == 'silent_after = "1500ms"'


class TestKeymap:
    @pytest.mark.usefixtures("log")
    @pytest.mark.parametrize("arguments", [["config", "show"], ["tree", "run.jsonl"], ["watch"]], ids=" ".join)
    def test_every_command_refuses_a_key_for_an_action_that_does_not_exist(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("own.toml").write_text('[keymap]\nquti = "x"\n')
        assert main([*arguments, "--config", "own.toml"]) == Exit.USAGE
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err == "delegtop: own.toml: keymap: action quti does not exist; did you mean quit?\n"

    @pytest.mark.usefixtures("log")
    def test_a_key_for_an_action_that_exists_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("own.toml").write_text('[keymap]\nquit = "x"\n')
        assert main(["config", "show", "--config", "own.toml"]) == Exit.OK
        assert 'keymap = { "quit" = "x" }' in capsys.readouterr().out


class TestHostileSurroundings:
    """No folder and no file around the program makes it fail with anything but a sentence."""

    @pytest.mark.usefixtures("log")
    @pytest.mark.parametrize("command", ["tree", "check", "stats", "report", "watch --timeout 0.1"])
    def test_a_home_that_cannot_be_looked_into_is_no_home(self, command: str) -> None:
        told = program(*command.split(), "run.jsonl", HOME="/" + "x" * 300, XDG_CONFIG_HOME="", XDG_STATE_HOME="")
        assert "Traceback" not in told.stderr
        assert told.returncode != Exit.USAGE

    @pytest.mark.parametrize("command", ["tree", "sources", "metrics", "config show", "config path"])
    def test_nor_is_it_one_that_logs_are_looked_for_in(self, command: str) -> None:
        told = program(*command.split(), HOME="/" + "x" * 300, XDG_CONFIG_HOME="", XDG_STATE_HOME="")
        assert "Traceback" not in told.stderr
        assert told.returncode == Exit.OK

    @pytest.mark.usefixtures("log")
    @pytest.mark.parametrize("command", ["tree", "check", "report", "stats", "sources", "watch --timeout 0.1"])
    @pytest.mark.parametrize("named", [True, False])
    def test_a_folder_that_was_deleted_under_it_is_no_harm(self, command: str, named: bool, tmp_path: Path) -> None:
        source = str(tmp_path / "run.jsonl") if named else ""
        shell = f"mkdir gone && cd gone && rmdir ../gone && '{sys.executable}' -m delegtop {command} {source}"
        told = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        assert "Traceback" not in told.stderr
        assert told.returncode in (Exit.OK, Exit.FINDINGS, Exit.STUCK)

    def test_what_is_nested_too_deep_is_told_by_its_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("delegtop.toml").write_text("a=" + "[" * 100_000)
        assert main(["config", "show"]) == Exit.USAGE
        assert capsys.readouterr().err == "delegtop: delegtop.toml: is nested too deep\n"

    def test_a_pipe_is_not_waited_for_as_settings(self) -> None:
        os.mkfifo("pipe")
        told = program("config", "show", "--config", "pipe")
        assert told.returncode == Exit.USAGE
        assert told.stderr == "delegtop: pipe: is no file but a pipe or a device, which may never end\n"

    def test_no_settings_at_all_can_be_asked_for(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["config", "show", "--config", os.devnull]) == Exit.OK
        assert "# default" in capsys.readouterr().out

    def test_a_task_with_very_many_digits_is_a_name(self, tmp_path: Path) -> None:
        log = tmp_path / "run.jsonl"
        told = program("run", "--log", str(log), "--task", "1" * 5_000, "--", "true")
        assert (told.returncode, told.stderr) == (Exit.OK, "")
        assert "1" * 5_000 in log.read_text()
