"""What one delegation is told changes those around it too, at once and whatever came first."""

from tests.telling import forest_at, handle_of, place

from delegtop.base.clock import Millis
from delegtop.model.delegation import Basis
from delegtop.model.events import (
    Awaited,
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Outcome,
    Report,
    Resumed,
    Started,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy
from delegtop.model.states import State
from delegtop.model.typical_durations import ENOUGH

SECOND = 1000


def at(seconds: int) -> Millis:
    return Millis(seconds * SECOND)


def started(id: str, seconds: int = 0, **told: object) -> Started:
    return Started(id, at(seconds), place(), **told)  # type: ignore[arg-type]  # as the caller says


def ended(id: str, seconds: int, by: Ending = Ending.RETURN, report: Report | None = None) -> Ended:
    return Ended(id, at(seconds), place(), Outcome.COMPLETED, by, report or Report())


def grown(*events: Event, now: int = 10, policy: Policy | None = None) -> Forest:
    return forest_at(at(now), events, policy)


def state(forest: Forest, id: str) -> State:
    return forest.state(handle_of(forest, id))


def test_a_wait_that_is_over_makes_nobody_overdue_neither_whom_it_was_for_nor_those_below() -> None:
    forest = grown(started("parent"), started("child", 1, parent="parent"), now=2)
    forest.apply([Awaited("parent", at(3), place(), at(5), "wait_agent")])
    forest.advance(at(6))
    assert (state(forest, "parent"), state(forest, "child")) == (State.WAITING, State.RUNNING)
    assert [forest.deadline(handle) for handle in range(len(forest))] == [None, None]


def test_a_limit_to_the_parents_folder_limits_the_child_that_was_looked_at_before() -> None:
    policy = Policy(timeouts=(OperatorTimeout("/work*", 5 * SECOND),))
    forest = grown(started("parent"), started("child", 1, parent="parent"), now=2, policy=policy)
    forest.apply([Described("parent", at(3), place(), cwd="/work")])
    forest.advance(at(6))
    assert state(forest, "child") is State.OVERDUE


def test_what_lives_in_a_session_of_its_own_is_not_lost_with_the_one_above_even_below_one_that_ended() -> None:
    forest = grown(
        started("session", agent="main", depth=0, product="codex"),
        ended("session", 9, Ending.GONE),
        started("middle", 1, agent="worker", depth=1, parent="session", product="codex"),
        started("done", 2, agent="worker", parent="middle", product="codex"),
        ended("done", 3),
        started("last", 4, agent="worker", parent="done", product="codex"),
    )
    assert state(forest, "last") is State.LOST
    forest.apply([started("middle", agent="worker", depth=0, product="codex")])
    forest.advance(at(10))
    assert state(forest, "last") is State.RUNNING


def test_a_limit_of_the_parent_counts_for_a_child_whose_kind_is_usually_quicker() -> None:
    peers = [started(f"peer {number}", agent="worker", product="codex") for number in range(ENOUGH)]
    done = [ended(peer.id, 2) for peer in peers]
    parent = started("parent", agent="boss", timeout=20 * SECOND, product="codex")
    child = started("child", 1, agent="worker", parent="parent", product="codex")
    forest = grown(*peers, *done, parent, child, now=21)
    assert state(forest, "child") is State.OVERDUE
    handle = forest.find("child") or 0
    limit = forest.deadline(handle)
    assert limit is not None
    assert limit.basis is Basis.PARENT
    forest.apply([ended("parent", 20)])
    forest.advance(at(21))
    usual = forest.deadline(handle)
    assert usual is not None
    assert (state(forest, "child"), usual.basis) == (State.RUNNING, Basis.USUAL)


def test_an_error_before_it_was_given_work_again_ends_nothing() -> None:
    fatal = Erred("agent", at(2), place(), Fault("no more tokens", recoverable=False))
    again = Resumed("agent", at(3), place())
    assert state(grown(started("agent"), fatal), "agent") is State.FAILED
    for events in ((fatal, again), (again, fatal)):
        assert state(grown(started("agent"), *events), "agent") is State.RUNNING


def test_an_empty_word_in_one_start_is_filled_by_another_whichever_comes_first() -> None:
    empty = started("agent", agent="", task="", path=())
    full = started("agent", agent="worker", task="7", path=("main", "worker"))
    one, other = grown(empty, full, empty).delegation(0), grown(full, empty).delegation(0)
    assert one == other
    assert (one.agent, one.task, one.path) == ("worker", "7", ("main", "worker"))
    assert one.claims == ()


def test_a_start_told_in_two_places_is_the_same_whichever_is_read_first() -> None:
    first, second = (started("agent", guessed=True, refs=(("thread", "1"), ("agent", "2"))) for _ in range(2))
    assert grown(first, second).delegation(0) == grown(second, first).delegation(0) == grown(first).delegation(0)


def test_a_number_past_all_use_in_a_return_stops_nothing() -> None:
    forest = grown(started("agent"), ended("agent", 2, report=Report(summary="done", depth=10**30)))
    assert forest.delegation(0).report == Report(summary="done", depth=(1 << 63) - 1)


def test_the_agents_of_a_project_at_the_root_work_in_every_folder() -> None:
    limits = AgentLimits("/.claude/agents/worker.md", timeout=5 * SECOND, project="/")
    policy = Policy(agents={"worker": limits})
    assert policy.limits_of("worker", "/") == policy.limits_of("worker", "/work") == limits
