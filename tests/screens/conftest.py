"""A scripted feed, a scene with every state in it, and the app on both at a frozen moment."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from typing import Any

import pytest
from tests.piloting import rest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from delegtop.app.main import DelegtopApp
from delegtop.app.state.saved_views import View, Views
from delegtop.base.clock import Clock, FrozenClock, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.feed.batch import Batch
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Readable
from delegtop.feed.spoken_pages import SpokenPages, WholeChapter, of_events
from delegtop.kernel.open_call import OpenCall
from delegtop.model.delegation import Delegation
from delegtop.model.events import (
    OF_NONE,
    Artifact,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Report,
    Started,
    Surveyed,
)
from delegtop.observation.observation import Observation
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings
from delegtop.sources.records import Line, Unreadable

ROOT, HUNG = "sess_1766743200_root00", "sess_1766743200_def456"
LOG = "/runs/191/session.jsonl"
START = parse_time("2025-12-26T10:00:00Z") or Millis(0)
NOW = Millis(START + 62 * 60_000 + 11_000)


class ScriptedFeed:
    """A feed that says what the test tells it to, when the test says so."""

    is_behind = False
    is_over = False

    def __init__(self, events: Sequence[Event] = (), statuses: Sequence[SourceStatus] = ()) -> None:
        self.events = list(events)
        self.closed = False
        self.error: Exception | None = None
        self.total = 4_096
        self._statuses = tuple(statuses)
        self._pending: list[list[Event]] = [list(events)] if events else []
        self._news = threading.Event()
        self._awaited = False

    def say(self, *events: Event) -> None:
        """Let these arrive now."""
        self.events += events
        self._pending.append(list(events))
        self._news.set()

    def fail(self, error: Exception) -> None:
        self.error = error
        self._news.set()

    def poll(self) -> Iterator[Batch]:
        if self.error:
            raise self.error
        while self._pending:
            yield Batch(self._pending.pop(0))

    read_all = poll

    def wake(self) -> None:
        self._news.set()

    def rest_with(self, rest: Callable[[], None]) -> None:
        """It never takes long."""

    def watch_calls(self, calls: Sequence[OpenCall]) -> None:
        """What is scripted has no processes."""

    def transcript(self, delegation: Delegation) -> SpokenPages:
        """What the events tell: no words are scripted."""
        return SpokenPages(
            [WholeChapter(LOG, lambda: of_events(self.history(delegation)))], told="No words are kept here."
        )

    def is_first_hand(self, origin: Origin) -> bool:  # noqa: ARG002 - as a feed is asked
        return True

    def wait(self, timeout: float) -> None:
        self._awaited = True
        self._news.wait(timeout)
        self._awaited = False
        self._news.clear()

    @property
    def is_heard(self) -> bool:
        """Whether all that was said has been handed over."""
        return self.closed or (self._awaited and not self._news.is_set() and not self._pending)

    def statuses(self) -> tuple[SourceStatus, ...]:
        return self._statuses

    def progress(self) -> tuple[int, int]:
        return self.total, self.total

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:
        mine = [event for event in self.events if _is_about(event, delegation.id)]
        return [(Line(event.origin, repr(event).encode()), [event]) for event in mine[-limit:]]

    def raw(self, origin: Origin) -> bytes | None:
        """Each event as if it were a line of JSON."""
        return next((json.dumps({"said": repr(e)}).encode() for e in self.events if e.origin == origin), None)

    def close(self) -> None:
        self.closed = True


def _is_about(event: Event, id: str) -> bool:
    if isinstance(event, Surveyed):
        return id in event.ids
    return not isinstance(event, OF_NONE) and event.id == id


class Script:
    """Writes events with times in minutes from the start, each on its own line of the log."""

    def __init__(self) -> None:
        self.line = 0

    def origin(self) -> Origin:
        self.line += 1
        return Origin(LOG, self.line, self.line * 200)

    def at(self, minutes: float) -> Millis:
        return Millis(START + int(minutes * 60_000))

    def started(self, id: str, minutes: float, **facts: object) -> Started:
        return Started(id, self.at(minutes), self.origin(), **facts)  # type: ignore[arg-type]  # facts by name, as in the log

    def heard(self, id: str, minutes: float, doing: str, **facts: object) -> Heard:
        return Heard(id, self.at(minutes), self.origin(), doing, **facts)  # type: ignore[arg-type]  # as above

    def returned(self, id: str, minutes: float, outcome: Outcome, **report: object) -> Ended:
        facts = Report(status=outcome.value, **report)  # type: ignore[arg-type]  # as above
        return Ended(id, self.at(minutes), self.origin(), outcome, Ending.RETURN, facts)

    def erred(self, id: str, minutes: float, **fault: object) -> Erred:
        return Erred(id, self.at(minutes), self.origin(), Fault(**fault))  # type: ignore[arg-type]  # as above


def scene() -> list[Event]:
    """A run that shows every state an operator meets."""
    s = Script()
    root, implement = ("orchestrator",), ("orchestrator", "implement")
    execute, research = (*implement, "task-executor"), ("orchestrator", "research")
    return [
        s.started(ROOT, 0, agent="orchestrator", path=root, depth=0),
        s.started(
            "sess_1766743200_impl00", 0.1, command="implement", task="191", path=implement, depth=0, parent=ROOT,
            timeout=7_200_000,
        ),
        s.started(
            "sess_1766743200_exec01", 0.2, agent="task-executor", path=execute, depth=1, timeout=7_000_000,
            parent="sess_1766743200_impl00", pid=4242, host="build-7",
        ),
        s.started(
            HUNG, 0.3, agent="implementer", path=(*execute, "implementer"), depth=2, timeout=3_600_000,
            parent="sess_1766743200_exec01", caller="task-executor",
        ),
        s.heard(HUNG, 41, "edit: Proofs/Basic.lean", tool="edit", tokens=12_118),
        s.erred(
            HUNG, 49.2, type="build_error", code="E_BUILD", recoverable=True,
            message="unknown identifier 'Nat.foo'\n  in Proofs/Basic.lean:41",
            recommendation="Run lake clean, then build again: Nat.foo was renamed to Nat.bar",
        ),
        s.heard(HUNG, 49.5, "bash: lake build", tool="bash", tokens=18_342, cost=0.42),
        s.started(
            "sess_1766743200_lint07", 58, agent="linter", path=(*execute, "linter"), depth=3, timeout=300_000,
            parent="sess_1766743200_exec01",
        ),
        s.heard("sess_1766743200_lint07", 62, "ruff check", tool="bash"),
        s.started("sess_1766743320_res195", 2, command="research", task="195", path=research, depth=0, parent=ROOT),
        s.started(
            "sess_1766743320_res196", 2.1, agent="researcher", path=(*research, "researcher"), depth=1,
            parent="sess_1766743320_res195",
        ),
        s.returned(
            "sess_1766743320_res196", 20, Outcome.COMPLETED, next_steps="Plan task 195 with the second approach",
            summary="Three approaches to the termination proof; the second needs no fuel argument.",
            artifacts=(
                Artifact("specs/195/report.md", "report", "The comparison of the three"),
                Artifact("/etc/passwd", "notes"),
            ),
        ),
        s.returned("sess_1766743320_res195", 20.2, Outcome.COMPLETED, summary="Research done"),
        s.started("sess_1766743380_plan01", 21, agent="planner", path=(*root, "plan"), depth=1, parent=ROOT),
        s.returned(
            "sess_1766743380_plan01", 25, Outcome.FAILED, summary="No plan",
            errors=(Fault("no research found", "missing_input", "E_INPUT", False, "Run /research 196 first"),),
        ),
        s.started(
            "sess_1766743500_rev001", 30, agent="reviewer", path=(*root, "review"), depth=1, parent=ROOT,
            timeout=3_600_000,
        ),
        s.heard("sess_1766743500_rev001", 31, "reading the diff"),
        s.started("sess_1766743500_doc001", 32, agent="writer", path=(*root, "document"), depth=1, parent=ROOT),
        s.returned("sess_1766743500_doc001", 40, Outcome.PARTIAL, summary="Two of three chapters"),
        s.started("sess_1766743500_dep001", 33, agent="deployer", path=(*root, "deploy"), depth=1, parent=ROOT),
        s.returned("sess_1766743500_dep001", 34, Outcome.BLOCKED, summary="Waits for credentials"),
    ]  # fmt: skip


def healthy() -> list[SourceStatus]:
    return [
        SourceStatus(
            path=LOG, dialect="session-log", records=21, unreadable=1, status="live", detail="", deviations=2,
            reasons={"not JSON": 1, "time without zone": 2},
            examples=(
                Unreadable(Origin(LOG, 22, 9_000), "not JSON", '{"event": "heartb'),
                Deviation(Origin(LOG, 3, 600), "time without zone", "at: 2025-12-26T10:00:12"),
            ),
            size=4_096, read=4_096, changed_at=Millis(NOW - 2_000),
        ),
        SourceStatus(
            path="/runs/191/registry.json", dialect="registry", records=4, unreadable=0, status="live", detail="",
            deviations=0, reasons={}, examples=(), size=900, read=900, changed_at=Millis(NOW - 9_000),
        ),
    ]  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _styles_are_parsed_once() -> Iterator[None]:
    """Every program of a run has the same style sheets, and parsing them was a tenth of the time of these tests."""
    parsed: dict[tuple[tuple[str, str], ...], dict[Any, list[RuleSet]]] = {}
    begin, set_variables = Stylesheet.__init__, Stylesheet.set_variables

    def share(sheet: Stylesheet) -> None:
        sheet._parse_cache = parsed.setdefault(tuple(sheet._variables.items()), {})  # type: ignore[assignment] # a dict that forgets nothing will do

    def begin_sharing(sheet: Stylesheet, **given: Any) -> None:
        begin(sheet, **given)
        share(sheet)

    def go_on_sharing(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = {}  # type: ignore[assignment] # as above; this one is cleared
        set_variables(sheet, variables)
        share(sheet)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "__init__", begin_sharing)
        patch.setattr(Stylesheet, "set_variables", go_on_sharing)
        yield


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of the pilot lasts until the program has nothing left to do, however long that takes."""
    apps: list[DelegtopApp] = []
    make = DelegtopApp.__init__

    def remember(app: DelegtopApp, *given: Any, **settings: Any) -> None:
        make(app, *given, **settings)
        apps.append(app)

    monkeypatch.setattr(DelegtopApp, "__init__", remember)
    for place in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{place}.wait_for_idle", lambda *_: rest(apps))


@pytest.fixture
def script() -> Script:
    script = Script()
    script.line = 1_000
    return script


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def feed() -> ScriptedFeed:
    return ScriptedFeed(scene(), healthy())


def observed(feed: Readable, clock: Clock, *, watching: bool = True, **settings: Any) -> Observation:
    """A feed as it is handed to the app; settings by name."""
    return Observation(feed, clock, Settings(**settings), places=Places([LOG] if watching else []))


MakeApp = Callable[..., DelegtopApp]


@pytest.fixture
def make_app(feed: ScriptedFeed, clock: FrozenClock) -> MakeApp:
    """The app on the scene; settings by name, any other feed, and how to look at it."""

    def make(
        *,
        feed: ScriptedFeed = feed,
        query: str = "",
        watching: bool = True,
        view: View | None = None,
        views: Views | None = None,
        **settings: Any,
    ) -> DelegtopApp:
        seen = observed(feed, clock, watching=watching, **settings)
        return DelegtopApp(seen, query=query, view=view, views=views, zone=UTC)

    return make
