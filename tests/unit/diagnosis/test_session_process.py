"""Whose session a delegation is of, whether that session's process is there, and how it was started."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.telling import at, ended, forest_at, handle_of, heard, place, started

from delegtop.base.clock import Millis
from delegtop.base.origin import kernel
from delegtop.diagnosis.session_process import Process, SessionProcess, session_of, session_process
from delegtop.model.events import LOCALHOST, Ended, Ending, Event, Noted, Outcome, Resumed, Started
from delegtop.model.notes import OUT_OF_SIGHT, VANISHED
from delegtop.model.session_manner import JOB, KERNEL, MANNER, PROC_START, SEEN, Manner

NOW = at(60)


def session(id: str = "a", minute: float = 0, **facts: Any) -> Started:
    return started(id, minute, **({"product": "claude-code", "agent": "claude", "depth": 0} | facts))


def process(pid: int, minute: float = 0, *refs: tuple[str, str], id: str = "a", seen: bool = True) -> Started:
    """What a registry, or the kernel, tells of a process."""
    told = (*refs, (PROC_START, str(pid * 10)), *(((SEEN, KERNEL),) if seen else ()))
    origin = kernel(pid) if seen else place(f"sessions/{pid}.json")
    return Started(id, at(minute), origin, pid=pid, host=LOCALHOST, refs=told, listed=True, product="claude-code")


def found(*events: Event, id: str = "a", now: Millis = NOW) -> SessionProcess:
    forest = forest_at(now, events)
    told = session_process(forest, handle_of(forest, id))
    assert told is not None
    return told


def test_a_process_that_the_system_showed_is_there() -> None:
    told = found(session(), process(4711))
    assert (told.process, told.pid, told.start_ticks) == (Process.THERE, 4711, 47110)
    assert told.is_there


def test_a_process_that_only_a_log_names_is_not_said_to_be_there() -> None:
    told = found(session(), process(4711, seen=False))
    assert (told.process, told.why) == (Process.UNSEEN, "nobody has looked at its process")


def test_a_process_that_was_found_gone_is_gone() -> None:
    gone = Ended("a", at(20), kernel(4711), Outcome.LOST, Ending.GONE)
    assert found(session(), process(4711), gone).is_gone


def test_a_session_between_two_prompts_whose_process_is_gone_is_without_one() -> None:
    signed_off = Ended("a", at(20), place(), Outcome.UNKNOWN, Ending.GONE)
    assert found(session(), process(4711), signed_off).is_gone


def test_who_went_on_after_its_process_was_said_to_be_gone_runs_nobody_knows_where() -> None:
    went = Noted("a", at(20), kernel(4711), VANISHED, "its process went")
    gone = Ended("a", at(20), kernel(4711), Outcome.LOST, Ending.GONE)
    told = found(session(), process(4711), went, gone, heard("a", 30))
    assert (told.process, told.why) == (
        Process.UNSEEN,
        "it went on after its process (pid 4711) went, nobody knows where",
    )


def test_a_session_goes_on_in_the_process_that_came_last_and_only_that_counts() -> None:
    before = process(4711, 0, (MANNER, "background"), (JOB, "5e55"))
    gone = Ended("a", at(20), kernel(4711), Outcome.LOST, Ending.GONE)
    again = process(4800, 30, (MANNER, "terminal"))
    told = found(session(), before, gone, again, Resumed("a", at(30), place()))
    assert (told.process, told.pid, told.start_ticks) == (Process.THERE, 4800, 48000)
    assert (told.runs_as, told.background_id) == (Manner.TERMINAL, None)


def test_a_new_process_that_nobody_has_looked_at_is_not_seen_because_the_one_before_was() -> None:
    again = process(4800, 30, seen=False)
    assert found(session(), process(4711), again).process is Process.UNSEEN


def test_its_own_files_know_better_than_the_kernel_how_a_program_was_started() -> None:
    by_kernel = process(4711, 1, (MANNER, "terminal"))
    by_file = process(4711, 0, (MANNER, "background"), (JOB, "5e55"), seen=False)
    for events in ((by_kernel, by_file), (by_file, by_kernel)):
        told = found(session(), *events)
        assert (told.process, told.runs_as, told.background_id) == (Process.THERE, Manner.BACKGROUND, "5e55")


def test_where_nobody_can_look_it_says_why() -> None:
    hidden = Noted("a", at(1), kernel(), OUT_OF_SIGHT, "they are those of another user")
    told = found(session(), process(4711), hidden)
    assert (told.process, told.why) == (Process.UNSEEN, "they are those of another user")


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (session(), "nothing tells which process it is"),
        (session(pid=4711, host="build-7"), "it is on build-7"),
        (session(pid=4711, host=LOCALHOST), "nobody has looked at its process"),
    ],
)
def test_what_is_not_known_is_not_made_up(start: Started, why: str) -> None:
    told = found(start)
    assert (told.process, told.why, told.runs_as) == (Process.UNSEEN, why, Manner.UNKNOWN)


def test_nobody_looks_at_the_process_of_a_session_that_has_ended() -> None:
    told = found(session(), process(4711), ended("a", 20, Outcome.FAILED))
    assert (told.process, told.why) == (Process.UNSEEN, "it has ended, and nobody looks at its process any more")


def test_an_unknown_word_for_how_it_was_started_is_no_manner() -> None:
    assert found(session(), process(4711, 0, (MANNER, "by hand"))).runs_as is Manner.UNKNOWN


@dataclass
class Tree:
    """Who is below whom, and whose session each is found to be of."""

    events: tuple[Event, ...]
    sessions: dict[str, str | None] = field(default_factory=dict)


TREES = {
    "agents within agents": Tree(
        (
            session(),
            started("b", 1, parent="a", product="claude-code"),
            started("c", 2, parent="b", product="claude-code"),
        ),
        {"a": "a", "b": "a", "c": "a"},
    ),
    "a session that a session's tool started": Tree(
        (session(), session("b", 1, parent="a"), started("c", 2, parent="b", product="claude-code")),
        {"b": "b", "c": "b"},
    ),
    "another program between two of one": Tree(
        (session(), session("b", 1, parent="a", product="codex"), session("c", 2, parent="b", depth=None)),
        {"a": "a", "b": "b", "c": "c"},
    ),
    "nobody is known to be a session": Tree(
        (started("a", product="opencode"), started("b", 1, parent="a", product="opencode")), {"a": "a", "b": "a"}
    ),
    "no program": Tree((started("a", product=None),), {"a": None}),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES.keys())
def test_the_session_is_the_nearest_that_a_person_can_talk_to(tree: Tree) -> None:
    forest = forest_at(NOW, tree.events)
    told = {id: session_of(forest, handle_of(forest, id)) for id in tree.sessions}
    assert {id: None if each is None else forest.id(each) for id, each in told.items()} == tree.sessions
