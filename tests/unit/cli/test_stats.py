"""Statistics by agent: durations, timeouts and what would fit, breaches, and the plot."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, iso
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Report, Started, Trust
from delegtop.model.states import State
from delegtop.report import agent_stats, agent_stats_text, plot
from delegtop.report.agent_stats import Agent, Durations, Stats, rounded, within
from delegtop.report.layout import cells
from delegtop.report.plot import Strip

NOW = Millis(1_766_743_200_000)
HERE = Origin("run.jsonl", 1, 0)
HOSTILE = "\x1b]52;c;aGk=\x07\u202eevil\n"


def done(
    id: str, took: int, outcome: Outcome = Outcome.COMPLETED, timeout: int | None = None, **more: object
) -> list[Event]:
    start = Millis(NOW - 10 * HOUR)
    started = Started(id, start, HERE, agent="worker", timeout=timeout)
    ending = Ending.TIMEOUT if outcome is Outcome.TIMEOUT else Ending.RETURN
    ended = Ended(id, Millis(start + took), HERE, outcome, ending, Report(status=str(outcome)))
    return [msgspec.structs.replace(started, **more), ended]


def gathered(*events: Event) -> Stats:
    forest = forest_at(NOW, events)
    return agent_stats.gather(forest)


def worker(*delegations: list[Event]) -> Agent:
    (agent,) = gathered(*(event for each in delegations for event in each)).agents
    return agent


def test_median_and_p95_are_those_of_what_came_back() -> None:
    took = worker(*(done(f"s{n}", n * SECOND) for n in range(1, 21))).durations
    assert took == Durations(20, 1.0, 5.0, 10.5, 15.0, 19.0, 20.0)


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.INTERRUPTED, Outcome.LOST])
def test_who_was_stopped_has_no_duration_of_its_own(outcome: Outcome) -> None:
    agent = worker(done("a", 10 * SECOND), done("b", 99 * SECOND, outcome))
    assert agent.count == 2
    assert agent.durations is not None
    assert (agent.durations.count, agent.durations.most) == (1, 10.0)


def test_a_time_that_a_model_wrote_is_no_duration() -> None:
    assert worker(done("a", SECOND, trust=Trust.MODEL)).durations is None


def test_an_open_one_is_counted_by_its_state() -> None:
    agent = worker(done("a", SECOND), [Started("b", Millis(NOW - SECOND), HERE, agent="worker")])
    assert agent.states == {State.COMPLETED: 1, State.RUNNING: 1}


def test_agents_of_two_programs_are_two_agents_and_the_busiest_comes_first() -> None:
    events = [*done("a", 1), *done("b", 1, product="codex"), *done("c", 1, product="codex")]
    assert [(agent.product, agent.count) for agent in gathered(*events).agents] == [("codex", 2), (None, 1)]


def test_a_command_is_counted_without_its_task() -> None:
    starts = [Started(f"s{n}", NOW, HERE, command="implement", task=str(n)) for n in range(3)]
    assert [(agent.agent, agent.count) for agent in gathered(*starts).agents] == [("/implement", 3)]


def test_tokens_and_cost_are_added_and_unknown_where_nobody_tells() -> None:
    events = [*done("a", SECOND), *done("b", SECOND)]
    assert worker(events).tokens is None
    agent = worker([*events, Heard("a", NOW, HERE, tokens=5, cost=0.5), Heard("b", NOW, HERE, tokens=7)])
    assert (agent.tokens, agent.cost) == (12, 0.5)


@pytest.mark.parametrize(
    ("timeout", "fit"), [(HOUR, "generous"), (3 * MINUTE, "fits"), (MINUTE, "too short"), (30 * SECOND, "too short")]
)
def test_a_timeout_is_held_against_what_it_really_takes(timeout: int, fit: str) -> None:
    given = worker(*(done(f"s{n}", 61 * SECOND, timeout=timeout) for n in range(10))).timeouts
    assert given is not None
    assert (given.fit, given.suggested, given.given) == (fit, 120.0, timeout / SECOND)


def test_from_few_durations_nothing_is_suggested() -> None:
    given = worker(*(done(f"s{n}", SECOND, timeout=MINUTE) for n in range(7))).timeouts
    assert given is not None
    assert (given.suggested, given.fit) == (None, None)


def test_when_many_run_out_of_time_the_suggestion_is_a_lower_bound() -> None:
    quick = [done(f"s{n}", 10 * SECOND, timeout=MINUTE) for n in range(9)]
    given = worker(*quick, done("x", MINUTE, Outcome.TIMEOUT, timeout=MINUTE)).timeouts
    assert given is not None
    assert (given.ran_out, given.at_least, given.fit, given.suggested) == (1, True, "too short", 120.0)


def test_only_what_was_agreed_can_be_breached() -> None:
    path = ("orchestrator", "work", "worker")
    began = Millis(NOW - 90 * HOUR)
    lost = Started("sess_20251226_abc123", began, HERE, agent="worker", depth=1, path=path, timeout=MINUTE)
    assert worker([lost]).breaches == {}
    assert "RET-003" in worker(done("a", SECOND)).breaches


def test_breaches_are_counted_by_delegation_too() -> None:
    agent = worker(done("a", SECOND), done("b", SECOND))
    assert agent.breached == 2
    assert agent.breaches["RET-003"] == 2


@given(st.lists(st.integers(0, 10**9), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_the_least_value_that_covers_its_share(values: list[int], share: float) -> None:
    ordered = sorted(values)
    found = within(ordered, share)
    assert sum(value <= found for value in ordered) >= share * len(ordered)
    assert sum(value < found for value in ordered) < share * len(ordered)


@given(st.floats(0, 10**10))
def test_a_rounded_time_is_never_shorter(span: float) -> None:
    assert rounded(span) >= span


# -- as text ---------------------------------------------------------------------------------------------------------


def text(found: Stats, width: int = 100, **how: bool) -> str:
    return "\n".join(agent_stats_text.lines(found, width, **how))


def test_the_table_and_the_plot_read_as_text() -> None:
    events = [event for n in range(1, 21) for event in done(f"s{n}", n * 10 * SECOND, timeout=10 * MINUTE)]
    printed = text(gathered(*events), 80)
    assert (
        "AGENT    N  RETURNED  MEDIAN   P95   MAX  TOKENS  COST  OUTCOMES\n"
        "worker  20        20    1:45  3:10  3:20       –     –  20 completed\n"
    ) in printed
    assert (
        "AGENT   GIVEN   P95  RAN OUT  SUGGESTED  FIT\n"
        "worker  10:00  3:10        0       5:00  fits\n"
    ) in printed  # fmt: skip
    assert printed.endswith(
        "Durations\n"
        "worker  ────────────────────────────▒▒▒▒▒▒▒▒▒▒▒▒▒█▒▒▒▒▒▒───┤•                  ▲\n"
        "        ┴──────────────────────────────┴───────────────────────────────────────┴\n"
        "        10s                           1m                                     10m\n"
        "\n"
        "─┤ up to the 95th percentile   ▒ the middle half   █ median   • longest   ▲ timeout given"
    )


def test_in_ascii_no_other_sign_is_used() -> None:
    events = [event for n in range(1, 21) for event in done(f"s{n}", n * 10 * SECOND, timeout=10 * MINUTE)]
    assert text(gathered(*events), ascii_only=True).isascii()


def test_no_delegation_is_said_in_a_sentence() -> None:
    assert text(gathered()) == "No delegations at 2025-12-26T10:00:00Z."


def test_a_hostile_name_moves_no_cursor() -> None:
    events = done("a", SECOND, agent=HOSTILE, product=HOSTILE)
    printed = text(gathered(*events))
    assert "evil" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    assert "\n".join(agent_stats.as_json(gathered(*events))).isascii()


def test_a_narrow_terminal_gets_no_line_that_is_too_wide() -> None:
    events = [event for n in range(1, 21) for event in done(f"s{n}", n * 10 * SECOND, timeout=10 * MINUTE)]
    rows = text(gathered(*events), 40).splitlines()
    assert all(cells(row) <= 40 for row in rows if row.startswith(("AGENT", "worker", " ")))


spans = st.floats(0, 10**8)


@given(st.lists(st.tuples(st.lists(spans, min_size=6, max_size=6), st.none() | spans), max_size=5), st.integers(0, 200))
def test_a_plot_keeps_to_its_width_whatever_it_is_given(
    given: list[tuple[list[float], float | None]], width: int
) -> None:
    strips = [Strip(f"a{n}", Durations(1, *sorted(values)), limit) for n, (values, limit) in enumerate(given)]
    *drawn, _, _ = [*plot.plot(strips, width), "", ""]
    assert all(len(row) <= width for row in drawn[:-1] if not row.startswith("─┤"))


# -- the command and its contract ------------------------------------------------------------------------------------


def test_the_json_keeps_to_its_contract() -> None:
    found = gathered(*done("a", SECOND, timeout=MINUTE), *done("b", SECOND, agent=HOSTILE))
    assert msgspec.json.decode("\n".join(agent_stats.as_json(found)), type=Stats) == found


def test_the_schema_on_file_is_that_of_the_program(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "schema" / "stats.schema.json"
    if update_golden:
        page.write_text(agent_stats.schema(), "utf-8")
    assert page.read_text("utf-8") == agent_stats.schema()


def test_the_page_tells_of_every_field_of_the_json(project: Path) -> None:
    page = (project / "docs" / "stats.md").read_text("utf-8")
    fields = [
        field.name for kind in (Stats, Agent, Durations, agent_stats.Timeouts) for field in msgspec.structs.fields(kind)
    ]
    assert not [name for name in fields if f"`{name}" not in page]


def test_the_command_prints_the_figures_of_a_log(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = project / "sample_logs" / "15_fan_out"
    assert main(["stats", str(log), "--at", iso(NOW), "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["schema_version"] == 1
    assert main(["stats", str(log)]) == Exit.OK
    assert "How long they take, and how they end\nAGENT" in capsys.readouterr().out


def test_a_source_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert main(["stats", str(tmp_path / "gone.jsonl")]) == Exit.UNREADABLE


def began(id: str, weeks: float, took: int = MINUTE, outcome: Outcome = Outcome.COMPLETED) -> list[Event]:
    """One that began so many weeks before now."""
    at = Millis(NOW - int(weeks * 7 * 24 * HOUR))
    started, ended = done(id, took, outcome)
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    return [msgspec.structs.replace(started, at=at), msgspec.structs.replace(ended, at=Millis(at + took))]


def test_weeks_tell_what_began_in_them_and_how_it_went() -> None:
    lost = began("d", 3)[:1]
    stats = gathered(
        *began("a", 3), *began("b", 3, 3 * MINUTE), *began("c", 3, outcome=Outcome.FAILED), *lost, *began("e", 0)
    )
    first, *between, last = stats.weeks
    assert (first.begins, first.delegations, first.sessions, first.failed, first.lost) == ("2025-12-01", 4, 4, 1, 1)
    assert first.median_seconds == 60.0
    assert [week.delegations for week in between] == [0, 0]
    assert (last.begins, last.delegations, last.cost) == ("2025-12-22", 1, None)


def test_a_trend_is_told_in_words_and_drawn_also_with_ascii_alone() -> None:
    events = [event for week in range(1, 6) for n in range(4) for event in began(f"s{week}{n}", week, week * MINUTE)]
    told = text(gathered(*events, *began("now", 0)))
    assert "By week\nWEEK OF     SESSIONS  DELEGATIONS  FAILED    LOST  MEDIAN    COST\n2025-11-17         4 " in told
    assert "In the week of 2025-12-15 there were as many delegations as in the median of the 4 weeks before it" in told
    assert "half came back within 1:00, 3:30 before" in told
    assert "█████▂" in told
    plain = text(gathered(*events), ascii_only=True)
    assert "#####" in plain
    assert plain.isascii()


def test_weeks_in_which_hardly_anything_was_done_are_not_compared_with_and_that_is_said() -> None:
    events = [event for week in (1, 2, 5) for n in range(4) for event in began(f"s{week}{n}", week)]
    told = text(gathered(*events, *began("few", 3), *began("now", 0)))
    assert "in the median of the 2 weeks before it with 4 or more; " in told


def test_of_one_week_alone_there_is_no_trend() -> None:
    assert "By week" not in text(gathered(*began("a", 0)))
