"""All that delegtop writes of some logs: what commands print, files, messages and answers; `every_screen.py` has the
screens."""

import contextlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from tests.samples import moment, observed

from delegtop import act_log
from delegtop.act import performing
from delegtop.act.planned_steps import PlannedSignal
from delegtop.act.process_identity import ProcessIdentity
from delegtop.act.stop_plan import Rung, RungPlan, StopPlan
from delegtop.app import clipboard, crash
from delegtop.base.clock import FrozenClock, Millis
from delegtop.cli import main
from delegtop.diagnosis.alerts import Alert, cause
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.news import NewsWatch
from delegtop.feed.live_feed import Feed
from delegtop.mcp_server.delegation_answers import explained, listed, tree
from delegtop.mcp_server.followed_scope import FollowedScope
from delegtop.mcp_server.log_excerpts import excerpt
from delegtop.mcp_server.tool_contracts import EvidenceQuestion, ExplainQuestion, ListQuestion, WaitQuestion
from delegtop.mcp_server.wait_answers import WaitingClient
from delegtop.model.forest import Forest
from delegtop.model.measures import folder, label
from delegtop.notify.discord import discord
from delegtop.notify.notification import in_words
from delegtop.notify.ntfy import ntfy
from delegtop.notify.outbox import Taken
from delegtop.notify.programs import Desktop, NotifyCommand
from delegtop.notify.slack import slack
from delegtop.notify.web_way import WebWay
from delegtop.notify.webhook import webhook
from delegtop.report import news_lines
from delegtop.report.live_page import page_html
from delegtop.report.live_page.page_gather import PageGathering
from delegtop.report.status import status_json
from delegtop.report.status.status_gather import gather
from delegtop.report.status.status_places import PLACES
from delegtop.report.status.status_words import FIELDS

FORM = "|".join(f"{{{field}}}" for field in FIELDS)
COMMANDS = (
    "tree", "tree --plain", "tree --gantt", "tree --json --prompts", "check", "check --json", "check --sarif",
    "check --junit", "sources", "sources --json", "stats", "stats --json", "metrics", "status --read",
    "status --read --json", "report", "find e*|t*|a* --limit 10000 --json",
)  # fmt: skip
MORE_COMMANDS = (
    "tree --sources", "tree --ascii", "tree --columns id,agent,task,cwd,model,doing", "diff", "diff --json",
    "status --read --short", f"status --read --format {FORM}",
    *(f"status --read --no-color --for {place}" for place in PLACES),
)  # fmt: skip
ABOUT_ONE = ("stop", "stop --json", "report --only", "wait --timeout 0.01", "wait --timeout 0.01 --json")
SOME = 8
"""So many delegations are asked about one by one."""
ENDINGS = ("md", "html", "json")
RECORDING = "recording"
"""It masks nothing: it is a copy of the logs, for their owner."""


def printed(logs: Path, at: str, commands: Sequence[str] = COMMANDS) -> Iterator[tuple[str, str]]:
    """What commands print."""
    for command in commands:
        name, *options = command.split()
        if name == "find":
            yield command, _quietly(name, *options, "--in", str(logs))
            continue
        sources = [str(logs)] * (2 if name == "diff" else 1)
        yield command, _quietly(name, *sources, "--at", at, *options)


def about_one(logs: Path, at: str) -> Iterator[tuple[str, str]]:
    """What commands print of one delegation, of some."""
    with observed(logs, clock=FrozenClock(moment(at))) as seen:
        seen.read()
        ids = [seen.forest.id(handle) for handle in seen.forest.walk()]
    chosen = ids[:: len(ids) // SOME + 1]
    for command in ABOUT_ONE:
        yield command, "\n".join(_of_one(command, id, logs, at) for id in chosen)


def _of_one(command: str, id: str, logs: Path, at: str) -> str:
    name, *options = command.split()
    if name == "report":
        return _quietly(name, f"--only={id}", "--at", at, str(logs))
    return _quietly(name, *options, "--", id, str(logs))


def written(logs: Path, at: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Files, and each member of a bundle with all in it."""
    yield from kept(logs, at, folder)
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


def kept(logs: Path, at: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Files that are for their owner alone, or for other programs of this machine."""
    figures, recording = folder / "delegtop.prom", folder / "run.delegtop"
    _quietly("metrics", str(logs), "--at", at, "-o", str(figures))
    yield "metrics -o", figures.read_text("utf-8")
    _quietly("record", str(logs), "--once", "-o", str(recording))
    yield RECORDING, recording.read_text("utf-8")
    with observed(logs, clock=FrozenClock(moment(at))) as seen:
        seen.read()
        yield "status.json", status_json.encode(gather(seen.assessments, "test"))
        every = [seen.forest.delegation(handle) for handle in seen.forest.walk()]
        texts = [text for facts in every for text in (facts.prompt, facts.doing, facts.report.summary) if text]
    yield "acts.jsonl", _acts(texts)
    crash.record(ValueError("\n".join(texts)))
    yield "crash.log", (clipboard.state_directory() / "crash.log").read_text("utf-8")


def _acts(texts: Sequence[str]) -> str:
    """What is written down of processes that were stopped, whose command lines have these texts in them."""
    for text in texts:
        target = ProcessIdentity(4_711, "1", 0, ("/bin/sh", "-c", text))
        rung = RungPlan(Rung.TOOL, steps=(PlannedSignal(target, 15),))
        plan = StopPlan("sess_1", "x", "", "", "", "", text, "", (), None, Millis(0), rungs=(rung,))
        performing._written_down(plan, rung, "test")
    return "\n".join(_readable(line) for line in act_log.place().read_bytes().splitlines())


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
    assessments, notices = Assessments(forest), dict[str, list[str]]()
    assessments.update()
    for found in assessments.problems():
        facts = forest.delegation(found.handle)
        todo = " ".join(step.words for step in assessments.todo(found.handle))
        alert = Alert(
            cause(found), found.handle, facts.id, label(facts), facts.title, found.state,
            found.sentence(forest.now_of(found.handle)), now, found.since, facts.id,
            folder(forest, found.handle), "", todo,
        )  # fmt: skip
        taken = Taken(in_words(alert), 3)
        for way, write in _ways().items():
            notices.setdefault(way, []).append(write(taken))
    feed.close()
    yield from ((f"notify {way}", "\n".join(told)) for way, told in notices.items())


def _ways() -> dict[str, Callable[[Taken], str]]:
    """All that goes out by each way of telling, as text."""
    address = "https://host.example/topic"
    said: list[str] = []
    desktop, command = Desktop("notify-send", said.append), NotifyCommand(["true"], said.append)

    def sent(way: WebWay) -> Callable[[Taken], str]:
        return lambda taken: _readable(way.write(taken).body)

    return {
        "ntfy": sent(ntfy(address)),
        "slack": sent(slack(address)),
        "discord": sent(discord(address)),
        "webhook": sent(webhook(address, "x")),
        "desktop": lambda taken: "\n".join(desktop.arguments(taken)),
        "command": lambda taken: "\n".join(
            (_readable(command.standard_input(taken)), *taken.notice.environment(taken.more).values())
        ),
    }


def _readable(message: bytes) -> str:
    """JSON in ASCII as whoever gets it reads it."""
    return json.dumps(json.loads(message), ensure_ascii=False)


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
    for until in ("problem", "ended", "all_ended"):
        waiting = WaitingClient(followed, msgspec.convert({"scope": "here", "until": until}, WaitQuestion))
        parts.append(msgspec.json.encode(waiting.answer(time_is_up=True)).decode())
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
