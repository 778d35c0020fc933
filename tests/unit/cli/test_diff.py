"""Two runs side by side: which delegation is which, and what differs."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.telling import forest_at

from delegtop.base.clock import MINUTE, SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.events import Described, Ended, Ending, Event, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.report import comparison, comparison_text
from delegtop.report.comparison import Diff

NOW = Millis(1_766_743_200_000)
HERE = Origin("run.jsonl", 1, 0)
HOSTILE = "\x1b]52;c;aGk=\x07\u202eevil\n"


class Run:
    """A run that is told by whom who was given work."""

    def __init__(self, name: str = "") -> None:
        self.events: list[Event] = []
        self._name = name

    def give(
        self,
        agent: str,
        parent: str | None = None,
        *,
        took: int | None = MINUTE,
        outcome: Outcome = Outcome.COMPLETED,
        task: str | None = None,
        title: str | None = None,
    ) -> str:
        id = f"{self._name}{len(self.events)}"
        start = Millis(NOW - 30 * MINUTE + len(self.events) * SECOND)
        self.events.append(Started(id, start, HERE, agent=agent, parent=parent, task=task))
        if title is not None:
            self.events.append(Described(id, start, HERE, title=title))
        if took is not None:
            report = Report(status=str(outcome))
            self.events.append(Ended(id, Millis(start + took), HERE, outcome, Ending.RETURN, report))
        return id

    def forest(self) -> Forest:
        return forest_at(NOW, self.events)


def compared(a: Run, b: Run, slower: float | None = None) -> Diff:
    return comparison.compare(a.forest(), b.forest(), ("a.jsonl", "b.jsonl"), slower)


def matched(found: Diff) -> list[tuple[int, str | None, str | None]]:
    return [
        (row.level, row.a.title or row.a.name if row.a else None, row.b.title or row.b.name if row.b else None)
        for row in found.rows
    ]


def usual(name: str) -> Run:
    run = Run(name)
    root = run.give("lead", took=20 * MINUTE)
    run.give("writer", root)
    run.give("reader", root)
    return run


def test_the_same_run_does_not_differ_from_itself_whatever_its_ids() -> None:
    found = compared(usual("x"), usual("y"))
    assert not found.differ
    assert matched(found) == [(0, "lead", "lead"), (1, "writer", "writer"), (1, "reader", "reader")]


def test_what_was_delegated_in_one_alone_is_told_with_all_below_it() -> None:
    a, b = usual("x"), usual("y")
    extra = b.give("helper", b.events[0].id)  # type: ignore[union-attr]  # the first is a start
    b.give("grandchild", extra)
    found = compared(a, b)
    assert matched(found)[3:] == [(1, None, "helper"), (2, None, "grandchild")]
    assert [row.differs for row in found.rows[3:]] == [["delegated"], ["delegated"]]
    assert [row.differs for row in compared(b, a).rows[3:]] == [["delegated"], ["delegated"]]


def test_the_same_task_and_title_are_matched_before_the_same_agent() -> None:
    a, b = Run("x"), Run("y")
    for title in ("one", "two"):
        a.give("worker", title=title)
    for title in ("two", "three", "one"):
        b.give("worker", title=title)
    assert matched(compared(a, b)) == [(0, "one", "one"), (0, "two", "two"), (0, None, "three")]


def test_another_task_of_the_same_agent_is_matched_if_nothing_else_fits() -> None:
    a, b = Run("x"), Run("y")
    a.give("worker", task="191")
    b.give("worker", task="192")
    assert not compared(a, b).differ


def test_of_several_alike_the_first_is_matched_with_the_first() -> None:
    a, b = Run("x"), Run("y")
    for took in (1, 2, 3):
        a.give("worker", took=took * MINUTE)
    for took in (4, 5):
        b.give("worker", took=took * MINUTE)
    pairs = [
        (row.a.took_seconds if row.a else None, row.b.took_seconds if row.b else None) for row in compared(a, b).rows
    ]
    assert pairs == [(60, 240), (120, 300), (180, None)]


def test_another_outcome_is_a_difference_and_so_are_other_findings() -> None:
    a, b = usual("x"), Run("y")
    root = b.give("lead", took=20 * MINUTE)
    b.give("writer", root, outcome=Outcome.FAILED)
    b.give("reader", root)
    row = compared(a, b).rows[1]
    assert row.differs == ["outcome", "findings"]


def test_a_duration_differs_only_beyond_the_limit_that_was_given() -> None:
    a, b = Run("x"), Run("y")
    a.give("worker", took=10 * SECOND)
    b.give("worker", took=15 * SECOND)
    assert not compared(a, b).differ
    assert not compared(a, b, slower=0.5).differ
    assert compared(a, b, slower=0.4).rows[0].differs == ["slower"]
    assert not compared(b, a, slower=0.4).differ, "quicker is not slower"


def test_a_difference_of_less_than_a_second_is_none() -> None:
    a, b = Run("x"), Run("y")
    a.give("worker", took=100)
    b.give("worker", took=900)
    assert not compared(a, b, slower=0.5).differ


def test_one_that_has_not_ended_took_no_time_yet() -> None:
    run = Run()
    run.give("worker", took=None)
    side = compared(run, run).rows[0].a
    assert side is not None
    assert side.took_seconds is None


def test_brothers_in_another_order_are_matched_all_the_same() -> None:
    a, b = Run("x"), Run("y")
    for number in range(100):
        a.give("worker", title=str(number))
        b.give("worker", title=str(99 - number))
    assert not [row for row in compared(a, b).rows if row.differs]


# -- as text ---------------------------------------------------------------------------------------------------------


def changed() -> Diff:
    a, b = usual("x"), Run("y")
    root = b.give("lead", took=30 * MINUTE)
    b.give("reader", root, outcome=Outcome.PARTIAL)
    b.give("checker", root)
    return compared(a, b)


def test_the_table_reads_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(case: Case) -> tuple[Finding, ...]:
        """Of all rules, one: what is only partly done breaks it."""
        partial = case.state is State.PARTIAL
        return (Finding("RET-030", Severity.ERROR, "", ""),) if partial else ()

    monkeypatch.setattr(comparison, "diagnose", judged)
    printed = list(comparison_text.lines(changed(), None))
    assert printed[0] == "A  a.jsonl: 3 delegations in 20:00: 3 completed; 0 findings"
    assert printed[3:-2] == [
        "   DELEGATION  A          B          TOOK A  TOOK B  CHANGE  WHAT DIFFERS",
        "   lead        completed  completed   20:00   30:00    +50%",
        "-    writer    completed               1:00                  only in A",
        "!    reader    completed  partial      1:00    1:00     +0%  completed became partial; +RET-030",
        "+    checker              completed            1:00          only in B",
    ]
    assert printed[-1] == "The runs differ: 1 only in A, 1 only in B, 1 with another outcome, 1 with other findings."


def test_only_what_changed_can_be_asked_for_and_keeps_its_place() -> None:
    same = usual("x")
    same.give("alone")
    printed = "\n".join(comparison_text.lines(changed(), None, whole=False))
    assert "lead" in printed
    assert "-    writer" in printed
    quiet = "\n".join(comparison_text.lines(compared(same, same), None, whole=False))
    assert quiet.endswith("The runs do not differ.")
    assert "lead" not in quiet


def test_hostile_names_move_no_cursor() -> None:
    run = Run()
    run.give(HOSTILE, title=HOSTILE)
    found = comparison.compare(run.forest(), Forest(), (HOSTILE, HOSTILE))
    printed = "\n".join(comparison_text.lines(found, 80))
    assert "evil" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    assert "\n".join(comparison.as_json(found)).isascii()


# -- the command and its contract ------------------------------------------------------------------------------------


def test_the_json_keeps_to_its_contract() -> None:
    assert msgspec.json.decode("\n".join(comparison.as_json(changed())), type=Diff) == changed()


def test_the_schema_on_file_is_that_of_the_program(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "schema" / "diff.schema.json"
    if update_golden:
        page.write_text(comparison.schema(), "utf-8")
    assert page.read_text("utf-8") == comparison.schema()


def test_the_page_tells_of_every_field_of_the_json(project: Path) -> None:
    page = (project / "docs" / "stats.md").read_text("utf-8")
    kinds = (Diff, comparison.Run, comparison.Row, comparison.Side)
    assert not [field.name for kind in kinds for field in msgspec.structs.fields(kind) if f"`{field.name}" not in page]


@pytest.fixture
def logs(project: Path) -> tuple[str, str]:
    return str(project / "sample_logs" / "02_hang"), str(project / "sample_logs" / "01_happy_implement")


def test_the_exit_code_says_whether_they_differ(logs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", logs[0], logs[0]]) == Exit.OK
    assert "The runs do not differ." in capsys.readouterr().out
    assert main(["diff", *logs, "--json"]) == Exit.FINDINGS
    assert json.loads(capsys.readouterr().out)["differ"] is True


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "two runs are compared, and none named"),
        (["one.jsonl"], "two runs are compared, and 1 named"),
        (["one.jsonl", "two.jsonl", "three.jsonl"], "two runs are compared, and 3 named"),
        (["one.jsonl", "two.jsonl", "--slower", "much"], "that is no percentage"),
        (["one.jsonl", "two.jsonl", "--slower", "nan"], "that is no percentage"),
    ],
)
def test_what_cannot_be_compared_is_said(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *arguments]) == Exit.USAGE
    assert why in capsys.readouterr().err


def test_a_run_that_is_not_there_is_told(logs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", logs[0], "gone.jsonl"]) == Exit.UNREADABLE
    assert "gone.jsonl" in capsys.readouterr().err


def test_two_runs_that_are_not_there_are_not_called_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == Exit.UNREADABLE
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("not found") == 2
