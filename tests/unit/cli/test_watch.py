"""`delegtop watch`, `delegtop wait`: a line for each change, the exit codes, and the JSON that scripts rely on."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.homes import Transcript
from tests.patience import PATIENCE, until
from tests.telling import T0, at, forest_at, started

from delegtop.base.clock import MINUTE, Millis, WallClock, iso, monotonic
from delegtop.base.origin import Origin
from delegtop.cli import main, output
from delegtop.cli.diagnostics import UsageError
from delegtop.cli.exit_codes import Exit
from delegtop.cli.watch import met
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.news import Item, NewsWatch, What
from delegtop.model.events import Described, Ended, Ending, Event, Heard, Noted, Outcome, Phase, Report
from delegtop.model.forest import Forest
from delegtop.observation.overall import all_returned, is_done
from delegtop.report import news_lines as report

HOSTILE = "x\x1b]0;owned\x07\u202egnp\nnext | line"


def place(line: int = 1) -> Origin:
    return Origin("run.jsonl", line, 0)


def ended(id: str, minute: float, outcome: Outcome = Outcome.COMPLETED, summary: str = "so it went") -> Ended:
    return Ended(id, at(minute), place(7), outcome, Ending.RETURN, Report(status=outcome.value, summary=summary))


def heard(id: str, minute: float, phase: Phase) -> Heard:
    return Heard(id, at(minute), place(3), tool="Bash", phase=phase)


def forest(*events: Event, minute: float) -> Forest:
    return forest_at(at(minute), events)


def news(*events: Event, minute: float = 5) -> tuple[Forest, list[Item]]:
    """The news of one look at a forest that was empty before."""
    grown = Forest()
    grown.advance(T0)
    watching = NewsWatch(grown, Assessments(grown))
    watching.begin()
    grown.apply(events)
    grown.advance(at(minute))
    return grown, watching.look(range(len(grown)), range(len(grown)))


class TestLines:
    def test_a_line_says_when_what_who_where_and_why(self) -> None:
        grown, (item,) = news(started(path=("orchestrator", "plan", "worker")), minute=1)
        assert report.as_text(grown, item) == (
            "2023-11-14T22:14:20Z started  running     worker a | orchestrator > plan > worker | It is at work."
        )
        grown.apply([ended("a", 2, Outcome.FAILED)])
        grown.advance(at(2))
        end = Item(What.ENDED, 0, at(2), grown.state(0), "so it went", item.state)
        assert report.as_text(grown, end).endswith("| was running; so it went")
        assert " ended    failed      worker a " in report.as_text(grown, end)

    def test_a_finding_names_its_rule_and_gravity(self) -> None:
        grown, items = news(started(), heard("a", 1, Phase.PERMISSION))
        line = report.as_text(grown, items[-1])
        assert " finding  error       worker a | VER-001 It has waited" in line

    def test_hostile_text_is_one_harmless_line(self) -> None:
        described = Described(HOSTILE, at(0), place(), title=HOSTILE)
        grown, items = news(
            started(HOSTILE, agent=HOSTILE), described, ended(HOSTILE, 1, Outcome.FAILED, HOSTILE), minute=2
        )
        for item in items:
            assert report.as_text(grown, item).isprintable()
            assert report.as_json(grown, item).isascii()
            assert report.as_json(grown, item).isprintable()

    def test_secrets_are_masked_unless_they_are_wanted(self) -> None:
        secret = "password=hunter2hunter2"  # noqa: S105 - made up
        grown, items = news(started(), ended("a", 1, Outcome.FAILED, secret))
        for form in (report.as_text, report.as_json):
            assert not any("hunter2" in form(grown, item) for item in items)
            assert any("hunter2" in form(grown, item, masked=False) for item in items)

    def test_json_says_the_same_in_fields(self) -> None:
        grown, items = news(started(), started("b", 1, parent="a"), heard("b", 2, Phase.PERMISSION), minute=3)
        told = [json.loads(report.as_json(grown, item)) for item in items]
        finding = next(each for each in told if each["event"] == "finding")
        assert finding["schema_version"] == 1
        assert (finding["id"], finding["parent"], finding["root"]) == ("b", "a", "a")
        assert (finding["rule"], finding["severity"], finding["since"]) == ("VER-001", "error", iso(at(2)))
        assert (finding["source"], finding["line"]) == ("run.jsonl", 3)

    def test_an_end_says_when_and_where_it_is_written(self) -> None:
        grown, items = news(started(), ended("a", 1))
        (end,) = (told for item in items if (told := json.loads(report.as_json(grown, item)))["event"] == "ended")
        assert (end["since"], end["line"], end["state"], end["was"]) == (iso(at(1)), 7, "completed", None)

    def test_every_line_fits_the_contract(self) -> None:
        grown, items = news(started(), heard("a", 1, Phase.PERMISSION), started("b", 1, parent="a"), ended("b", 2))
        for item in items:
            msgspec.json.decode(report.as_json(grown, item), type=report.News)

    def test_the_schema_on_file_is_the_schema_of_the_program(self, project: Path, update_golden: bool) -> None:
        page = project / "docs" / "schema" / "watch.schema.json"
        if update_golden:
            page.write_text(report.schema(), "utf-8")
        assert page.read_text("utf-8") == report.schema()

    def test_the_page_explains_every_field_and_event(self, project: Path) -> None:
        page = (project / "docs" / "watch.md").read_text("utf-8")
        assert all(f"| `{field}` |" in page for field in report.News.__struct_fields__)
        assert all(f"| `{what.value}` |" in page for what in What)
        assert get_args(report.News.__annotations__["schema_version"]) == (1,)


class TestConditions:
    def test_nothing_at_all_is_not_done(self) -> None:
        assert not is_done(forest(minute=0), None)

    def test_it_is_done_when_nothing_is_open_any_more(self) -> None:
        assert not is_done(forest(started(), started("b"), ended("b", 1), minute=2), None)
        assert is_done(forest(started(), ended("a", 1), minute=2), None)
        assert is_done(forest(started(), heard("a", 1, Phase.IDLE), minute=2), None)

    def test_who_is_lost_is_done_but_has_not_returned(self) -> None:
        lost = forest(started(), Ended("a", at(1), place(), Outcome.LOST, Ending.GONE), minute=2)
        assert is_done(lost, None)
        assert not all_returned(lost, None)

    def test_sessions_rest_and_what_they_handed_out_returns(self) -> None:
        session, child = heard("a", 3, Phase.IDLE), started("b", 1, parent="a")
        assert all_returned(forest(started(), child, ended("b", 2), session, minute=4), None)
        assert not all_returned(forest(started(), child, heard("b", 2, Phase.IDLE), session, minute=4), None)

    @pytest.mark.parametrize(
        ("events", "code"),
        [
            ((), None),
            ((heard("a", 1, Phase.TOOL),), None),
            ((heard("a", 1, Phase.PERMISSION),), Exit.STUCK),
            ((Noted("a", at(1), place(), "review", "look"),), Exit.STUCK),
            ((Noted("a", at(1), place(), "loop", "cycle 5 of 5"),), Exit.STUCK),
            ((ended("a", 1, Outcome.FAILED),), Exit.ENDED_BADLY),
            ((ended("a", 1, Outcome.INTERRUPTED),), Exit.ENDED_BADLY),
            ((started("b", 0, timeout=1_000),), Exit.STUCK),
        ],
    )
    def test_a_problem_is_what_failed_is_late_hangs_or_needs_a_person(
        self, events: tuple[Event, ...], code: Exit | None
    ) -> None:
        grown = forest(started(), *events, minute=2)
        assert met(Assessments(grown), "problem") == code

    @pytest.mark.parametrize(
        ("events", "code"),
        [
            ((), None),
            ((ended("a", 1),), Exit.OK),
            ((ended("a", 1, Outcome.FAILED),), Exit.ENDED_BADLY),
            ((started("b"), ended("b", 1, Outcome.FAILED)), None),
            ((started("b"), heard("b", 1, Phase.PERMISSION)), Exit.STUCK),
        ],
    )
    def test_stuck_or_done_is_whichever_comes_first(self, events: tuple[Event, ...], code: Exit | None) -> None:
        assert met(Assessments(forest(started(), *events, minute=2)), "stuck-or-done") == code

    def test_only_what_is_shown_counts(self) -> None:
        grown = forest(started(), started("b"), ended("b", 1, Outcome.FAILED), minute=2)
        assert met(Assessments(grown), "problem", [0]) is None
        assert is_done(grown, [1])


class TestProgram:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("run.jsonl").write_text("")

    @pytest.mark.parametrize(
        ("status", "condition", "code"),
        [
            ("completed", "done", Exit.OK),
            ("completed", "all-returned", Exit.OK),
            ("failed", "done", Exit.FINDINGS),
            ("failed", "problem", Exit.FINDINGS),
            ("completed", "problem", Exit.TIMEOUT),
        ],
    )
    def test_the_exit_code_says_how_it_went(
        self, status: str, condition: str, code: Exit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write("register", "one", subagent="planner")
        returned("one", status)
        assert main(["watch", "run.jsonl", "--exit-when", condition, "--timeout", "0.3"]) == code
        assert "1 delegation: 1" in capsys.readouterr().err

    def test_a_model_that_is_asked_again_and_again_without_an_answer_is_a_problem(self) -> None:
        now = WallClock().now()
        asked = ((60, "user"), *((minute, "api-request") for minute in range(59, 0, -6)))
        with Path("run.jsonl").open("w", encoding="utf-8") as log:
            for minute, kind in asked:
                told = {
                    "type": kind,
                    "timestamp": iso(Millis(now - minute * MINUTE)),
                    "sessionId": "s",
                    "uuid": str(minute),
                }
                more = {"message": {"role": "user", "content": "go"}} if kind == "user" else {"querySource": "sdk"}
                log.write(json.dumps({"parentUuid": None, "isSidechain": False, **told, **more}) + "\n")
        assert main(["watch", "run.jsonl", "--exit-when", "problem", "--timeout", "60"]) == Exit.STUCK

    def test_what_is_late_is_exit_3_and_what_was_lost_long_ago_ended_badly(self) -> None:
        write("register", "one", at="2020-01-01T00:00:00Z", subagent="planner", timeout=5)
        assert main(["watch", "run.jsonl", "--exit-when", "problem"]) == Exit.ENDED_BADLY
        write("register", "two", at=iso(Millis(WallClock().now() - 20 * MINUTE)), subagent="planner", timeout=5)
        assert main(["watch", "run.jsonl", "--exit-when", "problem"]) == Exit.STUCK

    def test_what_it_stops_for_is_named_the_most_urgent_first_and_nobody_is_only_counted(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write("register", "fine", subagent="planner")
        for number in range(15):
            begun = iso(Millis(WallClock().now() - (10 * MINUTE - number)))
            write("register", f"late{number:02}", at=begun, subagent="worker", timeout=5)
        assert main(["watch", "run.jsonl", "--exit-when", "problem"]) == Exit.STUCK
        told = capsys.readouterr()
        _, *named, rest = told.err.splitlines()
        assert [line.split(":")[1] for line in named] == [f" worker sess_late{number}" for number in (14, 13, 12)]
        assert rest.startswith("delegtop: and 12 more: worker sess_late11 (overdue), worker sess_late10 (overdue), ")
        assert rest.endswith(", worker sess_late02 (overdue), and 2 others")
        present = [line.split()[4] for line in told.out.splitlines() if " present " in line]
        assert present == [*(f"sess_late{number:02}" for number in range(14, -1, -1)), "sess_fine"]

    def test_what_ended_badly_is_named_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("register", "one", subagent="planner")
        returned("one", "failed", "the disk is full")
        assert main(["watch", "run.jsonl", "--exit-when", "problem"]) == Exit.ENDED_BADLY
        assert "delegtop: planner sess_one: It ended failed" in capsys.readouterr().err.splitlines()[1]

    def test_without_a_condition_the_end_of_the_time_is_no_failure(self) -> None:
        assert main(["watch", "run.jsonl", "--timeout", "0.2"]) == Exit.OK

    def test_the_filter_narrows_lines_and_condition(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("register", "one", subagent="planner")
        write("register", "two", subagent="tester")
        returned("two", "failed")
        arguments = ["watch", "run.jsonl", "-f", "agent:planner", "--exit-when", "problem", "--timeout", "0.2"]
        assert main(arguments) == Exit.TIMEOUT
        assert "sess_one" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--notify", "pigeon"], "--notify: 'pigeon' will not do: it may name bell, desktop, command"),
            (["--notify", "command"], "--notify: there is no notify command: set notify_command, or give"),
            (["--timeout", "soon"], "argument --timeout: soon is no time; write it like 90, 5m or 1h30m"),
            (["--exit-when", "never"], "argument --exit-when: invalid choice: 'never'"),
        ],
    )
    def test_a_wrong_command_line_is_one_sentence(
        self, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["watch", "run.jsonl", *arguments]) == Exit.USAGE
        assert capsys.readouterr().err.startswith(f"delegtop: {message}")

    def test_what_happens_is_printed_as_it_happens(self) -> None:
        write("register", "one", subagent="planner")
        with running("watch", "run.jsonl", "--json", "--exit-when", "done", "--timeout", "10m") as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["event"] == "present"
            write("register", "two", subagent="tester")
            while json.loads(process.stdout.readline())["event"] != "started":
                continue
            for session in ("one", "two"):
                returned(session, "completed")
            events = [json.loads(line)["event"] for line in process.stdout]
            assert (events.count("ended"), events.count("done")) == (2, 2)
            assert process.wait(PATIENCE) == Exit.OK

    def test_the_users_own_command_is_told(self, tmp_path: Path) -> None:
        tell = tmp_path / "tell.sh"
        tell.write_text('#!/bin/sh\necho "$DELEGTOP_EVENT $DELEGTOP_ID" >> told.txt\n')
        tell.chmod(0o755)
        write("register", "one", subagent="planner")
        with running("watch", "run.jsonl", "--notify", "command,bell", "--notify-command", str(tell)) as process:
            assert process.stdout is not None
            assert " present " in process.stdout.readline()
            returned("one", "failed")
            until(lambda: Path("told.txt").exists() and "done" in Path("told.txt").read_text())
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == Exit.INTERRUPTED
            assert process.stderr is not None
            assert process.stderr.read() == "\a"
        assert sorted(Path("told.txt").read_text().split("\n")) == ["", "done sess_one", "failed sess_one"]

    def test_a_reader_that_leaves_is_no_error(self) -> None:
        write("register", "one", subagent="planner")
        with running("watch", "run.jsonl") as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(PATIENCE) == Exit.OK
            assert process.stderr is not None
            assert process.stderr.read() == ""

    def test_a_stream_that_ends_is_judged_as_it_stands(self) -> None:
        write("register", "one", subagent="planner")
        returned("one", "completed")
        text = Path("run.jsonl").read_text().rstrip("\n")
        for condition, code in (("done", Exit.OK), ("problem", Exit.TIMEOUT)):
            command = [sys.executable, "-m", "delegtop", "watch", "-", "--exit-when", condition]
            ended = subprocess.run(command, input=text, text=True, capture_output=True, timeout=PATIENCE)
            assert ended.returncode == code


class TestWait:
    @pytest.fixture(autouse=True)
    def _log(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("run.jsonl").write_text("")
        write("register", "one", subagent="planner")

    @pytest.mark.parametrize(
        ("status", "code"),
        [("completed", Exit.OK), ("partial", Exit.FINDINGS), ("failed", Exit.FINDINGS), ("blocked", Exit.FINDINGS)],
    )
    def test_it_exits_by_the_outcome_and_prints_the_summary(
        self, status: str, code: Exit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        returned("one", status, "so it went")
        assert main(["wait", "sess_one", "run.jsonl"]) == code
        told = capsys.readouterr().out
        assert told.startswith(f"{status} planner sess_one after 0:0")
        assert "so it went" in told

    @pytest.mark.parametrize(("ago", "code"), [(10_000, Exit.TIMEOUT), (10 * MINUTE, Exit.OK)])
    def test_a_text_that_may_be_the_middle_of_an_answer_is_no_end_of_a_turn_before_it_was_quiet_for_a_while(
        self, ago: int, code: Exit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        session, now = "0a1b2c3d-0000-4000-8000-00000000000a", WallClock().now()
        log = Transcript(session, str(Path.cwd()))
        log.asked(now - ago - 5_000, "hello")
        log.said(now - ago, {"type": "text", "text": "Let me see."}, None)
        log.keep(Path(f"{session}.jsonl"))
        assert main(["wait", session, ".", "--idle", "--timeout", "0.3"]) == code
        assert ("its turn ended" in capsys.readouterr().out) == (code is Exit.OK)

    def test_one_that_was_lost_long_ago_ended_badly(self) -> None:
        Path("run.jsonl").write_text("")
        write("register", "one", at="2020-01-01T00:00:00Z", subagent="planner", timeout=5)
        assert main(["wait", "sess_one", "run.jsonl"]) == Exit.ENDED_BADLY

    def test_the_beginning_of_an_id_is_enough_if_it_means_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        returned("one", "completed")
        assert main(["wait", "sess_o", "run.jsonl"]) == Exit.OK
        write("register", "other", subagent="planner")
        assert main(["wait", "sess_o", "run.jsonl"]) == Exit.USAGE
        assert capsys.readouterr().err == "delegtop: sess_o may mean several: sess_one, sess_other\n"

    def test_one_that_is_not_known_is_a_usage_error_or_waited_for(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["wait", "sess_two", "run.jsonl"]) == Exit.USAGE
        assert "no delegation is known by sess_two" in capsys.readouterr().err
        assert main(["wait", "sess_two", "run.jsonl", "--appear", "--timeout", "0.2"]) == Exit.TIMEOUT

    def test_the_time_can_be_up(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["wait", "sess_one", "run.jsonl", "--timeout", "0.2"]) == Exit.TIMEOUT
        assert capsys.readouterr().err == "delegtop: the time is up, and sess_one has not ended\n"

    def test_json_is_that_of_the_tree_with_this_one_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("register", "two", subagent="tester")
        returned("one", "completed")
        assert main(["wait", "sess_one", "run.jsonl", "--json"]) == Exit.OK
        assert [each["id"] for each in json.loads(capsys.readouterr().out)["delegations"]] == ["sess_one"]

    def test_json_is_printed_too_when_the_time_is_up_or_nobody_is_known(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["wait", "sess_one", "run.jsonl", "--json", "--timeout", "0.1"]) == Exit.TIMEOUT
        [still] = json.loads(capsys.readouterr().out)["delegations"]
        assert (still["id"], still["state"]) == ("sess_one", "running")
        assert main(["wait", "nobody", "run.jsonl", "--json", "--appear", "--timeout", "0.1"]) == Exit.TIMEOUT
        assert json.loads(capsys.readouterr().out)["delegations"] == []
        assert main(["wait", "nobody", "run.jsonl", "--json"]) == Exit.USAGE
        assert json.loads(capsys.readouterr().out)["delegations"] == []

    def test_it_ends_when_the_delegation_does(self) -> None:
        import delegtop
        from delegtop.cli.wait import code, until_ended

        with delegtop.open("run.jsonl") as seen:
            assert until_ended(seen, "sess_one", monotonic()) is None
            returned("one", "completed")
            handle = until_ended(seen, "sess_one", monotonic() + PATIENCE)
            assert handle is not None
            assert code(seen.assessments, handle) is Exit.OK


def test_a_foreign_id_finds_its_delegation_and_rest_is_an_end_only_where_wanted() -> None:
    from delegtop.cli.diagnostics import UsageError
    from delegtop.cli.wait import has_ended
    from delegtop.cli.watched_session import find

    told = (started(refs=(("agent_id", "xyz-1"),)), started("b", refs=(("tool_use_id", "toolu_7"), ("agent_id", "t"))))
    grown = forest(*told, heard("a", 1, Phase.IDLE), minute=2)
    assert [find(grown, id) for id in ("xyz-1", "xyz", "toolu_7", "t", "b", "nobody", "")] == [
        0,
        0,
        1,
        1,
        1,
        None,
        None,
    ]
    grown.apply([started("c", refs=(("agent_id", "xyz-1"),))])
    with pytest.raises(UsageError, match="xyz-1 may mean several: a, c"):
        find(grown, "xyz-1")
    assert (has_ended(grown, 0), has_ended(grown, 0, idle=True)) == (False, True)


def test_the_beginning_of_a_session_means_the_session_and_not_the_agents_that_know_its_id() -> None:
    from delegtop.cli.watched_session import find

    below = started("toolu_1", refs=(("session_id", "9007db01-12ee"), ("agent_id", "a75b5fcf1")))
    grown = forest(started("9007db01-12ee"), below, minute=2)
    assert [find(grown, id) for id in ("9007db01", "9007db01-12ee", "a75b", "toolu")] == [0, 0, 1, 1]


def write(event: str, session: str, at: str = "", **more: object) -> None:
    record: dict[str, object] = {
        "event": event,
        "at": at or iso(WallClock().now()),
        "session_id": f"sess_{session}",
        **more,
    }
    if "result" in record:
        record["return"] = record.pop("result")
    with Path("run.jsonl").open("a") as log:
        log.write(json.dumps(record) + "\n")


def returned(session: str, status: str, summary: str = "so") -> None:
    write("return", session, result={"status": status, "summary": summary})


@contextmanager
def running(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    """The real program, ended whatever happens."""
    with subprocess.Popen(
        [sys.executable, "-m", "delegtop", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_behind_stdout_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(UsageError, match="standard output cannot be written: No space left"):
            output.emit_now(["a line"])
