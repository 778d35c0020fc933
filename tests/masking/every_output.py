"""All that delegtop writes of some logs: what commands print, files, messages, answers, and screens as text."""

import contextlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from functools import partial
from pathlib import Path

import msgspec
from tests.piloting import until
from tests.samples import moment, observed
from tests.screens.looking import ready, text_of
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.pages.inspector.inspector_pane import TABS
from delegtop.app.screens.transcript import TranscriptScreen
from delegtop.base.clock import FrozenClock
from delegtop.cli import main
from delegtop.diagnosis.alerts import Alert, cause
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.news import NewsWatch
from delegtop.feed.live_feed import Feed
from delegtop.mcp_server.delegation_answers import explained, listed, tree
from delegtop.mcp_server.followed_scope import FollowedScope
from delegtop.mcp_server.log_excerpts import excerpt
from delegtop.mcp_server.tool_contracts import EvidenceQuestion, ExplainQuestion, ListQuestion
from delegtop.model.forest import Forest
from delegtop.model.measures import folder, label
from delegtop.notify.notification import in_words
from delegtop.report import news_lines
from delegtop.report.live_page import page_html
from delegtop.report.live_page.page_gather import PageGathering

COMMANDS = (
    "tree", "tree --plain", "tree --gantt", "tree --json --prompts", "check", "check --json", "check --sarif",
    "check --junit", "sources", "sources --json", "stats", "stats --json", "metrics", "status --read",
    "status --read --json", "report",
)  # fmt: skip
ENDINGS = ("md", "html", "json")
SIZE = (160, 48)


def printed(logs: Path, at: str, commands: Sequence[str] = COMMANDS) -> Iterator[tuple[str, str]]:
    """What commands print."""
    for command in commands:
        name, *options = command.split()
        yield command, _quietly(name, str(logs), "--at", at, *options)


def written(logs: Path, at: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Files, and each member of a bundle with all in it."""
    for ending in ENDINGS:
        page = folder / f"report.{ending}"
        _quietly("report", str(logs), "--at", at, "-o", str(page))
        yield f"report.{ending}", page.read_text("utf-8")
    for options in ((), ("--prompts", "--lines")):
        bundle = folder / f"bundle{len(options)}.zip"
        _quietly("bundle", str(logs), "--at", at, "-o", str(bundle), *options)
        with zipfile.ZipFile(bundle) as archive:
            for member in archive.namelist():
                yield " ".join(("bundle", *options, member)), archive.read(member).decode("utf-8")


def _quietly(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        main([*arguments])
    return out.getvalue()


def told(logs: Path, at: str) -> Iterator[tuple[str, str]]:
    """The lines of `watch`, and what is sent of each problem."""
    forest, now = Forest(), moment(at)
    watching = NewsWatch(forest, Assessments(forest))
    watching.begin()
    feed = Feed([str(logs)], clock=FrozenClock(now))
    forest.apply([event for batch in feed.read_all() for event in batch.events])
    forest.advance(now)
    items = watching.look(range(len(forest)), range(len(forest)))
    yield "watch", "\n".join(news_lines.as_text(forest, item) for item in items)
    yield "watch --json", "\n".join(news_lines.as_json(forest, item) for item in items)
    assessments, notices = Assessments(forest), list[str]()
    assessments.update()
    for found in assessments.problems():
        facts = forest.delegation(found.handle)
        todo = " ".join(step.words for step in assessments.todo(found.handle))
        alert = Alert(
            cause(found), found.handle, facts.id, label(facts), facts.title, found.state,
            found.sentence(forest.now_of(found.handle)), now, found.since, facts.id,
            folder(forest, found.handle), "", todo,
        )  # fmt: skip
        notice = in_words(alert)
        notices += [*notice.lines(), *notice.environment().values(), json.dumps(notice.facts("x"), ensure_ascii=False)]
    feed.close()
    yield "notifications", "\n".join(notices)


def answered(logs: Path, at: str) -> Iterator[tuple[str, str]]:
    """What a model is answered."""
    followed = FollowedScope(lambda: observed(logs, clock=FrozenClock(moment(at))))
    followed.look()
    answers = [listed(followed, msgspec.convert({"scope": "here"}, ListQuestion))]
    parts = [msgspec.json.encode(each).decode() for each in answers] + [tree(followed)]
    forest = followed.seen.forest
    for handle in forest.walk():
        id = forest.delegation(handle).id
        with contextlib.suppress(ValueError):
            parts.append(msgspec.json.encode(explained(followed, ExplainQuestion(id))).decode())
            for what in ("return", "last_words", "raw"):
                asked = msgspec.convert({"id": id, "what": what, "max_chars": 4_000}, EvidenceQuestion)
                parts.append(msgspec.json.encode(excerpt(followed, asked)).decode())
    followed.close()
    yield "mcp", "\n".join(parts)


def served(logs: Path, at: str) -> Iterator[tuple[str, str]]:
    """The live page, and all that it tells of each delegation."""
    with observed(logs, clock=FrozenClock(moment(at))) as seen:
        seen.read()
        page = PageGathering(seen.assessments)
        seen.assessments.update()
        page.update((), range(len(seen.forest)), seen.statuses)
        details = (line for handle in seen.forest.walk() for line in page.details(handle, seen.feed.raw))
        yield "serve", "\n".join((*page_html.whole(page.picture), *page_html.changes(page.picture, -1), *details))


def _is_there(screen: TranscriptScreen, app: DelegtopApp) -> bool:
    return bool(screen.view.pieces) or screen is not app.screen


async def shown(logs: Path, at: str, rows: int, look: Callable[[DelegtopApp], None] | None = None) -> str:
    """The dashboard: the tree, every tab of the inspector, triage and the transcript, for so many rows."""
    app = DelegtopApp(observed(logs, clock=FrozenClock(moment(at))), zone=UTC)
    pages = list[str]()

    async def keep(pilot: Pilot[None]) -> None:
        await pilot.pause()
        pages.append(text_of(app))
        if look:
            look(app)

    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await keep(pilot)
        for _ in range(rows):
            for tab in TABS:
                app.monitor.action_show_tab(tab)
                await keep(pilot)
            await pilot.press("v")
            if isinstance(screen := app.screen, TranscriptScreen):
                await until(pilot, partial(_is_there, screen, app))
                await keep(pilot)
                await pilot.press("escape")
                await pilot.pause()
            await pilot.press("down")
        await pilot.press("t")
        for _ in range(rows):
            await keep(pilot)
            await pilot.press("down")
    return "\n".join(pages)
