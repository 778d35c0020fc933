"""A hub, a host that ships to it and somebody who looks: as people meet them, at the command line."""

import asyncio
import json
import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="there is no NATS here (pip install -e '.[dev,nats]')")

from tests.fleet.hub_stand_ins import WHY_NOT, HubStandIn, Started, delegtop, hub
from tests.patience import has_ended, until

from delegtop.base.hub_address import hub_address
from delegtop.feed.host_states import HostState
from delegtop.hub import subjects
from delegtop.hub.nats_client import connect
from delegtop.hub.pull import Pull
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.page_server.page_watch import PageWatch
from delegtop.report.live_page import page_html
from delegtop.settings import Settings

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
_ELSEWHERE = {"rank", "host", "source", "origin", "assessment", "findings", "notes", "claims", "reason"}
"""What is told otherwise here than there, or counts the minutes."""
SAMPLE = Path(__file__).parents[2] / "sample_logs" / "02_hang" / "session.jsonl"
SECRET, PROMPT = "sk-ant-api03-" + "Ab9" * 30, "Tell nobody of the blue door"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubStandIn]:
    with hub(tmp_path_factory.mktemp("hub")) as made:
        yield made


@pytest.fixture(scope="module")
def viewer(world: HubStandIn) -> Path:
    return world.watches("--raw")


@pytest.fixture(scope="module")
def shipper(world: HubStandIn) -> Started:
    """The host gpu1, which tells of two logs."""
    log = world.folder / "gpu1" / "logs" / "session.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(SAMPLE.read_bytes())
    (log.parent / "talk.jsonl").write_text(_claude_line())
    return world.ships("gpu1")


@pytest.fixture
def seen(world: HubStandIn, viewer: Path, shipper: Started) -> Iterator[Observation]:
    """What somebody sees who looks at the hub; gpu1 is live."""
    key = next((viewer / "config" / "delegtop" / "nats").glob("*.view.toml"))
    address = hub_address(f"nats://127.0.0.1:{world.port}?credentials={key}")
    assert shipper.process.poll() is None, shipper.words
    with opened(Places([], hosts=(address,)), Settings()) as made:
        look_until(made, lambda: state(made) is HostState.LIVE)
        yield made


def state(seen: Observation) -> HostState | None:
    return next((host.state for host in seen.hosts if host.name == "gpu1"), None)


def look_until(seen: Observation, holds: Callable[[], object]) -> None:
    def look() -> object:
        seen.look()
        return holds()

    until(look, "it", every=0.05)


def states(seen: Observation) -> dict[str, str]:
    return {seen.forest.delegation(each).id: seen.forest.state(each).value for each in range(len(seen.forest))}


def _claude_line() -> str:
    message = {"role": "user", "content": f"{PROMPT} with {SECRET}"}
    told = {
        "type": "user",
        "uuid": "11111111-2222-3333-4444-555555555555",
        "sessionId": "aaaaaaaa-2222-3333-4444-555555555555",
        "timestamp": "2026-03-03T10:00:00.000Z",
        "cwd": "/srv/work",
        "version": "2.0.0",
        "message": message,
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
    }
    return json.dumps(told) + "\n"


def rows(home: Path, source: str) -> dict[str, dict[str, Any]]:
    told = delegtop(home, "tree", "--json", source)
    assert told.stdout, told.stderr
    return {row["id"]: row for row in json.loads(told.stdout)["delegations"]}


def messages(world: HubStandIn) -> list[bytes]:
    """All that the hub has been told."""

    async def read() -> list[bytes]:
        key = world.made.own_key(world.address)
        client = await connect(hub_address(world.address), key, "a test")
        pull = await Pull.begin(client, subjects.STREAM, [subjects.all_told()])
        try:
            return [each.data async for each in pull.read(to_the_end=True)]
        finally:
            await client.close()

    return asyncio.run(read())


@pytest.mark.usefixtures("seen")
def test_a_tree_over_a_hub_is_the_tree_of_the_host_itself(world: HubStandIn, viewer: Path) -> None:
    log = world.folder / "gpu1" / "logs" / "session.jsonl"
    told, there = rows(viewer, f"nats://127.0.0.1:{world.port}"), rows(world.folder / "gpu1", str(log))
    assert len(there) == 4
    for id, row in there.items():
        assert {name for name in row if told[id][name] != row[name]} <= _ELSEWHERE
        assert told[id]["host"] == "gpu1"


@pytest.mark.usefixtures("seen")
def test_neither_prompts_nor_secrets_nor_lines_leave_a_host_that_ships(world: HubStandIn, shipper: Started) -> None:
    told = b"".join(messages(world))
    assert b"aaaaaaaa-2222-3333-4444-555555555555" in told
    assert PROMPT.encode() not in told
    assert SECRET[:30].encode() not in told
    assert b'"raw"' not in told
    assert "prompts stay here" in shipper.words


@pytest.mark.usefixtures("seen")
def test_a_line_that_is_asked_for_is_not_given_without_prompts(world: HubStandIn) -> None:
    async def ask() -> bool:
        key = world.made.own_key(world.address)
        client = await connect(hub_address(world.address), key, "a test")
        request = json.dumps({"want": [1, "logs/session.jsonl", 1, 0]}).encode()
        try:
            await client.request(subjects.want("gpu1"), request, timeout=0.5)
        except Exception:  # noqa: BLE001 -- whatever it is, there is no answer
            return False
        finally:
            await client.close()
        return True

    assert not asyncio.run(ask())


def test_a_shipper_that_was_killed_goes_on_where_the_hub_has_it(
    world: HubStandIn, seen: Observation, shipper: Started
) -> None:
    log, position = world.folder / "gpu1" / "logs" / "session.jsonl", _position(world)
    before = len(messages(world))
    shipper.kill()
    lines = log.read_text().splitlines()
    with log.open("a") as file:
        file.write(json.dumps(json.loads(lines[0]) | {"session_id": "sess_20260303_zzzzzz"}) + "\n")
    shipper.start()
    look_until(seen, lambda: "sess_20260303_zzzzzz" in states(seen))
    told = messages(world)[before:]
    assert sum(data.count(b'"is":"told"') for data in told) < len(lines), "all of it was told again"
    assert stat.S_IMODE(position.stat().st_mode) == 0o600


def _position(world: HubStandIn) -> Path:
    return next((world.folder / "gpu1" / "state" / "delegtop" / "ship").glob("*.position"))


def test_after_a_damaged_position_all_is_told_again_and_counts_once(
    world: HubStandIn, seen: Observation, shipper: Started
) -> None:
    expected, before, position = states(seen), len(messages(world)), _position(world)
    shipper.kill()
    position.write_bytes(b"00000000\n" + position.read_bytes()[9:60])
    shipper.start()
    look_until(seen, lambda: sum(data.count(b'"is":"told"') for data in messages(world)[before:]) >= 5)
    look_until(seen, lambda: state(seen) is HostState.LIVE)
    assert states(seen) == expected


def test_the_live_page_over_a_hub_says_which_hosts_are_there(seen: Observation) -> None:
    page = "\n".join(page_html.whole(PageWatch(seen).fresh()))
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert re.search(r"gpu1 live, \d+ open of [1-9]", words)
    assert "unreachable" not in words


def test_a_host_that_ends_shipping_is_said_to_and_keeps_its_rows(
    world: HubStandIn, seen: Observation, viewer: Path, shipper: Started
) -> None:
    there = states(seen)
    assert shipper.end() == 143
    told = delegtop(viewer, "hosts", f"nats://127.0.0.1:{world.port}")
    assert told.returncode == 4
    assert "gpu1: cannot be reached: delegtop ship has ended there" in told.stdout
    look_until(seen, lambda: state(seen) is HostState.UNREACHABLE)
    assert states(seen) == there


def test_all_that_a_hub_keeps_is_for_its_owner_alone_and_nothing_listens_elsewhere(world: HubStandIn) -> None:
    for path in (world.made.path, *world.made.path.rglob("*")):
        assert not path.stat().st_mode & 0o077, path
    server = _servers(world)
    assert len(server) == 1
    listening = subprocess.run(["cat", "/proc/net/tcp"], capture_output=True, text=True, check=True).stdout
    here = [line.split()[1] for line in listening.splitlines() if line.split()[1].endswith(f":{world.port:04X}")]
    assert any(each.startswith("0100007F") for each in here)
    assert not any(each.startswith("00000000") for each in here)
    for words in _command_lines():
        assert world.made.own_key(world.address).seed not in words


def _servers(world: HubStandIn) -> list[int]:
    config = str(world.made.config)
    return [pid for pid, words in _processes() if config in words and "nats-server" in words]


def _processes() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue


def _command_lines() -> list[str]:
    return [words for _, words in _processes()]


def test_each_key_is_good_for_what_it_is_for_and_for_nothing_else(world: HubStandIn) -> None:
    from tests.fleet.hub_rights import probes

    assert [name for name, held in probes(world).items() if not held] == []


def test_a_hub_that_is_killed_takes_its_server_along(world: HubStandIn) -> None:
    """The last of these: there is no hub any more."""
    (server,) = _servers(world)
    world.server.kill()
    until(lambda: has_ended(server), "the server to end")
    assert os.path.exists(world.made.path)  # noqa: PTH110 -- what it was told is still there


def test_what_a_hub_forgets_the_beginning_of_is_told_anew(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A session that goes on for longer than the hub keeps what it was told."""
    if not request.config.getoption("--fleet-full"):
        pytest.skip("with --fleet-full")
    with hub(tmp_path, "--keep", "12s") as made:
        log = made.folder / "gpu1" / "logs" / "session.jsonl"
        log.parent.mkdir(parents=True)
        first, *rest = SAMPLE.read_text().splitlines()
        log.write_text(f"{first}\n")
        made.ships("gpu1")
        until(lambda: messages(made), "it to be told", every=0.5)
        earliest = messages(made)[0]
        for number in range(40):
            with log.open("a") as file:
                file.write(f"{rest[number % len(rest)]}\n")
            time.sleep(1)
        assert earliest not in messages(made), "the hub has not forgotten anything"
        told = rows(made.watches(), f"nats://127.0.0.1:{made.port}?since=all")[json.loads(first)["session_id"]]
        assert told["started_at"] is not None
