"""Pages of strangers that run in the same browser as the live page, and what they try to read of it.

Each knows more than a stranger could: the port, and the very folder below which the page lies. What is tried comes back
as text: whatever it could read, or nothing.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

PATIENCE = 1_500
"""Milliseconds until a try has failed that is never answered."""

_READ = """
const page = "VICTIM", kept = (words) => (typeof words === "string" ? words : "");
const place = (tag, name, value) => new Promise((done) => {
  const made = document.createElement(tag);
  made[name] = value;
  made.onload = () => done(made);
  made.onerror = () => done(null);
  document.body.append(made);
});
"""

ATTACKS = {
    "fetch the page": 'const a = await fetch(page, {credentials: "include"}); return kept(await a.text());',
    "fetch it opaquely": (
        'const a = await fetch(page, {mode: "no-cors", credentials: "include"}); return kept(await a.text());'
    ),
    "fetch a row": 'const a = await fetch(page + "row/0", {credentials: "include"}); return kept(await a.text());',
    "fetch the changes": (
        'const a = await fetch(page + "changes?since=0-0", {credentials: "include"}); return kept(await a.text());'
    ),
    "fetch as if it were a form": (
        'const a = await fetch(page, {method: "POST", credentials: "include", body: "x"}); return kept(await a.text());'
    ),
    "ask first": (
        'const a = await fetch(page, {credentials: "include", headers: {"X-Own": "1"}}); return kept(await a.text());'
    ),
    "ask as of old": (
        "return await new Promise((done) => { const r = new XMLHttpRequest(); r.open('GET', page + 'row/1'); "
        "r.withCredentials = true; r.onload = () => done(r.responseText); r.onerror = () => done(''); r.send(); });"
    ),
    "listen to its stream": (
        "return await new Promise((done) => { const s = new EventSource(page + 'events', {withCredentials: true}); "
        "s.addEventListener('now', (e) => done(e.data)); s.onerror = () => done(''); });"
    ),
    "talk to it by a socket": (
        "return await new Promise((done) => { const s = new WebSocket(page.replace('http', 'ws') + 'events'); "
        "s.onopen = () => done('open'); s.onmessage = (e) => done(String(e.data)); s.onerror = () => done(''); });"
    ),
    "run the page as a script": 'return (await place("script", "src", page)) ? "ran" : "";',
    "run its script": 'return (await place("script", "src", page + "live.js")) ? "ran" : "";',
    "import its script": 'await import(page + "live.js"); return "imported";',
    "take its style": (
        'const l = document.createElement("link"); l.rel = "stylesheet"; l.href = page + "live.css"; '
        "document.head.append(l); return await new Promise((done) => { l.onerror = () => done(''); "
        "l.onload = () => { try { done(l.sheet.cssRules[0].cssText); } catch { done('loaded'); } }; });"
    ),
    "frame it": (
        'const f = await place("iframe", "src", page); '
        "try { return kept(f.contentDocument.body.innerText); } catch { return ''; }"
    ),
    "embed it": (
        'const f = await place("embed", "src", page); '
        "try { return kept(f.getSVGDocument().body.innerText); } catch { return ''; }"
    ),
    "make an object of it": (
        'const f = await place("object", "data", page); '
        "try { return kept(f.contentDocument.body.innerText); } catch { return ''; }"
    ),
    "show it as a picture": 'const i = await place("img", "src", page); return i ? String(i.width) : "";',
    "open it in a window": (
        "const w = open(page); await new Promise((done) => setTimeout(done, 700)); "
        "try { const t = w.document.body.innerText; w.close(); return t; } catch { w?.close(); return ''; }"
    ),
    "hand it to a worker": (
        "const s = `fetch('${page}', {credentials: 'include'}).then((a) => a.text())"
        ".then(postMessage, () => postMessage(''))`; "
        "const w = new Worker(URL.createObjectURL(new Blob([s]))); "
        "return await new Promise((done) => { w.onmessage = (e) => done(e.data); w.onerror = () => done(''); });"
    ),
    "send a beacon": 'navigator.sendBeacon(page, "x"); return "";',
    "send a form": (
        "const f = document.createElement('form'), i = document.createElement('iframe'); i.name = 'into'; "
        "f.action = page; f.method = 'POST'; f.target = 'into'; document.body.append(i, f); "
        "const came = new Promise((done) => { i.onload = done; }); f.submit(); await came; "
        "try { return kept(i.contentDocument.body.innerText); } catch { return ''; }"
    ),
}
"""What is tried, each as the body of a function that returns what it read."""


def attempt(name: str, victim: str) -> str:
    """The attack as an expression for a page of the stranger's."""
    tried = f"(async () => {{ {_READ.replace('VICTIM', victim)} {ATTACKS[name]} }})()"
    in_time = f"new Promise((done) => setTimeout(done, {PATIENCE}, ''))"
    return f"Promise.race([{tried}.then(String, () => ''), {in_time}])"


class Knocked(NamedTuple):
    """A request that a stranger's server was sent."""

    path: str
    headers: dict[str, str]


@contextmanager
def stranger() -> Iterator[tuple[int, list[Knocked]]]:
    """A server of a stranger on this machine: its port, and what it was sent."""
    knocked: list[Knocked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/favicon.ico":  # a browser asks for it whenever it likes, for a page that was left, too
                knocked.append(Knocked(self.path, {name.lower(): value for name, value in self.headers.items()}))
            body = b"<!doctype html><title>stranger</title><body><a id=go href='/'>go</a></body>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], knocked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
