"""What a row says: names, links, depth, time, and that it is exactly as wide as the table."""

import pytest
from rich.cells import cell_len
from tests.telling import forest_at, place

from delegtop.app import cell_width
from delegtop.app.state import row_remarks
from delegtop.app.state.row_remarks import Remarks
from delegtop.app.state.table_rows import TableRows
from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, countdown, duration
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.pressing import Pressing
from delegtop.diagnosis.rule_table import RULES
from delegtop.model import measures
from delegtop.model.events import (
    Artifact,
    Described,
    Ended,
    Ending,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Started,
    Trust,
)
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, State
from delegtop.model.tree.order import SORTS, order
from delegtop.model.tree.outline import Outline, OutlineRow
from delegtop.report.table import cells
from delegtop.report.table.columns import COLUMNS, Column, Layout, UnknownColumnError, chosen, layout
from delegtop.report.table.drawing import drawing

NOW = Millis(1_766_750_000_000)


def started(id: str, ago: int, **facts: object) -> Started:
    return Started(id, Millis(NOW - ago), place(), **facts)  # type: ignore[arg-type]  # facts by name, as in the log


def heard(id: str, ago: int, doing: str | None = None, **facts: object) -> Heard:
    return Heard(id, Millis(NOW - ago), place(), doing, **facts)  # type: ignore[arg-type]  # as above


def ended(id: str, ago: int, outcome: Outcome, **report: object) -> Ended:
    facts = Report(**report)  # type: ignore[arg-type]  # as above
    return Ended(id, Millis(NOW - ago), place(), outcome, Ending.RETURN, facts)


class Table:
    """A forest at a frozen moment, and its rows by column."""

    def __init__(self, *events: Event, plain: bool = False) -> None:
        self.forest, self.outline = Forest(), Outline()
        self.assessments = Assessments(self.forest)
        self.pressing, self.remarks = Pressing(self.assessments), Remarks(self.assessments)
        drawn = drawing(ascii=plain)
        self.table = cells.Table(self.assessments, self.pressing, drawn, cell_width, remarks=self.remarks)
        self.rows = TableRows(self.table, self.outline)
        self.outline.sort(order(self.forest, "start"))
        self.tell(*events)

    def tell(self, *events: Event, at: int = 0) -> None:
        change = self.forest.apply(events)
        lives = {*change.lives, *change.added, *self.forest.advance(Millis(NOW + at))}
        for handle in change.added:
            self.outline.add(handle, self.forest.parent(handle))
        for handle in change.moved:
            self.outline.move(handle, self.forest.parent(handle))
        self.assessments.touch(change.touched, lives)
        self.pressing.update(self.assessments.update(), moved=bool(change.moved or change.added))

    def ask_the_rules(self) -> None:
        """What happens between two frames."""
        for row in self.window():
            self.rows.key(row, self.layout(200))
        self.remarks.settle(5.0)

    def window(self) -> list[OutlineRow]:
        return self.outline.window(0, len(self.outline))

    def layout(self, width: int) -> Layout:
        self.rows.learn(self.window())
        return self.rows.layout(width)

    def text(self, width: int = 160) -> list[str]:
        layout = self.layout(width)
        return ["".join(span.text for span in self.rows.cells(row, layout)) for row in self.window()]

    def column(self, name: str, width: int = 200) -> list[str]:
        start, layout = 1, self.layout(width)
        for column in layout.columns:
            if column.name == name:
                return [line[start : start + column.width].strip() for line in self.text(width)]
            start += column.width + layout.gap
        raise AssertionError(f"no column {name} at {width}")

    def parts(self, name: str, width: int = 200) -> list[set[str]]:
        """The parts of the pieces that say something in a column."""
        (placed,) = [placed for placed in self.layout(width).columns if placed.name == name]
        found = [placed.column.cell(self.table, row, placed.width) for row in self.window()]
        return [{span.part for span in pieces if span.text.strip()} for pieces in found]


def test_a_command_is_called_by_its_slash_and_task_and_an_agent_by_its_name() -> None:
    table = Table(
        started("a", HOUR, command="implement", task="191", path=("orchestrator", "implement")),
        started("b", MINUTE, agent="implementer", parent="a"),
    )
    assert table.column("delegation") == ["▾ /implement 191", "└── implementer"]


def test_guides_run_on_where_a_sibling_follows() -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="a"),
        started("b", 8 * MINUTE, agent="b", parent="a"),
        started("c", 7 * MINUTE, agent="c", parent="b"),
        started("d", 6 * MINUTE, agent="d", parent="a"),
        started("e", 5 * MINUTE, agent="e", parent="d"),
    )
    assert [line.rstrip()[:12].rstrip() for line in table.text()] == [
        " ▾ a",
        " ├─▾ b",
        " │ └── c",
        " └─▾ d",
        "   └── e",
    ]


def test_a_fold_says_how_many_it_hides() -> None:
    table = Table(
        started("a", HOUR, agent="a"),
        started("b", MINUTE, agent="b", parent="a"),
        started("c", 1, agent="c", parent="b"),
    )
    table.outline.collapse(0)
    assert table.column("delegation") == ["▸ a (2)"]


@pytest.mark.parametrize(
    ("plain", "drawn"), [(False, ["▾ implement", "└╌╌ worker"]), (True, ["v implement", "`.. worker"])]
)
def test_an_inferred_link_is_drawn_differently(plain: bool, drawn: list[str]) -> None:
    path = ("orchestrator", "implement")
    table = Table(
        started("a", 6 * MINUTE, agent="implement", path=path),
        started("b", 5 * MINUTE, agent="worker", path=(*path, "worker")),
        plain=plain,
    )
    assert table.column("delegation") == drawn
    assert "unsure" in table.parts("delegation")[1]


def test_an_ambiguous_link_has_a_question_mark() -> None:
    path = ("orchestrator", "implement")
    table = Table(
        started("a", 60 * MINUTE, agent="implement", path=path),
        started("b", 59 * MINUTE, agent="implement", path=path),
        started("c", 40 * MINUTE, agent="other", path=(*path, "other")),
    )
    assert any("└?╌ other" in name for name in table.column("delegation"))


def test_a_parent_that_was_never_seen_leaves_a_mark() -> None:
    table = Table(started("a", MINUTE, agent="a", parent="sess_nobody"))
    assert table.column("delegation") == ["⇡ a"]


def test_depth_shows_both_claims_where_they_differ_and_a_tilde_where_there_is_none() -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="x", path=("orchestrator", "plan", "x"), depth=1),
        started("b", 8 * MINUTE, agent="y", path=("orchestrator", "plan", "y"), depth=2),
        started("c", 7 * MINUTE, agent="z", path=("orchestrator", "plan", "z")),
    )
    assert table.column("depth") == ["1", "2≠1", "~1"]


@pytest.mark.parametrize(
    ("gone", "said", "level"),
    [
        (10 * MINUTE, "50m ━━━━━━╸─", "bar-plenty"),
        (46 * MINUTE, "14m ━━──────", "bar-warn"),
        (55 * MINUTE, "5:00 ╸───────", "bar-critical"),
        (60 * MINUTE + 131 * SECOND, "+2:11 ········", "bar-over"),
    ],
)
def test_the_bar_shrinks_and_changes_as_time_runs_out(gone: int, said: str, level: str) -> None:
    table = Table(started("a", gone, agent="x", timeout=HOUR))
    assert table.column("left") == [said]
    assert level in table.parts("left")[0]


def test_what_has_no_deadline_or_is_done_has_no_time_left() -> None:
    table = Table(
        started("a", 3 * MINUTE, agent="x"),
        started("b", 2 * MINUTE, agent="y", timeout=HOUR),
        ended("b", 0, Outcome.COMPLETED),
        started("c", MINUTE, agent="z", timeout=HOUR),
    )
    assert table.column("left") == ["", "", "59m ━━━━━━━━"]


def test_age_counts_on_while_it_runs_and_stands_still_when_it_is_done() -> None:
    table = Table(
        started("a", 14 * MINUTE, agent="x"),
        heard("a", 3 * SECOND, "thinking"),
        started("b", 10 * MINUTE, agent="y"),
        ended("b", 2 * MINUTE, Outcome.COMPLETED),
    )
    assert table.column("age") == ["14m", "8:00"]
    assert table.column("quiet") == ["0:03", ""]
    table.tell(at=MINUTE)
    assert table.column("age") == ["15m", "8:00"]
    assert table.column("quiet") == ["1:03", ""]


def test_an_unknown_start_has_an_unknown_age() -> None:
    table = Table(started("b", MINUTE, agent="b"), heard("a", MINUTE, "something"))
    assert table.column("age") == ["1:00", "–"]


def test_a_column_that_has_nothing_to_say_takes_no_room_until_it_has() -> None:
    table = Table(started("a", MINUTE, agent="x"))
    assert not table.layout(200).has("left")
    table.tell(started("b", SECOND, agent="y", timeout=HOUR))
    assert table.layout(200).has("left")
    table.tell(ended("b", 0, Outcome.COMPLETED))
    assert table.layout(200).has("left"), "a column that went would make the others jump"


def test_rows_and_measures_tell_the_same_ages_and_silences() -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="x"),
        started("b", 9 * MINUTE, agent="y"),
        ended("b", MINUTE, Outcome.FAILED),
        started("c", 40 * 24 * HOUR, agent="z"),
        heard("d", MINUTE),
    )
    shown = zip(table.window(), table.column("age"), table.column("quiet"), strict=True)
    for row, age_shown, quiet_shown in shown:
        age, quiet = measures.age(table.forest, row.handle), measures.quiet(table.forest, row.handle)
        running = table.forest.state(row.handle) in (*ACTIVE, State.LOST)
        assert age_shown == ("–" if age is None else countdown(age) if running else duration(age))
        assert quiet_shown == ("" if quiet is None else countdown(quiet))


def test_doing_says_what_it_does_waits_on_made_or_why_it_failed() -> None:
    table = Table(
        started("a", 9 * MINUTE, command="implement", task="7"),
        started("b", 8 * MINUTE, agent="implementer", parent="a"),
        heard("b", SECOND, "lake build", tool="bash"),
        started("c", 7 * MINUTE, agent="researcher", parent="a"),
        ended("c", MINUTE, Outcome.COMPLETED, artifacts=(Artifact("r.md"), Artifact("s.md"), Artifact("t.md"))),
        started("d", 6 * MINUTE, agent="planner", parent="a"),
        ended("d", MINUTE, Outcome.FAILED, summary="no plan", errors=(Fault("no research found"),)),
    )
    assert table.column("doing") == ["on implementer", "bash: lake build", "3 artifacts", "no research found"]


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Phase.TOOL, "bash: lake build"),
        (Phase.MODEL, "waits for the model: bash: lake build"),
        (Phase.PERMISSION, "asks permission: bash: lake build"),
        (Phase.ANSWER, "waits for an answer: bash: lake build"),
    ],
)
def test_doing_says_what_it_is_in_the_middle_of(phase: Phase, said: str) -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="x", timeout=HOUR), heard("a", SECOND, "lake build", tool="bash", phase=phase)
    )
    assert table.column("doing") == [said]


def test_waiting_for_a_person_is_told_even_while_a_child_runs() -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="x", timeout=HOUR),
        started("b", 8 * MINUTE, agent="y", parent="a"),
        heard("a", SECOND, "rm -r build", phase=Phase.PERMISSION),
    )
    assert table.column("doing")[0] == "asks permission: rm -r build"


def test_an_agents_own_session_between_two_prompts_is_idle_and_its_silence_grows() -> None:
    table = Table(started("a", HOUR, agent="claude", product="claude-code"), heard("a", 5 * MINUTE, phase=Phase.IDLE))
    assert table.column("state") == ["○ idle"]
    assert table.column("quiet") == ["5:00"]


def test_the_title_stands_beside_the_name_where_there_is_room() -> None:
    table = Table(
        started("a", MINUTE, agent="general-purpose", product="claude-code"),
        Described("a", Millis(NOW - MINUTE), place(), title="Find the leak in the pool", name="scout"),
    )
    assert table.column("delegation", 240) == ["general-purpose scout  Find the leak in the pool"]
    assert table.column("delegation", 79) == ["general-purpose sco…"]


def test_times_that_a_model_wrote_are_grey() -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="x", trust=Trust.MODEL),
        started("b", 8 * MINUTE, agent="y"),
        heard("a", MINUTE, "one"),
        heard("b", MINUTE, "two"),
    )
    assert table.parts("age") == [{"muted"}, {"text"}]
    assert table.parts("quiet") == [{"muted"}, {"text"}]
    assert not table.layout(200).has("left")


def test_what_is_the_matter_stands_in_the_state_at_once_and_what_the_rules_find_beside_it_once_they_are_asked() -> None:
    table = Table(
        started("a", 2 * HOUR, agent="x", timeout=HOUR, depth=2, path=("o", "p", "x")), heard("a", SECOND, "on")
    )
    assert table.column("state") == ["! overdue"]
    assert not table.layout(200).has("findings")
    table.ask_the_rules()
    (shown,) = table.column("findings")
    worst, *others = [each for each in table.assessments.findings(0) if each.rule != "DEL-020"]
    name, _, more = shown.rpartition(" +")
    assert f"△ {RULES[worst.rule].name}".startswith(name.removesuffix("…"))
    assert int(more) == len([each for each in others if each.severity is not Severity.INFO]) > 0


def test_what_is_only_possible_has_a_question_mark() -> None:
    table = Table(started("a", HOUR, agent="x"), heard("a", 50 * MINUTE, "on"))
    assert table.column("state") == ["◌ silent?"]
    assert table.parts("state") == [{"partial"}]


def test_what_is_only_mentioned_is_no_mark() -> None:
    deep = started("a", MINUTE, agent="x", timeout=HOUR, depth=3, path=("orchestrator", "p", "q", "r", "x"))
    table = Table(deep, heard("a", SECOND, "on"))
    table.ask_the_rules()
    mentioned = table.assessments.findings(0)
    assert {finding.severity for finding in mentioned} == {Severity.INFO, Severity.WARNING}
    (shown,) = table.column("findings")
    warned = [finding for finding in mentioned if finding.severity is Severity.WARNING]
    assert shown == f"△ {RULES[warned[0].rule].name}" + (f" +{len(warned) - 1}" if len(warned) > 1 else "")


def test_what_a_person_must_look_at_comes_before_every_finding() -> None:
    table = Table(
        started("a", 2 * HOUR, agent="x", timeout=HOUR),
        heard("a", SECOND, "on"),
        Noted("a", Millis(NOW), place(), "review", "the plan deletes a table"),
    )
    assert table.column("state") == ["! needs review"]
    assert table.parts("state") == [{"stuck"}]


def test_who_holds_up_others_says_how_many_and_who_waits_says_on_what() -> None:
    table = Table(
        started("a", HOUR, agent="a", timeout=20 * MINUTE),
        started("b", 50 * MINUTE, agent="b", parent="a"),
        started("c", 45 * MINUTE, agent="c", parent="b"),
        heard("c", 40 * MINUTE, "make", tool="bash", phase=Phase.TOOL),
    )
    assert table.column("delegation")[2].endswith("c ◀2")
    assert table.column("doing")[:2] == ["on c: hung in a tool"] * 2
    table.outline.collapse(0)
    assert table.column("delegation") == ["▸ a (2) ! 1 below"]
    assert "stuck" in table.parts("delegation")[0]


def test_the_rules_are_asked_again_when_facts_or_the_minute_change_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_remarks, "_AGAIN", 0.0)
    table = Table(started("a", MINUTE, agent="x", timeout=HOUR))

    def asks() -> bool:
        """Does a frame ask what the rules find?"""
        table.rows.key(table.outline.window(0, 1)[0], table.layout(200))
        asked = table.remarks.wanted
        table.ask_the_rules()
        return asked

    assert asks()
    assert not asks()
    table.tell(heard("a", SECOND, "on"))
    assert asks()
    assert not asks()
    table.tell(at=MINUTE)
    assert asks()


def test_secrets_are_hidden_in_the_cells_until_someone_shows_them() -> None:
    table = Table(started("a", MINUTE, agent="x"), heard("a", SECOND, "curl -H 'Authorization: Bearer abc123def456'"))
    assert table.column("doing", 240) == ["curl -H 'Authorization: [masked]'"]
    table.table.masked = False
    assert table.column("doing", 240) == ["curl -H 'Authorization: Bearer abc123def456'"]


@pytest.mark.parametrize("plain", [False, True], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 10, 20, 32, 46, 55, 64, 77, 79, 91, 103, 117, 159, 175, 240, 400])
def test_every_row_is_exactly_as_wide_as_the_table(width: int, plain: bool) -> None:
    table = Table(
        started("a", 9 * MINUTE, agent="日本語の名前" * 9, timeout=HOUR, task="t" * 99),
        started("b", 8 * MINUTE, agent="x" * 99, parent="a", depth=11),
        heard("b", 7 * MINUTE, "e\u0301" * 50 + "👩🏽‍🚀" * 20 + "\x1b[31m\n\t", tokens=10**12),
        plain=plain,
    )
    for handle in range(2, 60):
        table.tell(
            started(f"n{handle}", MINUTE, agent=f"deep {handle}", parent="b" if handle == 2 else f"n{handle - 1}")
        )
    rows = table.rows
    assert {cell_len(line) for line in table.text(width)} == {width}
    assert cell_len("".join(span.text for span in rows.header(table.layout(width), "deadline"))) == width
    shown = "".join(table.text(width))
    assert shown.isprintable()
    if plain:
        assert shown.isascii()


def test_a_name_that_hangs_very_deep_is_still_readable() -> None:
    table = Table(started("n0", HOUR, agent="root"))
    table.tell(*(started(f"n{i}", HOUR - i, agent=f"level-{i}", parent=f"n{i - 1}") for i in range(1, 60)))
    names = table.column("delegation", 79)
    assert all(f"level-{i}" in names[i] for i in range(1, 60))
    assert names[59].startswith("…")


def names(width: int, *empty: str) -> list[str]:
    return [placed.name for placed in layout(width, chosen(()), empty).columns]


def test_the_important_columns_remain_at_eighty_and_the_rest_come_with_the_width() -> None:
    """On one machine; what has nothing to say takes no room."""
    assert names(20, "host") == names(32, "host") == ["delegation", "state"]
    assert names(70, "host") == ["delegation", "state", "depth", "left", "quiet"]
    assert names(79, "host") == ["delegation", "state", "depth", "left", "quiet", "doing"]
    assert names(119, "host") == ["delegation", "project", "state", "depth", "left", "quiet", "doing"]
    assert names(160, "host") == ["delegation", "project", "state", "depth", "left", "age", "quiet", "doing"]
    assert names(320) == [name for name, column in COLUMNS.items() if not column.optional]


def test_where_there_are_several_hosts_these_come_before_the_projects() -> None:
    assert names(79, "left") == ["delegation", "host", "state", "depth", "quiet", "doing"]
    assert all("host" in names(width) for width in range(400) if "project" in names(width))


@pytest.mark.parametrize("empty", [(), ("project", "task", "cost"), ("project", "task", "tokens", "cost", "left")])
def test_columns_and_gaps_fill_the_table_at_every_width(empty: tuple[str, ...]) -> None:
    for width in range(400):
        found = layout(width, chosen(()), empty)
        used = 1 + sum(placed.width for placed in found.columns) + found.gap * (len(found.columns) - 1)
        assert used == width or (width < 4 and not found.columns)
        assert all(placed.width >= 0 for placed in found.columns)


def test_what_it_does_has_two_fifths_of_the_table_where_that_is_wide() -> None:
    for width in range(160, 400):
        (doing,) = [placed.width for placed in layout(width, chosen(())).columns if placed.name == "doing"]
        assert doing >= 0.4 * width


def test_the_depth_is_there_at_eighty_columns_however_small() -> None:
    assert "depth" in names(79)


def test_columns_can_be_chosen_and_a_name_that_is_none_is_an_error() -> None:
    assert [column.name for column in chosen(["cost", "state"])] == ["delegation", "cost", "state"]
    with pytest.raises(UnknownColumnError, match=r"no column is named size; there are delegation, host, project, "):
        chosen(["size"])


def test_every_column_says_what_it_tells_and_sorts_by_an_order_there_is() -> None:
    assert all(column.about for column in COLUMNS.values())
    assert {column.sort for column in COLUMNS.values() if column.sort} <= set(SORTS)


def test_hostile_text_is_made_harmless_in_every_cell() -> None:
    evil = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/]\u202e\x9b31m\n"
    table = Table(
        started("a", MINUTE, agent=evil, command=evil, task=evil),
        heard("a", SECOND, evil, tool=evil),
        started("b", MINUTE, agent="b", parent="a"),
        ended("b", SECOND, Outcome.FAILED, errors=(Fault(evil),)),
    )
    shown = "".join(table.text(300))
    assert shown.isprintable()
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_key_changes_exactly_when_the_picture_does() -> None:
    table = Table(started("a", MINUTE, agent="a", timeout=HOUR + 30 * SECOND), heard("a", MINUTE))
    wide = table.layout(200)

    def look() -> tuple[object, object]:
        row = table.outline.window(0, 1)[0]
        return table.rows.key(row, wide), table.rows.cells(row, wide)

    before = look()
    assert look() == before
    table.tell(at=1)
    assert look() == before
    table.tell(at=SECOND)
    ticked = look()
    assert ticked[0] != before[0]
    assert ticked[1] != before[1]
    table.tell(heard("a", 0, "new work"), at=SECOND)
    assert look()[0] != ticked[0]


def test_words_that_tell_how_long_something_takes_go_on_with_time() -> None:
    table = Table(started("a", 3 * HOUR, agent="a", timeout=24 * HOUR), heard("a", 2 * HOUR))
    before = table.column("doing")[0]
    assert "nothing heard for" in before
    table.tell(at=MINUTE)
    assert table.column("doing")[0] != before


def test_every_part_a_row_uses_has_a_name_the_widget_knows() -> None:
    table = Table(
        started("a", HOUR, agent="a", timeout=MINUTE),
        started("b", HOUR, agent="b", parent="a"),
        ended("b", MINUTE, Outcome.PARTIAL),
        started("c", HOUR, agent="c", depth=4, path=("x", "y")),
    )
    spans = [span for row in table.outline.window(0, 9) for span in table.rows.cells(row, table.layout(240))]
    assert {span.part for span in spans} <= set(cells.PARTS)


def test_what_it_said_in_several_lines_stands_in_one() -> None:
    forest = forest_at(
        NOW, [started("a", HOUR), ended("a", MINUTE, Outcome.COMPLETED, summary="## Summary\n\n  Mended\tthe leak.\n")]
    )
    assert measures.remark(forest, 0) == "## Summary Mended the leak."


def test_a_row_that_stays_as_it_was_is_not_asked_again_for_a_column_that_is_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(started("a", MINUTE), started("b", MINUTE))
    table.rows.learn(table.window())
    asked: list[tuple[str, int]] = []
    says = TableRows._says

    def counted(rows: TableRows, column: Column, row: OutlineRow) -> bool:
        if not column.ticks and column.name != "project":
            asked.append((column.name, row.handle))
        return says(rows, column, row)

    monkeypatch.setattr(TableRows, "_says", counted)
    table.rows.learn(table.window())
    assert asked == []
    table.tell(heard("b", SECOND, "reads"))
    table.rows.learn(table.window())
    assert {handle for _, handle in asked} == {1}


def test_a_row_is_made_of_its_key_and_asked_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(started("a", MINUTE, timeout=600), started("b", HOUR), ended("b", MINUTE, Outcome.COMPLETED))
    wide, (over, open_row) = table.layout(200), table.window()
    plain = [table.rows.cells(row, wide) for row in (open_row, over)]
    key, of_over = table.rows.key(open_row, wide), table.rows.key(over, wide)
    assert table.rows.cells(over, wide, of_over) == plain[1]
    monkeypatch.setattr(TableRows, "_ticking", None)
    monkeypatch.setattr(TableRows, "_ground", None)
    assert table.rows.cells(open_row, wide, key) == plain[0]


SIBLINGS = ("Deploy to staging", "Write release notes", "Check the payment gateway", "Check the payment forms")


def siblings(*works: str, cwd: str = "/home/ann/shop", kind: str = "general-purpose") -> list[Event]:
    """A session with agents of one kind, each of other work."""
    name = cwd.rpartition("/")[2]
    told: list[Event] = [started(name, HOUR, agent="claude"), Described(name, None, place(), title="Go on", cwd=cwd)]
    for number, work in enumerate(works):
        told.append(started(f"{name}{number}", HOUR - number - 1, agent=kind, parent=name))
        told.append(Described(f"{name}{number}", None, place(), title=work))
    return told


@pytest.mark.parametrize("width", [26, 31, 40, 55, 64, 79, 91, 100, 119, 139, 159, 240, 300])
def test_siblings_of_one_kind_are_told_apart_at_every_width(width: int) -> None:
    table = Table(*siblings(*SIBLINGS), *siblings(*SIBLINGS, cwd="/home/ann/webapp"))
    shown = table.column("delegation", width)
    assert len(set(shown[:5])) == len(set(shown[5:])) == 5


@pytest.mark.parametrize("width", [40, 79, 119, 159])
def test_where_the_projects_have_no_column_they_stand_before_the_work_of_the_outermost(width: int) -> None:
    table = Table(*siblings(*SIBLINGS), *siblings(*SIBLINGS, cwd="/home/ann/webapp"))
    shown = table.column("delegation", width)
    has_column = table.layout(width).has("project")
    assert has_column == (width > 100)
    assert [("shop" in shown[0], "webapp" in shown[5])] == [(not has_column,) * 2]
    assert not any("webapp" in each for each in shown[6:])


def test_titles_come_before_projects_where_names_are_alike_and_not_where_they_are_not() -> None:
    alike = Table(*siblings(*SIBLINGS), *siblings(*SIBLINGS, cwd="/home/ann/webapp"))
    others = Table(
        *siblings(SIBLINGS[0], kind="deployer"),
        started("w", HOUR, agent="writer"),
        Described("w", None, place(), title=SIBLINGS[1], cwd="/home/ann/webapp"),
    )
    assert not alike.layout(79).has("project")
    assert others.layout(79).has("project")
    assert alike.layout(119).has("project")


@pytest.mark.parametrize("width", [159, 240, 300])
def test_at_wide_widths_nothing_is_cut_beside_cells_that_stay_empty(width: int) -> None:
    long = "Migrate the orders table of the shop to the new schema"
    table = Table(*siblings(long, *SIBLINGS), heard("shop0", SECOND, "bash: make migrate"))
    table.text(width)  # what each does is known once it is drawn
    assert long in table.column("delegation", width)[1]
    assert table.column("doing", width)[1] == "bash: make migrate"


def test_columns_stay_where_they_are_while_one_scrolls() -> None:
    table = Table(*siblings(*SIBLINGS, *(f"Look at part {number} of the long list of things" for number in range(40))))
    rows = table.window()
    table.rows.learn(rows[5:25])
    table.text()
    before = table.rows.layout(159)
    for top in range(6, 20):
        table.rows.learn(rows[top : top + 20])
        assert table.rows.layout(159) == before


def test_who_waits_says_for_which_of_several_of_one_kind() -> None:
    table = Table(
        *siblings(*SIBLINGS),
        *(heard(f"shop{number}", SECOND if number else 2 * SECOND, "reads") for number in range(4)),
    )
    table.layout(159)
    (told,) = {said for said in table.column("doing", 159) if said.startswith("on ")}
    assert told in {f"on “{work}”" for work in SIBLINGS}
