"""Which delegations are problems, worst first, and the queue that finds them a slice at a time."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from delegtop.app.inspector.findings import found as findings
from delegtop.app.inspector.words import Subject
from delegtop.app.triage import words
from delegtop.app.triage.queue import Queue
from delegtop.app.widgets.sheet import wrap
from delegtop.clock import DAY, MINUTE, FrozenClock, Millis, parse_time
from delegtop.diagnosis.problems import Problem, held_up, problem
from delegtop.feed import Feed
from delegtop.model.events import Ended, Ending, Event, Fault, Heard, Noted, Outcome, Phase, Report, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LINES = iter(range(1, 10_000_000))
T0 = Millis(1_700_000_000_000)


def at(minutes: float) -> Millis:
    return Millis(int(T0 + minutes * MINUTE))


def place() -> Origin:
    return Origin("log.jsonl", next(LINES), 0)


def started(id: str, minute: float = 0, **fields: Any) -> Started:
    return Started(id, at(minute), place(), **({"agent": "worker"} | fields))


def tool(id: str, minute: float) -> Heard:
    return Heard(id, at(minute), place(), "make", "bash", phase=Phase.TOOL)


def ended(id: str, minute: float, outcome: Outcome, *errors: str) -> Ended:
    report = Report(errors=tuple(Fault(message) for message in errors))
    return Ended(id, at(minute), place(), outcome, Ending.RETURN, report)


def forest(*events: Event, look: float) -> Forest:
    grown = Forest()
    grown.apply(events)
    grown.advance(at(look))
    return grown


def found(grown: Forest) -> list[tuple[str, str]]:
    queue = Queue(grown)
    assert not queue.settle(60)
    return [(each.id, each.kind) for each in queue.problems()]


STUCK = (
    started("top", timeout=10 * MINUTE),
    started("mid", 1, parent="top"),
    started("leaf", 2, parent="mid"),
    tool("leaf", 3),
)


def test_of_a_stuck_path_the_leaf_is_told_and_whom_it_holds_up() -> None:
    grown = forest(*STUCK, look=30)
    assert found(grown) == [("leaf", "hung in a tool")]
    told = problem(grown, 2, grown.now)
    assert told is not None
    assert (told.blocks, told.rule) == (2, "VER-005")
    assert held_up(grown, 2) == (1, 0)


def test_who_waits_for_one_that_is_well_is_no_problem() -> None:
    assert found(forest(started("a"), started("b", 1, parent="a"), tool("b", 3), look=5)) == []


def test_of_a_lost_path_the_leaf_is_told() -> None:
    grown = forest(started("a"), started("b", 1, parent="a"), tool("b", 3), look=3 * DAY / MINUTE)
    assert found(grown) == [("b", "lost")]
    assert held_up(grown, 1) == (0,)


def test_an_error_that_was_handed_up_is_told_where_it_arose() -> None:
    told: list[Event] = [started("a"), started("b", 1, parent="a")]
    told += [ended("b", 2, Outcome.FAILED, "no disk"), ended("a", 3, Outcome.FAILED, "no disk")]
    assert found(forest(*told, look=9)) == [("b", "failed")]
    told[-1] = ended("a", 3, Outcome.FAILED, "no disk", "and no paper")
    assert found(forest(*told, look=9)) == [("a", "failed"), ("b", "failed")]


def test_what_a_person_must_do_comes_first_then_hangs_then_ends_the_last_first() -> None:
    told: list[Event] = [
        started("late", timeout=5 * MINUTE),
        Heard("late", at(16), place(), "thinking"),  # else all were silent at once, and the machine slept
        Heard("late", at(28), place(), "thinking"),
        started("asks"),
        Heard("asks", at(28), place(), "rm", "bash", phase=Phase.PERMISSION),
        started("old"),
        ended("old", 3, Outcome.FAILED),
        started("new"),
        ended("new", 9, Outcome.FAILED),
        started("half"),
        ended("half", 9, Outcome.PARTIAL),
        started("see"),
        Heard("see", at(29), place()),
        Noted("see", at(2), place(), "review", "decide"),
    ]
    assert found(forest(*STUCK, *told, look=30)) == [
        ("see", "needs review"),
        ("asks", "awaiting a permission"),
        ("leaf", "hung in a tool"),
        ("late", "overdue"),
        ("new", "failed"),
        ("old", "failed"),
        ("half", "partial"),
    ]


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.UNKNOWN])
def test_what_is_done_or_only_unknown_is_no_problem(outcome: Outcome) -> None:
    assert found(forest(started("a"), ended("a", 1, outcome), look=9)) == []


def test_the_queue_follows_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delegtop.app.triage.queue._REST", 0.0)
    grown = forest(*STUCK, look=30)
    queue = Queue(grown)
    queue.settle(60)
    before = queue.version
    queue.settle(60)
    assert queue.version == before
    grown.apply([ended("leaf", 31, Outcome.COMPLETED), Heard("mid", at(31), place(), "writing")])
    grown.advance(at(31.5))
    queue.settle(60)
    assert queue.of(2) is None
    assert [each.id for each in queue.problems()] == ["mid"]
    assert queue.version > before


def test_a_sweep_can_be_done_in_slices_and_ends_the_same() -> None:
    events = [event for n in range(300) for event in (started(f"d{n}"), ended(f"d{n}", n % 7 + 1, Outcome.FAILED))]
    grown = forest(*events, look=30)
    slow, fast = Queue(grown), Queue(grown)
    slices = 1
    while slow.settle(0.0):
        slices += 1
    fast.settle(60)
    assert slices > 5
    assert slow.problems() == fast.problems()
    assert len(slow) == 300


def test_a_hundred_thousand_that_are_done_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    count, judged = 100_000, []

    def watched(grown: Forest, handle: int, now: Millis) -> Problem | None:
        judged.append(handle)
        return problem(grown, handle, now)

    monkeypatch.setattr("delegtop.app.triage.queue.problem", watched)
    seconds = itertools.count()
    monkeypatch.setattr("delegtop.app.triage.queue.monotonic", lambda: float(next(seconds)))
    report, where = Report(), place()
    events: list[Event] = [*STUCK]
    for n in range(count):
        events.append(Started(f"d{n}", T0, where))
        events.append(Ended(f"d{n}", at(1), where, Outcome.COMPLETED, Ending.RETURN, report))
    grown = forest(*events, look=30)
    queue, slices = Queue(grown), 1
    while queue.settle(0.008):
        slices += 1
    assert judged == [0, 1, 2]
    assert slices > count / 100, "it looks at the clock after a few, so that no slice holds the keys"


def test_a_question_left_open_for_days_presses_no_more_than_what_is_lost() -> None:
    asked: list[Event] = [started("asks"), Heard("asks", at(1), place(), "which?", phase=Phase.ANSWER)]
    late: list[Event] = [started("late", 4000, timeout=5 * MINUTE), Heard("late", at(4009), place(), "thinking")]
    assert found(forest(*asked, *late, look=4010)) == [("late", "overdue"), ("asks", "awaiting an answer")]


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_every_problem_of_a_sample_has_its_line_and_its_page(sample: str) -> None:
    grown = Forest()
    feed = Feed([str(SAMPLES / sample)], clock=FrozenClock(parse_time("2026-12-01T00:00:00Z") or T0))
    for batch in feed.read_all():
        grown.apply(batch.events)
    feed.close()
    ended_at = max((grown.delegation(handle).heard_at or T0 for handle in range(len(grown))), default=T0)
    for look in (ended_at + 5 * MINUTE, ended_at + 45 * MINUTE, ended_at + 2 * DAY):
        grown.advance(Millis(look))
        queue = Queue(grown)
        queue.settle(60)
        for told in queue.problems():
            subject = Subject(grown, told.handle)
            page = words.page(told, subject, None, words.Known(findings(subject, {})))
            text = "\n".join(line.plain for block in page for line in wrap(block, 100))
            assert told.message
            assert told.kind in text
            assert told.kind[:16] in words.row(told, subject, None, 80, settled=False).plain
