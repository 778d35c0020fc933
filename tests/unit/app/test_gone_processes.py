"""What it means that a process is gone: for the session that ran in it, and for all it had started within itself."""

import json
import os
import subprocess
import sys
from itertools import permutations
from typing import Any

import pytest
from tests import judging
from tests.telling import at, forest_at, handle_of, place

from delegtop.app.pages.inspector import identity
from delegtop.app.pages.inspector.page_words import PageSubject
from delegtop.app.widgets.sheet import LabelledFact
from delegtop.base.clock import DAY, HOUR, MINUTE, SECOND, Millis, WallClock
from delegtop.base.origin import kernel
from delegtop.diagnosis.assessments import Assessments
from delegtop.feed.process_watch import ProcessWatch
from delegtop.model import measures, notes, phases
from delegtop.model.delegation import Basis
from delegtop.model.events import (
    LOCALHOST,
    Described,
    Ended,
    Ending,
    Event,
    Heard,
    Noted,
    Outcome,
    Phase,
    Resumed,
    Sighted,
    Started,
)
from delegtop.model.forest import Forest
from delegtop.model.policy import OperatorTimeout, Policy
from delegtop.model.states import State
from delegtop.report import tree_json

CLAUDE: dict[str, Any] = {"product": "claude-code"}


def session(id: str = "root", minutes: float = 0, **fields: Any) -> Started:
    return Started(id, at(minutes), place(), agent="claude", depth=0, **CLAUDE | fields)


def agent(id: str = "child", minutes: float = 1, parent: str = "root", **fields: Any) -> Started:
    return Started(id, at(minutes), place(), agent="Explore", depth=1, parent=parent, **CLAUDE | fields)


def heard(id: str, minutes: float, phase: Phase = Phase.TOOL) -> Heard:
    return Heard(id, at(minutes), place(), phase=phase)


def gone(id: str = "root", minutes: float = 10, outcome: Outcome = Outcome.LOST) -> Ended:
    return Ended(id, at(minutes), place("4711.json"), outcome, Ending.GONE)


def grown(*events: Event, look: float = 10, policy: Policy | None = None) -> Forest:
    return forest_at(at(look), events, policy)


def standing(forest: Forest, id: str) -> tuple[State, str]:
    handle = handle_of(forest, id)
    return forest.state(handle), forest.reason(handle)


WITH_IT = (State.LOST, "its session's process is gone")
FAMILY = (session(), agent(), agent("grandchild", 2, "child"), heard("root", 3, Phase.CHILD), heard("grandchild", 9))


def test_what_a_session_started_within_itself_is_gone_with_its_process() -> None:
    forest = grown(*FAMILY, gone())
    assert standing(forest, "root") == (State.LOST, "its process is gone")
    assert standing(forest, "child") == standing(forest, "grandchild") == WITH_IT


def test_an_agent_at_work_below_one_that_is_done_is_gone_with_the_session_too() -> None:
    done = Ended("child", at(4), place(), Outcome.COMPLETED, Ending.RETURN)
    forest = grown(*FAMILY, done, gone())
    assert standing(forest, "child")[0] is State.COMPLETED
    assert standing(forest, "grandchild") == WITH_IT


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_it_does_not_matter_in_which_order_it_becomes_known(order: tuple[int, ...]) -> None:
    told = (session(), agent(), heard("child", 5), gone())
    forest = Forest()
    for index in order:
        forest.apply([told[index]])
        forest.advance(at(10))
    assert standing(forest, "child") == WITH_IT
    assert forest.counts[State.LOST] == 2


@pytest.mark.parametrize(
    "sign", [Resumed("root", at(11), place()), heard("root", 11), Sighted("root", at(11), place("4712.json"))]
)
def test_a_session_that_is_heard_of_again_was_not_gone_nor_were_its_agents(sign: Event) -> None:
    forest = grown(*FAMILY, gone())
    forest.apply([sign])
    forest.advance(at(11))
    assert standing(forest, "root")[0] is State.WAITING
    assert standing(forest, "grandchild")[0] is State.RUNNING


def test_an_agent_that_is_heard_of_after_its_sessions_process_is_not_gone() -> None:
    assert standing(grown(*FAMILY, gone(), heard("grandchild", 11), look=11), "grandchild")[0] is State.RUNNING


def test_an_agent_of_another_program_and_a_session_of_its_own_have_processes_of_their_own() -> None:
    other = agent("other", product="codex")
    own = session("own", 1, parent="root")
    below = agent("below", 2, "own")
    forest = grown(session(), other, own, below, *(heard(id, 9) for id in ("other", "own", "below")), gone())
    assert standing(forest, "other")[0] is State.RUNNING
    assert standing(forest, "own")[0] is State.WAITING
    assert standing(forest, "below")[0] is State.RUNNING


def test_whoever_worked_for_one_that_was_lost_with_the_process_before_is_lost_with_it() -> None:
    lost = Ended("child", at(10), kernel(4712), Outcome.LOST, Ending.GONE)
    forest = grown(*FAMILY, lost, heard("root", 10, Phase.IDLE))
    assert standing(forest, "root")[0] is State.IDLE
    assert standing(forest, "child") == (State.LOST, "its process is gone")
    assert standing(forest, "grandchild") == WITH_IT
    forest.apply([heard("grandchild", 11)])
    forest.advance(at(11))
    assert standing(forest, "grandchild")[0] is State.RUNNING


def test_an_agent_that_asked_before_its_session_went_asks_no_longer() -> None:
    forest = grown(*FAMILY, heard("grandchild", 9.5, Phase.PERMISSION), gone())
    assert not forest.for_people()


def test_what_went_with_a_session_is_one_problem_and_not_one_each() -> None:
    for phase, told in ((Phase.CHILD, "root"), (Phase.IDLE, "child")):
        forest = grown(*FAMILY, heard("root", 3.5, phase), gone())
        assert [forest.id(each.handle) for each in judging.problems(forest)] == [told]


@pytest.mark.parametrize("outcome", [Outcome.LOST, Outcome.UNKNOWN])
def test_a_session_whose_turn_was_over_is_idle_and_not_lost_when_its_process_goes(outcome: Outcome) -> None:
    forest = grown(session(), agent(), heard("root", 4, Phase.IDLE), gone(outcome=outcome))
    assert standing(forest, "root") == (State.IDLE, "its turn ended 6:00 ago; its process is gone")
    assert standing(forest, "child") == WITH_IT


def test_that_its_process_was_found_gone_is_no_sign_of_life() -> None:
    forest = grown(session(), heard("root", 4), gone())
    (root,) = forest.roots()
    assert forest.delegation(root).heard_at == at(4)
    assert measures.quiet(forest, root) == 6 * MINUTE


# -- what another witness sees --------------------------------------------------------------------------------------


def in_tool(minutes: float = 1) -> Heard:
    return Heard("root", at(minutes), place(), "rm -rf build", "Bash", phase=Phase.TOOL)


def now_doing(*events: Event) -> str:
    for told in permutations(events):
        forest = grown(*told)
        (root,) = forest.roots()
        found = phases.now(forest.delegation(root))
        assert found == phases.now(grown(*events).delegation(root))
    return found


def sighted(minutes: float, phase: Phase | None = None) -> Sighted:
    return Sighted("root", at(minutes), place("4711.json"), phase)


def test_a_session_that_asks_permission_says_for_which_tool_and_command() -> None:
    assert now_doing(session(), in_tool(), sighted(2, Phase.PERMISSION)) == "asks permission: Bash: rm -rf build"


def test_once_it_is_allowed_the_command_stays() -> None:
    allowed = (session(), in_tool(), sighted(2, Phase.PERMISSION), sighted(3))
    assert now_doing(*allowed) == "Bash: rm -rf build"


def test_what_its_own_log_says_later_counts_more() -> None:
    assert now_doing(session(), in_tool(3), sighted(2, Phase.PERMISSION)) == "Bash: rm -rf build"


def test_a_session_that_is_busy_is_not_idle_any_more() -> None:
    forest = grown(session(), heard("root", 9, Phase.IDLE), sighted(9.5))
    assert standing(forest, "root")[0] is State.RUNNING
    assert forest.delegation(0).heard_at == at(9.5)


# -- the processes of one session -----------------------------------------------------------------------------------


def process(pid: int, minutes: float, file: str) -> Started:
    return Started(
        "root", at(minutes), place(file), agent="claude", depth=0, pid=pid, host=LOCALHOST, listed=True, **CLAUDE
    )


def test_when_a_process_started_contradicts_nobody_who_says_when_its_session_did() -> None:
    told = [session(), process(4711, 5, "4711.json"), process(4712, 60, "4712.json")]
    for order in permutations(told):
        facts = grown(*order).delegation(0)
        assert facts.claims == ()
        assert (facts.started_at, facts.pid) == (at(0), 4712)


def test_a_session_that_goes_on_in_another_process_is_not_gone_with_the_first() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    now = WallClock().now()
    old = Started("root", Millis(now - HOUR), place("old.json"), pid=ended.pid, host=LOCALHOST, listed=True, **CLAUDE)
    new = Started("root", now, place("new.json"), pid=os.getpid(), host=LOCALHOST, listed=True, **CLAUDE)
    for order in permutations((old, new)):
        minder = ProcessWatch(WallClock())
        for each in order:
            minder.mind(each)
        assert list(minder.ends(minder.missing())) == []


def test_the_process_of_a_session_that_was_resumed_in_it_is_not_shown_gone() -> None:
    now = WallClock().now()
    forest = forest_at(
        now,
        [
            Started("root", Millis(now - 9 * DAY), place(), depth=0, **CLAUDE),
            Started("root", now, place("new.json"), depth=0, pid=os.getpid(), host=LOCALHOST, listed=True, **CLAUDE),
            Resumed("root", now, place("new.json")),
        ],
    )
    assert identity._process(PageSubject(Assessments(forest), 0)).plain.endswith("seems alive")


def test_a_process_is_shown_as_it_was_known_at_the_moment_that_is_shown() -> None:
    """Nobody asks the process table of today, in which this process is long gone."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    events: list[Event] = [session(pid=ended.pid, host=LOCALHOST), heard("root", 5)]
    then, later = grown(*events, look=6), grown(*events, gone(minutes=10), look=11)
    assert identity._process(PageSubject(Assessments(then), 0)).plain.endswith("seems alive")
    assert identity._process(PageSubject(Assessments(later), 0)).plain.endswith("· gone")


def test_where_its_processes_cannot_be_seen_the_page_says_why() -> None:
    note = Noted("root", at(1), kernel(), notes.OUT_OF_SIGHT, "its log lies on a network")
    page = identity.blocks(PageSubject(Assessments(grown(session(), note)), 0), None)
    told = [fact.value.plain for fact in page if isinstance(fact, LabelledFact) and fact.label == "process"]
    assert told == ["its processes cannot be seen from here: its log lies on a network"]


def test_of_a_process_that_is_known_and_not_of_this_machine_the_page_does_not_say_that_it_is_there() -> None:
    note = Noted("root", at(1), kernel(), notes.OUT_OF_SIGHT, "they are on build-7, and this is another machine")
    seen = grown(session(pid=4711, host="build-7"), heard("root", 5), note, look=6)
    assert identity._process(PageSubject(Assessments(seen), 0)).plain == (
        "pid 4711 · build-7 · its processes cannot be seen from here: they are on build-7, and this is another machine"
    )
    gone = Ended("root", at(5), place(), Outcome.COMPLETED, Ending.RETURN)
    over = grown(session(pid=4711, host="build-7"), note, gone, look=6)
    assert "cannot be seen" not in identity._process(PageSubject(Assessments(over), 0)).plain


def test_that_a_process_was_found_gone_does_not_tell_when_it_ended() -> None:
    begun = session()
    found = Ended("root", at(90), kernel(4711), Outcome.LOST, Ending.GONE)
    went = Noted("root", at(90), kernel(4711), notes.VANISHED, "its process went")
    forest = forest_at(at(90), [begun, heard("root", 5), found])
    assert forest.state(0) is State.LOST
    assert measures.ended_at(forest.delegation(0)) is None
    assert json.loads("".join(tree_json.tree(forest, [])))["delegations"][0]["ended_at"] is None
    forest.apply([went])
    assert measures.ended_at(forest.delegation(0)) == at(90)


# -- limits ---------------------------------------------------------------------------------------------------------


def test_a_limit_to_the_work_in_a_folder_is_one_to_each_task_and_none_to_the_session() -> None:
    policy = Policy(timeouts=(OperatorTimeout("/home/ann/*", HOUR),))
    folders = [Described(id, at(0), place(), cwd="/home/ann/x") for id in ("root", "child")]
    forest = grown(session(), agent(minutes=600), *folders, heard("child", 601), look=602, policy=policy)
    root, child = forest.find("root"), forest.find("child")
    assert root is not None
    assert child is not None
    assert forest.deadline(root) is None
    limit = forest.deadline(child)
    assert limit is not None
    assert (limit.at, limit.basis) == (at(600) + 3600 * SECOND, Basis.OPERATOR)
    assert forest.state(child) is State.RUNNING
