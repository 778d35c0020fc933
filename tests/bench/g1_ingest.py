"""Goal 1: how fast a log becomes a tree, against a bare decode and against other readers of JSON."""

import gc
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median

import msgspec
from tests.bench import rivals
from tests.bench.make_history import make_history
from tests.bench.measure import PEERS, command, cpu, in_turn, method, now, ratio, resident
from tests.bench.plan import Plan, short
from tests.bench.table import Row
from tests.bench.terminal import Terminal

_REFRESH, _SHARE = 0.02, 9
"""Seconds between two looks at the states while more is coming, and so many times as long as one takes, as in the
dashboard."""
_SESSION = 555_000
"""Bytes of one session with its three agents: 360 of them are 200 MB."""
_NOBODY = "depth>99"


def rows(plan: Plan) -> list[Row]:
    found = [_against_decoding(plan, size) for size in plan.sizes]
    return [*found, *_against_programs(plan), _transcripts(plan), *(_dashboard(plan, size) for size in plan.sizes[1:])]


def _against_decoding(plan: Plan, size: int) -> Row:
    log = plan.log(size)
    rounds = 1 if size >= 1_000_000 else plan.rounds
    what = f"log into the tree, {short(size)} delegations: rate, of a bare msgspec decode"
    felt = "reading a session log" if size == plan.sizes[-1] else ""
    return _of_decoding(log, "decode", log.stat().st_size, rounds, what, 0.1, felt)


def _of_decoding(logs: Path, decoding: str, size: int, rounds: int, what: str, limit: float, felt: str) -> Row:
    taken = in_turn(
        {
            "decode": lambda: method(f"g1_ingest.{decoding}", logs)["cpu"],
            "delegtop": lambda: method("g1_ingest.load", logs)["cpu"],
        },
        rounds,
    )
    if len(taken) < 2:
        return Row(1, what, None, limit, at_least=True, note="not measured")
    rate = f"{size / 1e6 / median(taken['delegtop']):,.0f} MB/s"
    of = ratio(taken["decode"], taken["delegtop"])
    return Row.of(1, what, of, limit, at_least=True, note=rate, felt=(felt, rate) if felt else None)


def _against_programs(plan: Plan) -> list[Row]:
    log = plan.log(plan.peers)
    jq, lnav, duck = rivals.tool("jq"), rivals.tool("lnav"), rivals.python_with("duckdb")
    methods = {"delegtop": lambda: method("g1_ingest.load", log)["cpu"]}
    if jq:
        methods["jq"] = partial(command, [jq, "-c", ".", str(log)])
    if lnav:
        settings = rivals.lnav_settings(plan.folder)
        methods["lnav"] = partial(command, [lnav, "-n", "-q", "-I", str(settings), str(log)])
    if duck:
        methods["duckdb"] = partial(command, [str(duck / "python"), str(PEERS / "duckdb_read.py"), str(log)])
    taken = in_turn(methods, rounds=3 if plan.quick else 5)
    own = taken.get("delegtop")

    def compared(name: str, what: str, limit: float, *, faster: bool) -> Row:
        other = taken.get(name)
        if own is None or other is None:
            return Row(1, what, None, limit, at_least=faster, note=f"{name} is missing")
        return Row.of(1, what, ratio(other, own) if faster else ratio(own, other), limit, at_least=faster)

    size = short(plan.peers)
    return [
        compared("jq", f"log into the tree, {size}: how much faster than `jq -c .`", 10, faster=True),
        compared("lnav", f"log into the tree, {size}: how much faster than lnav's index", 1, faster=True),
        compared("duckdb", f"log into the tree, {size}: CPU, of duckdb read_json", 2, faster=False),
    ]


def _transcripts(plan: Plan) -> Row:
    """Whole sessions of Claude Code with their agents, as files of one folder."""
    home = plan.empty("transcripts")
    make_history(home, 36 if plan.quick else 360, _SESSION, now())
    size = sum(path.stat().st_size for path in home.rglob("*.json*"))
    what = "transcripts into the tree: rate, of a bare msgspec decode"
    return _of_decoding(home, "decode_transcripts", size, plan.rounds, what, 0.2, "reading transcripts")


def _dashboard(plan: Plan, size: int) -> Row:
    """The whole program, from its start until it has nothing left to do; it also draws what it reads."""
    log = plan.log(size)
    what = f"the dashboard until a log of {short(size)} is loaded and all is calm, CPU, of `tree` that prints nothing"
    tree = [rivals.delegtop(), "tree", "--no-index", "-f", _NOBODY, str(log)]
    taken = in_turn(
        {"tree": partial(command, tree), "dashboard": partial(_until_calm, log)},
        1 if size >= 1_000_000 else plan.rounds,
    )
    if len(taken) < 2:
        return Row(1, what, None, 1.2, note="not measured")
    note = f"{median(taken['dashboard']):.1f} s; `tree` {median(taken['tree']):.1f} s"
    return Row.of(1, what, ratio(taken["dashboard"], taken["tree"]), 1.2, note=note)


def _until_calm(log: Path) -> float:
    with Terminal([rivals.delegtop(), "--no-index", str(log)], env=rivals.SETTINGS) as terminal:
        terminal.wait_for(b"loading", timeout=30)
        terminal.settle(timeout=900)
        return terminal.whole_cpu()


# Each of these runs in a process of its own.


class _Register(msgspec.Struct, tag_field="event", tag="register", gc=False):
    at: str
    session_id: str
    parent_session_id: str | None = None
    subagent: str | None = None
    deadline: str | None = None


class _Heartbeat(msgspec.Struct, tag_field="event", tag="heartbeat", gc=False):
    at: str
    session_id: str
    activity: str | None = None


class _Status(msgspec.Struct, gc=False):
    status: str


class _Return(msgspec.Struct, tag_field="event", tag="return", gc=False):
    at: str
    session_id: str
    returned: _Status = msgspec.field(name="return")


def decode(log: str) -> dict[str, float]:
    """Every line decoded for the few fields a tree needs, and dropped."""
    read = msgspec.json.Decoder(_Register | _Heartbeat | _Return).decode
    gc.disable()

    def work() -> None:
        with Path(log).open("rb", buffering=256 * 1024) as file:
            for line in file:
                read(line)

    return {"cpu": cpu(work)}


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Block(msgspec.Struct, gc=False):
    type: str
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None


class _Message(msgspec.Struct, gc=False):
    model: str | None = None
    content: str | list[_Block] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Transcribed(msgspec.Struct, gc=False, rename="camel"):
    session_id: str | None = None
    type: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    message: _Message | None = None


def decode_transcripts(home: str) -> dict[str, float]:
    """Every line of every file decoded for the few fields a tree needs, and dropped."""
    read = msgspec.json.Decoder(_Transcribed).decode
    gc.disable()

    def work() -> None:
        for path in Path(home).rglob("*.json*"):
            with path.open("rb", buffering=256 * 1024) as file:
                for line in file:
                    read(line)

    return {"cpu": cpu(work)}


def load(log: str) -> dict[str, float]:
    """What the dashboard does with a log, or a folder of them, at its start, without the screen."""
    # What is imported on the way is not part of reading a log.
    import watchfiles  # noqa: F401 -- see above

    with suppress(ImportError):  # an earlier state has it elsewhere
        import delegtop.protocols.standard.dialects.registry_snapshot  # noqa: F401 -- see above
    from delegtop.app.state.board import Board
    from delegtop.base.clock import WallClock
    from delegtop.feed.live_feed import Feed
    from delegtop.settings import Settings

    clock = WallClock()
    board = Board(Settings(), clock)
    feed = Feed([log], clock=clock)
    with suppress(AttributeError):  # an earlier state tells every sign of life
        feed.tell_briefly()
    gc.collect()
    gc.disable()
    before = resident()

    def work() -> None:
        refresh_from = time.monotonic() + _REFRESH
        unread = True
        while unread:
            for batch in feed.poll():
                board.receive(batch.events)
                if (began := time.monotonic()) >= refresh_from:
                    board.refresh()
                    refresh_from = (ended := time.monotonic()) + max(_REFRESH, _SHARE * (ended - began))
            unread = feed.is_behind
        board.advance()

    taken = cpu(work)
    with suppress(AttributeError):  # an earlier state has pressed all by now
        board.forest.press_words()
    gc.collect()
    grown = resident() - before
    feed.close()
    return {"cpu": taken, "bytes": grown / len(board.forest)}
