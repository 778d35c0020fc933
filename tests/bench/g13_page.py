"""Goal 13: what the live page costs, at a change and while it stands there, and how soon a change is in a browser.

As a program of its own it tells more: python -m tests.bench.g13_page [--rows 1000] [--seconds 30] [--changes 40]
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from tests.bench import rivals
from tests.bench.make_logs import LogMaker, heartbeat, register
from tests.bench.measure import Failed, method, now, percentile, say
from tests.bench.plan import Plan
from tests.bench.table import Row
from tests.browsing import CHROMIUM, browser

ROWS = 1_000
_MARKED = 20
_STEP = 50
_TICKS = os.sysconf("SC_CLK_TCK")
_SEEN = """
window.seen = {};
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) {
    const mark = /MARK\\d+/.exec(node.textContent);
    if (mark && !(mark[0] in seen)) seen[mark[0]] = Date.now();
  }
}).observe(document.getElementById("tree-list"), {childList: true, subtree: true});
"""


def rows(plan: Plan) -> list[Row]:
    found = [_gathering(plan.empty("page-gather"), ROWS), *_standing(plan.empty("page-idle"), ROWS, plan.window)]
    return [*found, _to_the_browser(plan.empty("page-browser"), ROWS, plan.keys)]


def _gathering(folder: Path, count: int) -> Row:
    taken = method("g13_page.gather", folder, count)
    say(
        f"  {count:,} rows: a change {taken['change']:.1f} ms, twenty at once {taken['twenty']:.1f} ms, all "
        f"{taken['all']:.0f} ms, nothing new {taken['nothing']:.2f} ms; the report {taken['report']:.0f} ms; page "
        f"{taken['page'] / 1e3:,.0f} KB, packed {taken['packed'] / 1e3:,.0f} KB; one in full {taken['details']:.1f} ms"
    )
    what = f"gathering the page after a change, {count:,} rows, of gathering the report"
    return Row(13, what, taken["change"] / taken["report"], 0.1, note=f"{taken['change']:.1f} ms of the processor")


def gather(folder: str, count: str) -> dict[str, float]:
    """Milliseconds of the processor."""
    import gzip

    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import Places
    from delegtop.report.incident.incident_gather import gather as report
    from delegtop.report.incident.incident_timeline import IncidentJournal
    from delegtop.report.live_page import page_html
    from delegtop.report.live_page.page_gather import PageGathering
    from delegtop.settings import Settings

    log, maker = _log(Path(folder), int(count))
    seen = opened(Places([str(log)]), Settings())
    seen.catch_up()
    sources = seen.statuses
    page = PageGathering(seen.assessments)

    def change(lines: int) -> Callable[[], None]:
        with log.open("a") as file:
            file.write("".join(maker.line() for _ in range(lines)))
        changes = seen.look()
        return lambda: _none(page.update(changes.assessed, changes.lives, sources))

    everything = _spent(lambda: _none(page.update((), range(len(seen.forest)), sources)))
    ones = [_spent(change(1)) for _ in range(30)]
    twenties = [_spent(change(20)) for _ in range(10)]
    whole = "\n".join(page_html.whole(page.picture)).encode()
    return {
        "all": everything,
        "change": median(ones),
        "twenty": median(twenties),
        "nothing": median(_spent(lambda: _none(page.update((), (), sources))) for _ in range(10)),
        "details": median(
            _spent(lambda each=each: _none(list(page.details(each, seen.feed.raw))))  # type: ignore[misc]  # its default
            for each in range(0, 200, 20)
        ),
        "report": median(
            _spent(lambda: _none(report(seen.forest, sources, IncidentJournal(), seen.feed.raw))) for _ in range(3)
        ),
        "page": len(whole),
        "packed": len(gzip.compress(whole, 4)),
    }


def _spent(work: Callable[[], None]) -> float:
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3


def _none(_: object) -> None: ...


def _log(folder: Path, count: int) -> tuple[Path, LogMaker]:
    """A log of so many delegations that ends now, and what goes on with it."""
    lines = int(count / 0.24)
    maker = LogMaker(now() - lines * _STEP - 2_000, step=_STEP)
    log = folder / "session.jsonl"
    with log.open("w") as file:
        while maker.delegations < count:
            file.write(maker.line())
    return log, maker


# -- standing there ----------------------------------------------------------------------------------------------------


def _standing(folder: Path, count: int, seconds: float) -> list[Row]:
    log, _ = _log(folder, count)
    with _serving(log) as (server, url), _running("watch", str(log)) as watch:
        time.sleep(2)
        alone, other = _shares((server, watch), seconds)
        with _looked_at(url):
            time.sleep(2)
            open, other_then = _shares((server, watch), seconds)
    say(f"  idle: nobody looks {alone:.3%} of a core, a page is open {open:.3%}; watch {other:.3%}, {other_then:.3%}")
    return [
        Row(13, f"idle over {count:,} rows, nobody looks, of a core", alone * 100, 0.5, unit=" %"),
        Row(13, f"idle over {count:,} rows, a page is open, of a core", open * 100, 1, unit=" %"),
    ]


@contextmanager
def _running(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    program = subprocess.Popen(
        [rivals.delegtop(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield program
    finally:
        program.send_signal(signal.SIGTERM)
        program.communicate()


@contextmanager
def _serving(log: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    with _running("serve", "--port", "0", str(log)) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        if not url:
            raise Failed("the server did not start")
        yield program, url


def _shares(programs: "tuple[subprocess.Popen[str], ...]", seconds: float) -> list[float]:
    before, began = [_cpu(each.pid) for each in programs], time.monotonic()
    time.sleep(seconds)
    span = time.monotonic() - began
    return [(_cpu(each.pid) - start) / span for each, start in zip(programs, before, strict=True)]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def _looked_at(url: str) -> Iterator[None]:
    """As a page that is open, without the browser."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    place = (parts.hostname, parts.port or 80)

    def ask(path: str, cookie: str = "") -> socket.socket:
        asking = socket.create_connection(place)
        cookie = f"Cookie: {cookie}\r\n" if cookie else ""
        asking.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{cookie}\r\n".encode())
        return asking

    with ask(f"/?{parts.query}") as entry:
        told = b"".join(iter(lambda: entry.recv(65536), b"")).decode()
    cookie, folder = told.partition("Set-Cookie: ")[2].split("; ")[:2]
    with ask(folder.removeprefix("Path="), cookie) as page:
        while page.recv(65536):
            pass
    with ask(f"{folder.removeprefix('Path=')}events", cookie):
        yield


# -- from the log to the browser ---------------------------------------------------------------------------------------


def _to_the_browser(folder: Path, count: int, changes: int) -> Row:
    what = f"a line of the log to the browser, {count:,} rows, p99"
    if CHROMIUM is None:
        return Row(13, what, None, 1_500, unit=" ms", note="there is no Chromium")
    taken = _latencies(folder, count, changes)
    middle, late = percentile(taken, 0.5), percentile(taken, 0.99)
    say(
        f"  line to browser, {count:,} rows: p50 {middle:.0f} ms, p99 {late:.0f} ms, the last of {len(taken)} "
        f"{max(taken):.0f} ms"
    )
    return Row(13, what, late, 1_500, unit=" ms", note=f"p50 {middle:.0f} ms")


def _latencies(folder: Path, count: int, changes: int) -> list[float]:
    log, _ = _log(folder, count)
    ids = [f"sess_1766743200_{number:06d}" for number in range(_MARKED)]
    dice = random.Random(7)
    written: dict[str, float] = {}
    with log.open("a") as file:
        for id in ids:
            file.write(register(id, now() - 1_000))
    with _serving(log) as (_, url), browser(folder / "profile") as running:
        page = running.open(url)
        page.until("document.getElementById('pulse')?.textContent.startsWith('live')")
        page.run(_SEEN)
        for number in range(changes):
            time.sleep(dice.uniform(0.3, 1.2))
            mark = f"MARK{number:05d}"
            with log.open("a") as file:
                file.write(heartbeat(dice.choice(ids), now(), mark))
            written[mark] = time.time() * 1e3
        page.until(f"'MARK{changes - 1:05d}' in seen")
        seen = page.run("seen")
    missing = [mark for mark in written if mark not in seen]
    if missing:
        raise Failed(f"{len(missing)} of {changes} changes were not seen")
    return [seen[mark] - at for mark, at in written.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--changes", type=int, default=40)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="delegtop-page-"))
    try:
        for name in ("gather", "idle", "browser"):
            (folder / name).mkdir()
        found = [
            _gathering(folder / "gather", options.rows),
            *_standing(folder / "idle", options.rows, options.seconds),
            _to_the_browser(folder / "browser", options.rows, options.changes),
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for each in found:
        sys.stdout.write(f"{each.what}: {each.value} ({each.target}) {each.verdict}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
