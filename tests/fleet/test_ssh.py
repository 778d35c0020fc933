"""Other machines by real ssh: what is shown of them is what they would show themselves, whatever happens on the way."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests import stand_ins
from tests.fleet.host_stand_ins import WHY_NOT, FleetStandIn, HostStandIn, fleet
from tests.masking.planted import leaked, plant
from tests.patience import until

from delegtop.base.clock import MINUTE, Millis, WallClock, iso
from delegtop.base.ssh_command import SshAddress
from delegtop.cli import main
from delegtop.feed import fleet_links, host_link
from delegtop.feed.host_states import HostState
from delegtop.model.measures import quiet
from delegtop.model.states import State
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),
    pytest.mark.xdist_group("ssh servers"),
]
LOG = "logs/run.jsonl"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetStandIn]:
    with fleet(tmp_path_factory.mktemp("fleet")) as made:
        made.add("dev1", "dev2")
        yield made


@pytest.fixture(autouse=True)
def _on_the_way(world: FleetStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", world.path)
    monkeypatch.setattr(fleet_links, "_TICK", 0.05)
    monkeypatch.setattr(host_link, "FIRST_TRY", 0.05)
    world.write_config()
    for host in world.hosts.values():
        for left in host.home.iterdir():
            if left.name not in (".local", "state"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        shutil.rmtree(host.home / "state", ignore_errors=True)
        host.install()


@pytest.fixture
def _full(request: pytest.FixtureRequest) -> None:
    """What a stand-in for ssh shows as well, in less time."""
    if not request.config.getoption("--fleet-full"):
        pytest.skip("with --fleet-full")


def write(host: HostStandIn, *records: dict[str, Any], name: str = LOG) -> Path:
    """Append to a log that is found there by itself."""
    path = host.home / "state" / "delegtop" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def register(id: str, ago: int = 5 * MINUTE, **more: Any) -> dict[str, Any]:
    at = iso(Millis(WallClock().now() - ago))
    path = ["orchestrator", "implement", "executor"]
    facts = {"event": "register", "at": at, "session_id": id, "subagent": "executor", "delegation_path": path}
    return {**facts, "timeout": 3600, **more}


def heartbeat(id: str, doing: str, ago: int = 0) -> dict[str, Any]:
    at = iso(Millis(WallClock().now() - ago))
    return {"event": "heartbeat", "at": at, "session_id": id, "activity": doing}


def look_at(*names: str, **settings: Any) -> Observation:
    places = Places([], hosts=tuple(SshAddress(name, name) for name in names))
    seen = opened(places, Settings(**settings), rewinds=True)
    seen.catch_up()
    return seen


def stand(seen: Observation) -> dict[str, HostState]:
    return {host.name: host.state for host in seen.hosts}


def row(seen: Observation, id: str, host: str = "dev1") -> int:
    found = seen.forest.find(id, host)
    assert found is not None, f"{id} is not known"
    return found


def looked_until(seen: Observation, holds: Callable[[], object], what: str) -> None:
    def look() -> object:
        seen.look()
        return holds()

    until(look, what)


def rows(document: str) -> dict[str, dict[str, Any]]:
    found = {}
    for row in json.loads(document)["delegations"]:
        for told_otherwise in ("rank", "host", "source", "origin", "assessment", "findings", "notes", "claims"):
            row.pop(told_otherwise)
        found[row["id"]] = row
    return found


Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str, code: int = 0) -> str:
        assert main([*arguments]) == code, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def test_a_tree_of_hosts_is_what_each_of_them_prints_itself(world: FleetStandIn, project: Path, run: Run) -> None:
    dev1, dev2 = world.hosts["dev1"], world.hosts["dev2"]
    for host, sample in ((dev1, "05_blocked"), (dev2, "15_fan_out")):
        target = host.home / "state" / "delegtop" / "logs" / sample
        shutil.copytree(project / "sample_logs" / sample, target)
    stand_ins.claude(dev1.home, dev1.home / "work", ago=60)
    document = run("tree", "--json", "--since", "all", "ssh://dev1", "ssh://dev2", "ssh://nowhere", code=4)
    told = json.loads(document)
    assert [(host["name"], host["state"]) for host in told["hosts"]] == [
        ("dev1", "live"),
        ("dev2", "live"),
        ("nowhere", "unreachable"),
    ]
    assert {row["host"] for row in told["delegations"]} == {"dev1", "dev2"}
    alone: dict[str, dict[str, Any]] = {}
    for host in (dev1, dev2):
        own = {**os.environ, "HOME": str(host.home), "XDG_STATE_HOME": str(host.home / "state")}
        line = [str(host.home / ".local/bin/delegtop"), "tree", "--json", "--since", "all"]
        printed = subprocess.run(line, capture_output=True, text=True, env=own, cwd=host.home, check=True).stdout
        alone |= rows(printed)
    assert {id: row["state"] for id, row in rows(document).items()} == {id: row["state"] for id, row in alone.items()}
    assert _without_time(rows(document)) == _without_time(alone)


def _without_time(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Reasons count the minutes."""
    return {id: {name: value for name, value in row.items() if name != "reason"} for id, row in found.items()}


def test_a_line_that_is_written_there_is_a_row_here(world: FleetStandIn) -> None:
    write(world.hosts["dev1"], register("s1"))
    with look_at("dev1") as seen:
        assert stand(seen) == {"dev1": HostState.LIVE}
        write(world.hosts["dev1"], heartbeat("s1", "lake build"))
        looked_until(seen, lambda: seen.forest.delegation(row(seen, "s1")).doing == "lake build", "what it does")
        facts = seen.forest.delegation(row(seen, "s1"))
        assert facts.heard_origin is not None
        line = seen.feed.raw(facts.heard_origin)
        assert json.loads(line or b"")["activity"] == "lake build"
        assert [event.doing for _, told in seen.feed.history(facts) for event in told if hasattr(event, "doing")] == [
            "lake build"
        ]


_OTHER_TIME = """import sys, time
real, shift = time.time_ns, {shift} * 10**9
time.time_ns = lambda: real() + shift
from delegtop.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("shift", [-600, 600])
def test_a_host_whose_clock_is_wrong_is_judged_by_its_own(world: FleetStandIn, shift: int) -> None:
    host = world.hosts["dev1"]
    program = host.folder / f"shifted{shift}.py"
    program.write_text(_OTHER_TIME.format(shift=shift))
    host.install(f"exec {sys.executable} {program}")
    write(host, register("s1", 5 * MINUTE - shift * 1_000), heartbeat("s1", "there", 10_000 - shift * 1_000))
    write(host, register("late", 70 * MINUTE - shift * 1_000), heartbeat("late", "long", 65 * MINUTE - shift * 1_000))
    with look_at("dev1") as seen:
        seen.look()
        states = {id: seen.forest.state(row(seen, id)) for id in ("s1", "late")}
        assert states == {"s1": State.RUNNING, "late": State.OVERDUE}
        silence = quiet(seen.forest, row(seen, "s1"))
        assert silence is not None
        assert 5_000 < silence < 100_000
        (told,) = seen.hosts
        assert abs(told.offset + shift * 1_000) < 1_000


def test_a_recorder_that_is_killed_is_begun_again_and_only_what_is_new_is_told(
    world: FleetStandIn, request: pytest.FixtureRequest
) -> None:
    host = world.hosts["dev1"]
    write(host, register("s1"), *(heartbeat("s1", f"step {number}", 60_000 - number) for number in range(3_000)))
    with look_at("dev1") as seen:
        assert seen.fleet is not None
        (stream,) = seen.fleet.streams
        first = stream.spool.size
        for killed in range(request.config.getoption("--fleet-full") + 1):
            (recorder,) = host.recorders()
            write(host, heartbeat("s1", f"new {killed}"))
            os.kill(recorder, signal.SIGKILL)
            looked_until(seen, lambda: stand(seen)["dev1"] is not HostState.LIVE, "its loss")
            write(host, heartbeat("s1", f"after {killed}"))
            looked_until(seen, partial(_does, seen, "s1", f"after {killed}"), "what it does then")
        assert stream.spool.size - first < 0.05 * first
        assert stream.reading.unreadable == 0
        assert len(seen.forest) == 1


def _does(seen: Observation, id: str, doing: str) -> bool:
    return seen.forest.delegation(row(seen, id)).doing == doing and stand(seen)["dev1"] is HostState.LIVE


def test_a_process_is_judged_where_it_is_and_its_end_does_not_move(
    world: FleetStandIn, request: pytest.FixtureRequest
) -> None:
    host = world.hosts["dev1"]
    with subprocess.Popen(["sleep", "600"]) as process:
        stand_ins.claude(host.home, host.home / "work", ago=30)
        stand_ins.claude_entry(host.home, host.home / "work", process.pid)
        with look_at("dev1") as seen:
            id = stand_ins.CLAUDE_ID
            looked_until(seen, lambda: seen.forest.find(id, "dev1") is not None, "the session")
            handle = row(seen, id)
            looked_until(seen, lambda: seen.forest.delegation(handle).pid == process.pid, "its process")
            assert seen.forest.delegation(handle).elsewhere == "dev1"
            assert seen.forest.state(handle) is State.RUNNING
            process.kill()
            process.wait()
            looked_until(seen, lambda: seen.forest.is_gone(handle), "its end")
            ended = seen.forest.delegation(handle).ended_at
            assert ended is not None
            for _ in range(3 if request.config.getoption("--fleet-full") else 1):
                before = host.recorders()
                for recorder in before:
                    os.kill(recorder, signal.SIGKILL)
                looked_until(seen, partial(_others, host, before), "another")
                looked_until(seen, lambda: stand(seen)["dev1"] is HostState.LIVE, "to be there again")
            assert seen.forest.delegation(handle).ended_at == ended
            assert seen.forest.delegation(handle).claims == ()


def _others(host: HostStandIn, before: list[int]) -> bool:
    return host.recorders() not in ([], before)


def test_who_looks_is_killed_and_nothing_is_left_there(world: FleetStandIn) -> None:
    host = world.hosts["dev1"]
    write(host, register("s1"))
    before = _files(host.home)
    viewer = subprocess.Popen(
        [sys.executable, "-m", "delegtop", "watch", "ssh://dev1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert viewer.stdout is not None
    assert b"present" in viewer.stdout.readline()
    assert host.recorders()
    viewer.kill()
    viewer.wait()
    viewer.stdout.close()
    until(lambda: not host.recorders() and not host.sessions(), "everybody to leave")
    assert _files(host.home) == before


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("_full")
def test_a_delegtop_that_cannot_stream_leaves_nothing_either(world: FleetStandIn, run: Run) -> None:
    """As 0.1.0 does: it knows no --heartbeat."""
    host = world.hosts["dev2"]
    says = "echo delegtop 0.1.0"
    host.install(f'[ "$1" = --version ] && {{ {says}; exit; }}; echo "no such option --heartbeat" >&2; exit 2 #')
    before = _files(host.home)
    told = run("hosts", "dev2", code=4)
    assert "dev2: delegtop 0.1.0 cannot stream (0.2 or later can)" in told
    assert _files(host.home) == before


def test_what_ssh_itself_says(world: FleetStandIn, run: Run) -> None:
    world.hosts["dev2"].install("")
    world.write_config(aliases={"other": "dev1"})
    known = world.folder / "known_hosts"
    lines = known.read_text().splitlines()
    told = run("hosts", "dev2", "nowhere", code=4)
    assert (
        'dev2: delegtop is not installed there; "ssh dev2 uv tool install delegtop", or command = "uvx delegtop"'
        in told
    )
    assert "nowhere: cannot be reached: " in told
    known.write_text("")
    assert 'dev1: its host key is not known; run "ssh dev1" once and compare it' in run("hosts", "dev1", code=4)
    mine, other = (line.split() for line in lines[:2])
    known.write_text(" ".join([mine[0], *other[1:]]) + "\n")
    assert "dev1: its HOST KEY CHANGED" in run("hosts", "dev1", code=4)
    world.write_config()
    keys = world.hosts["dev1"].folder / "authorized_keys"
    allowed = keys.read_text()
    keys.write_text("")
    refused = run("hosts", "dev1", code=4)
    keys.write_text(allowed)
    words = 'dev1: ssh refuses the key (Permission denied (publickey)); "ssh dev1 true" must work without a question'
    assert words in refused


@pytest.mark.usefixtures("_full")
def test_two_names_of_one_host_are_shown_once(world: FleetStandIn) -> None:
    world.write_config(aliases={"again": "dev1"})
    write(world.hosts["dev1"], register("s1"))
    with look_at("dev1", "again") as seen:
        looked_until(seen, lambda: HostState.SAME in stand(seen).values(), "that they are one")
        assert len(seen.forest) == 1
        (same,) = [host for host in seen.hosts if host.state is HostState.SAME]
        (kept,) = [host for host in seen.hosts if host.state is HostState.LIVE]
        assert same.text == f"{kept.name} and {same.name} are one place; shown once as {kept.name}"


def test_secrets_stay_there(world: FleetStandIn) -> None:
    secrets = list(plant(120, seed=3))
    write(world.hosts["dev1"], register("s1"), *(heartbeat("s1", each.text) for each in secrets))
    with look_at("dev1") as seen:
        assert seen.fleet is not None
        (stream,) = seen.fleet.streams
        sent = b"\n".join(line for _, line in stream.spool.lines()).decode()
        assert len(leaked(secrets, sent)) <= 1
        assert "lake build" not in sent
        origin = seen.forest.delegation(row(seen, "s1")).heard_origin
        assert origin is not None
        assert leaked(secrets, (seen.feed.raw(origin) or b"").decode()) == []


def test_a_fleet_is_recorded_and_the_recording_replays_it(world: FleetStandIn, tmp_path: Path, run: Run) -> None:
    for name in ("dev1", "dev2"):
        write(world.hosts[name], register(f"of_{name}"), heartbeat(f"of_{name}", f"on {name}", 1_000))
    kept = tmp_path / "fleet.delegtop"
    run("record", "--once", "ssh://dev1", "ssh://dev2", "-o", str(kept))
    told = rows(run("tree", "--json", str(kept)))
    assert {id: row["doing"] for id, row in told.items()} == {"of_dev1": "on dev1", "of_dev2": "on dev2"}
    hosts = {row["id"]: row["host"] for row in json.loads(run("tree", "--json", str(kept)))["delegations"]}
    assert hosts == {"of_dev1": "dev1", "of_dev2": "dev2"}


def test_the_past_of_a_fleet_is_looked_at_and_the_present_goes_on(world: FleetStandIn) -> None:
    write(world.hosts["dev1"], register("s1", 10 * MINUTE), heartbeat("s1", "then", 8 * MINUTE), heartbeat("s1", "now"))
    write(world.hosts["dev2"], register("s2", 5 * MINUTE))
    with look_at("dev1", "dev2") as seen:
        assert len(seen.forest) == 2
        seen.seek(Millis(WallClock().now() - 7 * MINUTE))
        assert [seen.forest.id(handle) for handle in seen.forest.walk()] == ["s1"]
        assert seen.forest.delegation(0).doing == "then"
        assert seen.replay is not None
        seen.replay.resume()
