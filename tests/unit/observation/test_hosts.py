"""Two hosts whose logs have the same names stay two: what is told of one changes nothing of the other."""

import json
import os
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from tests.recorded_hosts import record_as

from delegtop.app.pages.inspector import identity
from delegtop.app.pages.inspector.page_words import PageSubject
from delegtop.app.widgets.sheet import LabelledFact
from delegtop.base.clock import MINUTE, SECOND, Millis, iso, parse_time
from delegtop.base.origin import Origin, kernel, of_host
from delegtop.cli import main
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.recovery import todo
from delegtop.diagnosis.session_commands import opening
from delegtop.model.events import (
    LOCALHOST,
    Described,
    Ended,
    Ending,
    Event,
    Heard,
    HostBeat,
    HostMet,
    Outcome,
    Phase,
    Started,
)
from delegtop.model.forest import Forest
from delegtop.model.measures import host, quiet
from delegtop.model.policy import AgentLimits, Policy
from delegtop.model.query import parse
from delegtop.model.session_manner import KERNEL, SEEN
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.observation.call_watch import open_calls

AT = "2026-03-12T15:20:00Z"
NOW = parse_time(AT, UTC)
assert NOW is not None
Trees = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture
def tree(capsys: pytest.CaptureFixture[str]) -> Trees:
    def tree(*sources: Path) -> dict[str, dict[str, Any]]:
        assert main(["tree", "--json", "--at", AT, *map(str, sources)]) == 0
        told = json.loads(capsys.readouterr().out)["delegations"]
        for row in told:
            del row["rank"]  # its place among all of them
        return {row["id"]: row for row in told}

    return tree


def entries(*ids: str, began: int) -> str:
    entry = {
        "command": "implement",
        "subagent": "executor",
        "start_time": iso(Millis((NOW or 0) - began)),
        "timeout": 7200,
        "status": "running",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "executor"],
    }
    return json.dumps(dict.fromkeys(ids, entry))


def test_the_registry_of_one_host_says_nothing_of_those_in_that_of_another(tmp_path: Path, tree: Trees) -> None:
    registry = tmp_path / "registry.json"
    hosts = {"dev": ("sess_a1", "sess_a2", "sess_a3", "sess_a4"), "gpu": ("sess_b1", "sess_b2")}
    recordings = []
    for number, (name, ids) in enumerate(hosts.items()):
        registry.write_text(entries(*ids, began=10 * MINUTE), encoding="utf-8")
        os.utime(registry, times=((NOW or 0) / SECOND - 60 + number,) * 2)  # that of the second is the newer one
        recordings.append(record_as(name, tmp_path / f"{name}.delegtop", registry, at=Millis(NOW or 0)))
    together = tree(*recordings)
    assert {row["state"] for row in together.values()} == {"running"}
    assert together == tree(recordings[0]) | tree(recordings[1])
    assert together == tree(*recordings[::-1])
    assert {id: row["host"] for id, row in together.items()} == {id: name for name, ids in hosts.items() for id in ids}


def test_nobody_gets_a_parent_on_another_host(tmp_path: Path, tree: Trees, project: Path) -> None:
    log, sample = tmp_path / "session.jsonl", project / "sample_logs" / "11_guessed_parents" / "session.jsonl"
    recordings = []
    for name in ("dev", "gpu"):
        log.write_text(sample.read_text("utf-8").replace("sess_1773", f"sess_{name}"), encoding="utf-8")
        recordings.append(record_as(name, tmp_path / f"{name}.delegtop", log, at=Millis(NOW or 0)))
    alone = [tree(recording) for recording in recordings]
    assert {"inferred"} <= {row["link"] for row in alone[0].values()}
    assert tree(*recordings) == alone[0] | alone[1]


def test_recordings_in_a_folder_and_one_of_this_place_beside_its_own_log(
    tmp_path: Path, tree: Trees, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = project / "sample_logs" / "11_guessed_parents"
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in ("dev", "gpu"):
        record_as(name, folder / f"{name}.delegtop", sample, at=Millis(NOW or 0))
    assert main(["record", str(sample), "--once", "-o", str(folder / "own.delegtop")]) == 0
    capsys.readouterr()
    assert main(["tree", "--json", "--at", AT, str(folder), str(sample)]) == 0
    rows = json.loads(capsys.readouterr().out)["delegations"]
    alone = tree(sample)
    assert len(rows) == 3 * len(alone)  # its own recording tells what its own log does
    local = {row["id"]: row for row in rows if not row["source"].startswith(("dev:", "gpu:"))}
    assert {id: row["state"] for id, row in local.items()} == {id: row["state"] for id, row in alone.items()}


# -- in the model ------------------------------------------------------------------------------------------------------

T0 = Millis(1_766_743_200_000)


def place(on: str, line: int = 1) -> Origin:
    return Origin("run.jsonl", line, line, on)


def grown(*events: Event, at: int = T0, policy: Policy | None = None) -> Forest:
    forest = Forest(policy)
    forest.apply(events)
    forest.advance(Millis(at))
    return forest


def on(forest: Forest, name: str, id: str = "s") -> Handle:
    found = forest.find(id, name)
    assert found is not None
    return found


def session(name: str, **facts: Any) -> Started:
    told: dict[str, Any] = {"product": "claude-code", "depth": 0, "pid": os.getpid(), "host": LOCALHOST}
    return Started("s", Millis(T0 - 60 * MINUTE), place(name), **(told | facts))


def test_one_id_on_two_hosts_is_two_rows_which_can_be_found_by_name() -> None:
    forest = grown(session(""), session("gpu"), session("dev"))
    assert [forest.host_of(handle) for handle in forest.walk()] == ["", "gpu", "dev"]
    assert [forest.id(handle) for handle in range(3)] == ["s", "gpu:s", "dev:s"]
    assert [forest.find(forest.id(handle)) for handle in range(3)] == [0, 1, 2]
    assert forest.all_of("s") == [0, 1, 2]
    assert [parse("host:gpu").matches(forest, handle) for handle in range(3)] == [False, True, False]


def test_the_process_table_of_this_machine_is_not_asked_for_the_process_of_another() -> None:
    """The number is that of this very process, which is there."""
    busy = Heard("s", Millis(T0 - 30 * MINUTE), place("gpu", 2), "make", tool="bash", phase=Phase.TOOL)
    forest = grown(session("gpu"), busy)
    assert open_calls(forest) == ()
    subject = PageSubject(_judged(forest), 0, UTC)
    facts = [each for each in identity.blocks(subject, None) if isinstance(each, LabelledFact)]
    (told,) = [each.value.plain for each in facts if each.label == "process"]
    assert "on another machine" in told
    assert "gpu" in told


def _judged(forest: Forest) -> Assessments:
    assessments = Assessments(forest)
    assessments.update()
    return assessments


def test_a_host_that_slept_did_so_though_another_was_awake() -> None:
    asleep = [Heard("s", Millis(T0 - minutes * MINUTE), place("dev", minutes)) for minutes in (60, 59, 20, 19)]
    awake = [Heard("s", Millis(T0 - minutes * MINUTE), place("gpu", minutes)) for minutes in range(1, 61)]
    forest = grown(*asleep, *awake)
    since = Millis(T0 - 60 * MINUTE)
    assert forest.silence(on(forest, "dev"), since).asleep
    assert not forest.silence(on(forest, "gpu"), since).asleep


def test_what_is_usual_on_one_host_is_not_so_on_another() -> None:
    def worked(name: str, number: int) -> list[Event]:
        start = Millis(T0 - (200 - number) * MINUTE)
        id = f"{name}{number}"
        return [
            Started(id, start, place(name, number), agent="explore", product="claude-code"),
            Ended(id, Millis(start + MINUTE), place(name, 900 + number), Outcome.COMPLETED, Ending.RETURN),
        ]

    done = [event for number in range(30) for event in worked("dev", number)]
    anew = [Started("s", T0, place(name, 999), agent="explore", product="claude-code") for name in ("dev", "gpu", "")]
    policy = Policy(usual={("claude-code", "explore"): (Millis(9 * MINUTE), 500)})
    forest = grown(*done, *anew, policy=policy)
    assert forest.usual(on(forest, "dev")) == (MINUTE, 30)
    assert forest.usual(on(forest, "gpu")) is None
    assert forest.usual(on(forest, "")) == (9 * MINUTE, 500)


def test_the_limits_of_agent_files_count_on_their_own_host_alone() -> None:
    told = '{"planner": {"source": "planner.md", "timeout": 60000}}'
    policy = Policy(agents={"planner": AgentLimits("here.md", timeout=5 * MINUTE)})
    starts = [Started("s", T0, place(name), agent="planner", product="codex") for name in ("", "dev", "gpu")]
    forest = grown(*starts, HostMet(T0, of_host("dev"), limits=told), policy=policy)
    limits = {name: forest.deadline(on(forest, name)) for name in ("", "dev", "gpu")}
    assert {name: None if limit is None else limit.at - T0 for name, limit in limits.items()} == {
        "": 5 * MINUTE,
        "dev": MINUTE,
        "gpu": None,
    }
    assert forest.policy_of(on(forest, "gpu")).agents == {}


def lost_session(via: str) -> Forest:
    gone = Ended("s", Millis(T0 - 5 * MINUTE), Origin("kernel:7", 0, 0, "gpu"), Outcome.LOST, Ending.GONE)
    where = Described("s", Millis(T0 - 59 * MINUTE), place("gpu", 2), cwd="/srv/it's")
    beat = HostBeat(T0, of_host("gpu"), lasts=7_500)
    refs = ((SEEN, KERNEL), ("sessionId", "s"))
    return grown(session("gpu", refs=refs), where, gone, HostMet(T0, of_host("gpu"), via=via), beat)


def test_what_takes_a_session_of_another_host_up_again_is_typed_there() -> None:
    forest = lost_session(via="me@devbox")
    (command,) = [step.command for step in todo(Case(forest, 0), ()) if step.command]
    assert command == """ssh -t me@devbox 'cd '"'"'/srv/it'"'"'"'"'"'"'"'"'s'"'"' && claude --resume s'"""
    assert opening(Case(forest, 0)).command == command


def test_where_nobody_knows_how_to_reach_the_host_it_is_told_and_not_offered() -> None:
    forest = lost_session(via="")
    steps = todo(Case(forest, 0), ())
    assert not [step.command for step in steps if step.command]
    assert any("on gpu: `cd " in step.words and "claude --resume s`" in step.words for step in steps)
    assert opening(Case(forest, 0)).command is None


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_findings_that_one_process_is_gone_the_earlier_counts(turned: bool) -> None:
    """Whoever reads all again after a reconnection finds it gone once more, later."""
    found = [Ended("s", Millis(T0 + late), kernel(4711), Outcome.LOST, Ending.GONE) for late in (0, 4_957)]
    forest = grown(session(""), *(found[::-1] if turned else found), at=T0 + MINUTE)
    assert forest.delegation(0).ended_at == T0
    assert forest.delegation(0).claims == ()


# -- time --------------------------------------------------------------------------------------------------------------


def beating(*beats: HostBeat, heard: int) -> list[Event]:
    busy = Heard("s", Millis(heard), place("gpu", 2), "make")
    return [HostMet(T0, of_host("gpu"), beats=True), session("gpu"), busy, session(""), *beats]


def test_no_time_passes_on_a_host_that_is_not_heard_of() -> None:
    forest = grown(*beating(HostBeat(T0, of_host("gpu"), 7_500), heard=T0 - MINUTE), at=T0 + 60 * MINUTE)
    far = on(forest, "gpu")
    assert forest.now_of(far) == T0 + 7_500
    assert quiet(forest, far) == MINUTE + 7_500
    assert (forest.state(far), forest.state(on(forest, ""))) == (State.RUNNING, State.SILENT)
    assert _judged(forest).of(far).problem is False
    forest.apply([HostBeat(Millis(T0 + 60 * MINUTE), of_host("gpu"), 7_500)])
    forest.advance(Millis(T0 + 60 * MINUTE))
    assert forest.state(far) is State.SILENT


def test_what_time_alone_changes_on_a_host_changes_with_its_next_word() -> None:
    """It may have been heard of a moment after its last word, and nobody here knows."""
    silent_after = Policy().silent_after
    forest = grown(*beating(HostBeat(T0, of_host("gpu"), 7_500), heard=T0 - silent_after + SECOND), at=T0)
    judged, far = _judged(forest), on(forest, "gpu")
    forest.advance(Millis(T0 + 5 * SECOND))
    assert judged.update() == set()
    assert quiet(forest, far) == silent_after + 4 * SECOND
    assert forest.state(far) is State.RUNNING
    forest.apply([HostBeat(Millis(T0 + 5 * SECOND), of_host("gpu"), 7_500)])
    forest.advance(Millis(T0 + 5 * SECOND))
    assert forest.state(far) is State.SILENT


def test_before_a_host_has_told_all_there_was_no_time_passes_there_at_all() -> None:
    forest = grown(*beating(heard=T0 - 40 * MINUTE))
    far = on(forest, "gpu")
    assert forest.state(far) is State.RUNNING
    assert not forest.word_of(far).is_met


@pytest.mark.parametrize("offset", [-600 * SECOND, 600 * SECOND])
def test_a_clock_that_is_wrong_there_changes_nothing_there(offset: int) -> None:
    """The viewer's clock is so much ahead of the host's."""
    theirs = Millis(T0 - offset)
    beat = HostBeat(theirs, of_host("gpu"), 7_500, offset)
    forest = grown(*beating(beat, heard=theirs - 10 * SECOND), at=T0 + SECOND)
    far = on(forest, "gpu")
    assert forest.state(far) is State.RUNNING
    assert quiet(forest, far) == 11 * SECOND


def test_a_forest_of_several_hosts_is_frozen_and_goes_on() -> None:
    events = beating(HostBeat(T0, of_host("gpu"), 7_500), heard=T0 - MINUTE)
    forest = grown(*events)
    again = forest.freeze().thaw()
    for each in (forest, again):
        each.apply([Heard("new", Millis(T0 + 1), place("gpu", 9))])
        each.advance(Millis(T0 + 60 * MINUTE))
    assert [again.id(handle) for handle in again.walk()] == [forest.id(handle) for handle in forest.walk()]
    assert [again.state(handle) for handle in again.walk()] == [forest.state(handle) for handle in forest.walk()]
    assert again.hosts == forest.hosts
    assert [host(again, handle) for handle in again.on_host("gpu")] == ["gpu", "gpu"]
