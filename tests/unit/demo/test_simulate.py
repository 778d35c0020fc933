"""The demo: the same seed tells the same story, and the first minute shows everything it promises."""

import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from inspect import isfunction
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.patience import until
from tests.samples import moment, observed

from delegtop.base.clock import SECOND, FrozenClock, Millis, WallClock, parse_time
from delegtop.demo import scenarios
from delegtop.demo.simulate import OPENING, Simulation
from delegtop.model.delegation import Link
from delegtop.model.states import State
from delegtop.protocols.standard.dialects.session_log_lines import Entry

NOON = parse_time("2026-03-14T12:00:00Z") or Millis(0)
MINUTE = Millis(NOON + 60 * SECOND)


def simulate(directory: Path, seed: int = 1, speed: float = 1) -> Simulation:
    return Simulation(seed, speed, directory, FrozenClock(NOON))


@dataclass
class Minute:
    """What a reader of the two files can know after the first minute, looking at the registry twice a second."""

    registered: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0
    listed: dict[str, dict[str, Any]] = field(default_factory=dict)
    last_listed: set[str] = field(default_factory=set)

    def of(self, event: str) -> dict[str, dict[str, Any]]:
        return {record["session_id"]: record for record in self.events if record["event"] == event}

    def returns(self, status: str) -> list[str]:
        return [
            session
            for session, record in self.of("return").items()
            if isinstance(record["return"], dict) and record["return"].get("status") == status
        ]

    def ended(self) -> set[str]:
        return {record["session_id"] for record in self.events if record["event"] in ("return", "timeout", "cancel")}

    def active_at(self, at: str) -> list[dict[str, Any]]:
        ends = {**self.of("return"), **self.of("cancel"), **self.of("timeout")}
        return [
            record
            for session, record in self.registered.items()
            if record["at"] <= at and (session not in ends or ends[session]["at"] >= at)
        ]


@pytest.fixture(scope="module", params=[1, 2, 3, 4, 5])
def minute(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Minute:
    simulation = simulate(tmp_path_factory.mktemp("demo"), seed=request.param)
    seen = Minute()
    for half_seconds in range(121):
        simulation.write_all(half_seconds / 2)
        snapshot = json.loads(simulation.registry.read_bytes())
        seen.listed.update(snapshot)
        seen.last_listed = set(snapshot)
    for line in simulation.log.read_bytes().splitlines():
        try:
            seen.events.append(json.loads(line))
        except ValueError:
            seen.unreadable += 1
    seen.registered = seen.of("register")
    return seen


@pytest.mark.parametrize("status", ["completed", "partial", "failed", "blocked"])
def test_the_first_minute_has_every_outcome(minute: Minute, status: str) -> None:
    assert minute.returns(status)


def test_every_story_is_told() -> None:
    stories = {each for name, each in vars(scenarios).items() if isfunction(each) and not name.startswith("_")}
    told = {*scenarios.REPERTOIRE, *(tale for _, _, tale in OPENING)}
    others: set[object] = {scenarios.often, scenarios.wait_for_a_lock}
    assert stories - told == others, "the latter needs a process, and is begun with one"


def test_the_first_minute_has_a_hang_with_waiting_ancestors_that_runs_past_its_deadline(minute: Minute) -> None:
    last_word = {record["session_id"]: moment(record["at"]) for record in minute.events}
    overdue = [
        record
        for session, record in minute.registered.items()
        if session not in minute.ended()
        and NOON < moment(record["deadline"]) < MINUTE
        and last_word[session] < NOON - 3 * 60 * SECOND
    ]
    [leaf] = [record for record in overdue if record.get("subagent")]
    parent = minute.registered[leaf["parent_session_id"]]
    command = minute.registered[parent["parent_session_id"]]
    assert not {parent["session_id"], command["session_id"]} & minute.ended()
    assert min(moment(parent["deadline"]), moment(command["deadline"])) > MINUTE


def test_the_first_minute_has_a_delegation_lost_since_yesterday(minute: Minute) -> None:
    yesterday = {
        record["session_id"]
        for record in minute.events
        if record["event"] == "heartbeat" and moment(record["at"]) < NOON - 25 * 3600 * SECOND
    }
    assert yesterday - minute.ended()


def test_the_first_minute_has_a_timeout_and_a_cancellation(minute: Minute) -> None:
    assert minute.of("timeout")
    assert all(record["artifacts"] for record in minute.of("timeout").values())
    assert minute.of("cancel")


def test_the_first_minute_has_a_cycle_and_an_exceeded_depth(minute: Minute) -> None:
    paths = [record["delegation_path"] for record in minute.registered.values()]
    assert any(len(set(path)) < len(path) for path in paths)
    assert any(record["delegation_depth"] > 3 for record in minute.registered.values())


def test_the_first_minute_has_returns_that_break_the_contract_in_three_ways(minute: Minute) -> None:
    returns = [record["return"] for record in minute.of("return").values()]
    assert any(isinstance(each, str) for each in returns)
    assert any(isinstance(each, dict) and each["status"] == "done" for each in returns)
    assert any(isinstance(each, dict) and "metadata" not in each for each in returns)


def test_the_first_minute_has_a_torn_line(minute: Minute) -> None:
    assert minute.unreadable


def test_the_first_minute_has_an_error_without_a_return(minute: Minute) -> None:
    fatal = {session for session, record in minute.of("error").items() if not record["error"]["recoverable"]}
    assert fatal - set(minute.of("return"))


def test_the_first_minute_has_an_entry_that_leaves_the_registry_without_a_word(minute: Minute) -> None:
    gone = minute.listed.keys() - minute.last_listed - minute.ended() - minute.of("error").keys()
    assert gone & minute.registered.keys()


def test_the_first_minute_has_delegations_that_only_one_of_the_two_files_knows(minute: Minute) -> None:
    assert minute.listed.keys() - minute.registered.keys()
    live = {record["session_id"] for record in minute.events if moment(record["at"]) > NOON}
    live -= {session for session, record in minute.registered.items() if "subagent" not in record}
    assert live - minute.listed.keys()


def test_the_first_minute_has_a_deadline_on_which_log_and_registry_disagree(minute: Minute) -> None:
    both = minute.listed.keys() & minute.registered.keys()
    assert any(minute.listed[session]["deadline"] != minute.registered[session]["deadline"] for session in both)


def test_the_first_minute_has_both_forms_of_session_id(minute: Minute) -> None:
    stamps = {session.split("_")[1] for session in minute.registered}
    assert {len(stamp) for stamp in stamps} == {8, 10}
    assert all(stamp.startswith("202603") for stamp in stamps if len(stamp) == 8)


def test_the_first_minute_has_one_parent_to_infer_and_one_that_stays_ambiguous(minute: Minute) -> None:
    fits = []
    for record in minute.registered.values():
        if "subagent" not in record or "parent_session_id" in record:
            continue
        assert "task_number" not in record, "a task would tell whose it is"
        path = record["delegation_path"][:-1]
        fits.append(sum(other["delegation_path"] == path for other in minute.active_at(record["at"])))
    assert 1 in fits
    assert max(fits) > 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whoever_watches_the_first_minute_sees_every_state_and_every_kind_of_link(tmp_path: Path, seed: int) -> None:
    clock = FrozenClock(NOON)
    simulation = Simulation(seed, 1, tmp_path, clock)
    simulation.write_all(0)
    seen = observed(simulation.log, simulation.registry, clock=clock)
    forest = seen.forest
    states: set[State] = set()
    links: set[Link] = set()
    reasons: set[str] = set()
    disputed: set[str] = set()
    for second in range(61):
        simulation.write_all(second)
        clock.set(Millis(NOON + second * SECOND))
        seen.look()
        for handle in forest.walk():
            states.add(forest.state(handle))
            links.add(forest.link(handle))
            reasons.add(forest.reason(handle))
            disputed.update(claim.field for claim in forest.delegation(handle).claims)
    seen.close()
    assert states == set(State) - {State.IDLE}  # that is for sessions of other programs
    assert links == set(Link)
    assert any("left the registry" in reason for reason in reasons)
    assert "deadline" in disputed


def test_something_happens_all_the_time(minute: Minute) -> None:
    times = [moment(record["at"]) for record in minute.events if moment(record["at"]) >= NOON]
    assert len(times) > 120
    assert max(later - earlier for earlier, later in pairwise(times)) < 3 * SECOND


def test_lines_are_in_the_order_of_their_times_and_tokens_only_grow(minute: Minute) -> None:
    times = [moment(record["at"]) for record in minute.events]
    assert times == sorted(times)
    tokens: dict[str, int] = {}
    for record in minute.events:
        if record["event"] == "heartbeat":
            assert record["tokens"] > tokens.get(record["session_id"], 0)
            tokens[record["session_id"]] = record["tokens"]


def test_every_line_fits_the_documented_format_but_those_broken_on_purpose(minute: Minute) -> None:
    returns = {session: record["return"] for session, record in minute.of("return").items()}
    broken = {
        session
        for session, value in returns.items()
        if isinstance(value, str) or value["status"] == "done" or "metadata" not in value
    }
    for record in minute.events:
        if record["event"] != "return" or record["session_id"] not in broken:
            msgspec.convert(record, Entry)


def test_no_text_is_left_with_a_placeholder_and_only_invented_hosts_appear(minute: Minute) -> None:
    assert "{" not in "".join(record.get("activity", "") for record in minute.events)
    assert {record["host"] for record in minute.registered.values()} <= {"forge-1", "forge-2"}
    for record in minute.of("return").values():
        if isinstance(record["return"], dict):
            assert "{" not in record["return"]["summary"]


def test_the_same_seed_and_start_write_the_same_bytes(tmp_path: Path) -> None:
    runs = [simulate(tmp_path / name, seed=7) for name in ("one", "two")]
    for run in runs:
        run.write_all(120)
    one, two = runs
    assert one.log.read_bytes() == two.log.read_bytes()
    assert one.registry.read_bytes() == two.registry.read_bytes()


def test_writing_step_by_step_gives_the_same_as_writing_at_once(tmp_path: Path) -> None:
    steps, once = simulate(tmp_path / "steps"), simulate(tmp_path / "once")
    for second in range(0, 90, 3):
        steps.write_all(second)
    steps.write_all(90)
    once.write_all(90)
    assert steps.log.read_bytes() == once.log.read_bytes()


def test_another_seed_tells_another_story(tmp_path: Path) -> None:
    one, two = simulate(tmp_path / "one", seed=1), simulate(tmp_path / "two", seed=2)
    one.write_all(60)
    two.write_all(60)
    assert one.log.read_bytes() != two.log.read_bytes()


def test_every_story_comes_again_after_the_first_minute(tmp_path: Path) -> None:
    simulation = simulate(tmp_path)
    simulation.write_all(1200)
    later = Counter[str]()
    for line in simulation.log.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            later["torn"] += 1
            continue
        if moment(record["at"]) > MINUTE:
            later[record["event"]] += 1
            if record["event"] == "return" and isinstance(record["return"], dict):
                later[record["return"]["status"]] += 1
    for what in ("timeout", "cancel", "error", "torn", "completed", "partial", "failed", "blocked", "done"):
        assert later[what] > 0, what


def test_speed_compresses_what_is_to_come_and_not_the_past(tmp_path: Path) -> None:
    slow, fast = simulate(tmp_path / "slow"), simulate(tmp_path / "fast", speed=10)
    slow.write_all(60)
    fast.write_all(60)
    for one, ten in zip(slow.log.read_bytes().splitlines(), fast.log.read_bytes().splitlines(), strict=True):
        if b'"at"' not in one:
            continue
        at_one, at_ten = (moment(json.loads(line)["at"]) for line in (one, ten))
        expected = at_one - NOON if at_one < NOON else (at_one - NOON) / 10
        assert at_ten - NOON == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("speed", [0, -1, float("inf"), float("nan")])
def test_a_speed_that_is_none_is_refused(tmp_path: Path, speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        simulate(tmp_path, speed=speed)


def test_a_made_up_run_is_never_mixed_into_a_log_that_exists(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_text("precious\n")
    with pytest.raises(FileExistsError, match=r"session\.jsonl"):
        simulate(tmp_path)
    assert (tmp_path / "session.jsonl").read_text() == "precious\n"


def test_most_artifacts_are_on_disk_and_some_are_forgotten(tmp_path: Path) -> None:
    simulation = simulate(tmp_path)
    simulation.write_all(300)
    there = Counter[bool]()
    for line in simulation.log.read_bytes().splitlines():
        if b'"status":"completed"' in line:
            returned = json.loads(line)["return"]
            there.update((tmp_path / artifact["path"]).is_file() for artifact in returned["artifacts"])
    assert there[True] > there[False] > 0


def test_a_started_simulation_has_a_past_goes_on_by_itself_and_stops(tmp_path: Path) -> None:
    simulation = Simulation(1, 50, tmp_path, WallClock())
    simulation.start()
    past = simulation.log.stat().st_size
    assert past > 10_000
    until(lambda: simulation.log.stat().st_size > past)
    simulation.stop()
    until(lambda: not is_at_work(simulation))
    assert simulation.failure is None


def test_it_stops_at_once_though_nothing_is_due_for_a_year(tmp_path: Path) -> None:
    simulation = Simulation(1, 1e-8, tmp_path, WallClock())
    simulation.start()
    assert is_at_work(simulation)
    simulation.stop()
    until(lambda: not is_at_work(simulation))


def is_at_work(simulation: Simulation) -> bool:
    return simulation._thread is not None and simulation._thread.is_alive()


def test_stopping_a_simulation_that_was_never_started_is_no_error(tmp_path: Path) -> None:
    simulate(tmp_path).stop()


def test_a_folder_that_vanishes_ends_the_simulation_with_a_reason(tmp_path: Path) -> None:
    simulation = Simulation(1, 50, tmp_path / "demo", WallClock())
    simulation.start()

    def fails() -> bool:
        shutil.rmtree(tmp_path / "demo", ignore_errors=True)
        return simulation.failure is not None

    until(fails)
    simulation.stop()
    assert isinstance(simulation.failure, OSError)
