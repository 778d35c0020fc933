"""The server itself: one request to a connection, so many connections and no more, and nobody may take his time."""

import asyncio
import contextlib
import re
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Event, Thread

from delegtop.base.clock import WallClock, monotonic
from delegtop.base.system_errors import reason_of
from delegtop.page_server.access_rules import AccessRules, RequestKind
from delegtop.page_server.page_answer import CSS, EVENTS, SCRIPT, PageAnswer, head, page, refusal
from delegtop.page_server.page_watch import PageWatch
from delegtop.page_server.request_head import LONGEST, RefusedRequest, RequestHead, read_head
from delegtop.report.live_page import page_html
from delegtop.report.live_page.page_style import PAGE_STYLE

CONNECTIONS = 64
PATIENCE = 5.0
"""Seconds for the head of a request."""
_LAST_WORD = 20.0
"""Seconds in which an answer must be taken."""
BEAT = 5.0
"""Seconds between two words to a page, whether or not there is anything new."""
_TURNS = 4
"""Turns of the loop from an accepted connection to somebody who has it, or from closing it to its being closed."""
_RETRY = 2_000
_ROW = re.compile(r"row/([0-9]{1,9})")
_SINCE = re.compile(r"since=([0-9a-f]{1,16}-[0-9]{1,10})")
_BUSY = refusal(503, "too many are connected").encoded()


Say = Callable[[str], None]
"""Says something to whoever started it."""


class PageListener:
    """Answers in a thread of its own."""

    def __init__(self, watch: PageWatch, rules: AccessRules, listening: socket.socket, say: Say) -> None:
        self._watch, self._rules, self._socket, self._say = watch, rules, listening, say
        self._loop = asyncio.new_event_loop()
        self._clock = WallClock()
        self._open = 0
        self._streams: set[asyncio.Event] = set()
        """One for each stream, set when there is another picture."""
        self._is_there = Event()
        self._thread = Thread(target=self._run, name="delegtop-page", daemon=True)
        watch.on_change = self._changed

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()
        self._is_there.wait(PATIENCE)

    def close(self) -> None:
        """Let go of everybody."""
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._socket.close()

    def _run(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(
            asyncio.start_server(self._meet, sock=self._socket, limit=LONGEST, backlog=CONNECTIONS)
        )
        loop.call_soon(self._is_there.set)
        try:
            loop.run_forever()
        finally:
            loop.remove_reader(self._socket)  # nobody new; who was accepted is met only while there is a server
            loop.run_until_complete(_let_go())
            server.close()
            loop.close()

    def _changed(self) -> None:
        """Tell the streams; called where the page is gathered."""
        with contextlib.suppress(RuntimeError):  # it is being closed
            self._loop.call_soon_threadsafe(self._tell_streams)

    def _tell_streams(self) -> None:
        for each in self._streams:
            each.set()

    # -- one connection ----------------------------------------------------------------------------------------------

    async def _meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > CONNECTIONS:
                writer.write(_BUSY)
            else:
                await self._serve(reader, writer)
            async with asyncio.timeout(_LAST_WORD):
                await writer.drain()
        except (OSError, TimeoutError):
            writer.transport.abort()  # who does not take what he asked for gets no more of it
        except asyncio.CancelledError:
            pass  # all of it ends
        finally:
            self._open -= 1
            writer.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            asked = read_head(await _head_of(reader))
            self._rules.check_host(asked)
            answer = await self._answer(asked)
        except RefusedRequest as refused:
            writer.write(refusal(refused.status, refused.words).encoded())
            return
        except Exception as error:  # noqa: BLE001 -- one question that fails must not end the others
            self._say(f"a request failed: {type(error).__name__}: {reason_of(error)}")
            writer.write(refusal(500, "something went wrong here").encoded())
            return
        if answer is None:
            await self._stream(reader, writer)
        else:
            writer.write(answer.encoded(packed="gzip" in (asked.header("accept-encoding") or "")))

    async def _answer(self, asked: RequestHead) -> PageAnswer | None:
        """What is answered; None for a stream of events."""
        rules, query = self._rules, asked.query
        if asked.path == "/":
            rules.check_sender(asked, RequestKind.ENTRY)
            if not rules.has_token(query):
                raise RefusedRequest(403, "open the address that delegtop printed when it was started")
            return _entry(rules)
        place = asked.path.removeprefix(rules.folder) if asked.path.startswith(rules.folder) else "?"
        row, since = _ROW.fullmatch(place), _SINCE.fullmatch(query)
        kind = _KINDS.get(place, RequestKind.PAGE_OR_DATA)
        rules.check_sender(asked, kind)
        rules.check_cookie(asked)
        if place == "" and not query:
            picture = await asyncio.wrap_future(self._watch.ask(PageWatch.fresh))
            return page(page_html.whole(picture))
        if place == "changes" and since is not None:
            picture = self._watch.picture
            return page(page_html.changes(picture, picture.since(since[1])))
        if row is not None and not query:
            handle = int(row[1])
            told = await asyncio.wrap_future(self._watch.ask(lambda watch: watch.details(handle)))
            if told is not None:
                return page(told)
        if place == "events" and not query:
            return None
        if place == page_html.STYLE and not query:
            return PageAnswer(200, CSS, PAGE_STYLE.encode())
        if place == page_html.SCRIPT and not query:
            return PageAnswer(200, SCRIPT, script())
        raise RefusedRequest(404, "there is no such page")

    # -- streams -----------------------------------------------------------------------------------------------------

    async def _stream(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Tell of every change, and now and then that there is none, until the other side goes."""
        writer.write(head(200, EVENTS) + f"retry: {_RETRY}\n\n".encode())
        changed, gone = asyncio.Event(), asyncio.ensure_future(reader.read(1))
        self._streams.add(changed)
        self._watch.enter()
        try:
            while not gone.done():
                changed.clear()
                writer.write(self._now().encode())
                async with asyncio.timeout(_LAST_WORD):
                    await writer.drain()
                news = asyncio.ensure_future(changed.wait())
                await asyncio.wait((news, gone), timeout=BEAT, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
        finally:
            gone.cancel()
            self._streams.discard(changed)
            self._watch.leave()

    def _now(self) -> str:
        """Which picture there is, and what time it is here. If nobody has looked at the sources for a while, silence is
        the honest word."""
        if monotonic() - self._watch.looked_at >= page_html.OLD_AFTER:
            return ""
        return f"event: now\ndata: {self._watch.picture.name} {self._clock.now()}\n\n"


_KINDS = {
    "": RequestKind.PAGE,
    "changes": RequestKind.DATA,
    "events": RequestKind.DATA,
    page_html.STYLE: RequestKind.STYLE,
    page_html.SCRIPT: RequestKind.SCRIPT,
}


async def _let_go() -> None:
    """End all that goes on here. Who was accepted a moment ago is met first: only then is his connection closed."""
    while True:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        if not pending:
            return
        for task in pending:
            task.cancel()
        await asyncio.wait(pending)


async def _head_of(reader: StreamReader) -> bytes:
    try:
        async with asyncio.timeout(PATIENCE):
            return await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        raise RefusedRequest(408, "that took too long") from None
    except asyncio.LimitOverrunError:
        raise RefusedRequest(431, "that is too long") from None
    except asyncio.IncompleteReadError:
        raise RefusedRequest(400, "that is no request") from None


def _entry(rules: AccessRules) -> PageAnswer:
    """Lets a browser in, and leads it on: not by a redirection, for then a cookie that is strict would not go along
    where the click was made on another page."""
    lines = (
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>delegtop</title>',
        f'<meta http-equiv="refresh" content="0;url={rules.folder}"></head>',
        f'<body><p><a href="{rules.folder}">To the page</a></p></body></html>',
    )
    return page(lines, f"Set-Cookie: {rules.set_cookie}")


@cache
def script() -> bytes:
    return Path(__file__).with_name("live_page.js").read_bytes()
