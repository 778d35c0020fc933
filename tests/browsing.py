"""A real browser that a test drives: Chromium, over the pipe it offers for that, with the standard library alone."""

import base64
import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

from tests.patience import PATIENCE

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WHY_NOT = "needs Chromium (Debian: chromium)"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe", "--no-startup-window",
)  # fmt: skip
_NAP = 0.02


class BrowserError(AssertionError):
    """The browser refused what it was told, or a script of the test threw."""


class Browser:
    """One running Chromium. What it tells is kept with the page it is told of."""

    def __init__(self, profile: Path, *flags: str) -> None:
        assert CHROMIUM is not None
        there, self._write = os.pipe()
        self._read, back = os.pipe()
        # Chromium reads descriptor 3 and writes to 4; it keeps its crash reports below the home, whatever the profile.
        line = ["bash", "-c", 'exec "$@" 3<&"$0" 4>&"$BACK"', str(there), CHROMIUM, *_FLAGS, *flags]
        self._process = subprocess.Popen(
            [*line, f"--user-data-dir={profile}"],
            pass_fds=(there, back),
            env={**os.environ, "BACK": str(back), "HOME": str(profile), "XDG_CONFIG_HOME": str(profile)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._number, self._rest = 0, b""
        self.told: deque[dict[str, Any]] = deque()
        """Events, as they came."""
        self._answers: dict[int, dict[str, Any]] = {}

    def send(self, method: str, session: str | None = None, **given: Any) -> int:
        """Tell it to; returns the number of the answer."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if session is not None:
            asked["sessionId"] = session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        return self._number

    def call(self, method: str, session: str | None = None, **given: Any) -> dict[str, Any]:
        number = self.send(method, session, **given)
        end = monotonic() + PATIENCE
        while number not in self._answers:
            assert monotonic() < end, f"{method}: no answer"
            self.listen(_NAP)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        found: dict[str, Any] = answer["result"]
        return found

    def listen(self, seconds: float) -> None:
        """Take in what it tells."""
        if not select([self._read], [], [], seconds)[0]:
            return
        data = os.read(self._read, 1 << 20)
        assert data, "the browser is gone"
        *whole, self._rest = (self._rest + data).split(b"\0")
        for each in map(json.loads, whole):
            if "id" in each:
                self._answers[each["id"]] = each
            else:
                self.told.append(each)

    def open(self, address: str = "about:blank", *, fresh: bool = False) -> "BrowserPage":
        """A page of its own; `fresh` without the cookies of the others."""
        more = {"browserContextId": self.call("Target.createBrowserContext")["browserContextId"]} if fresh else {}
        target = self.call("Target.createTarget", url="about:blank", **more)["targetId"]
        page = BrowserPage(self, target)
        if address != "about:blank":
            page.go(address)
        return page

    def close(self) -> None:
        os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            os.close(self._read)


class BrowserPage:
    """One tab."""

    def __init__(self, browser: Browser, target: str) -> None:
        self._browser, self._target = browser, target
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._instead = ""
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **given)

    def send(self, method: str, **given: Any) -> None:
        """The same without waiting for an answer."""
        self._browser.send(method, self._session, **given)

    def go(self, address: str) -> None:
        """Open an address, and wait until it is there and leads nowhere else."""
        if self._instead:
            self.send("Page.navigate", url=address)
            while self._instead:
                self._browser.listen(_NAP)
                self._answer()
        else:
            self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def answer_once(self, address: str, text: str) -> None:
        """The next time this is asked for, it is answered with that, whoever is there."""
        self.call("Fetch.enable", patterns=[{"urlPattern": address}])
        self._instead = base64.b64encode(text.encode()).decode()

    def _answer(self) -> None:
        for asked in self.events("Fetch.requestPaused") if self._instead else ():
            headers = [{"name": "Content-Type", "value": "text/html"}]
            self.call(
                "Fetch.fulfillRequest",
                requestId=asked["requestId"], responseCode=200, responseHeaders=headers, body=self._instead,
            )  # fmt: skip
            self._instead = ""
            self.call("Fetch.disable")

    def run(self, script: str) -> Any:
        """The value of an expression; of a promise, what it comes to."""
        found = self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            allowUnsafeEvalBlockedByCSP=False,
        )
        if "exceptionDetails" in found:
            raise BrowserError(found["exceptionDetails"].get("exception", {}).get("description", script))
        return found["result"].get("value")

    def source(self) -> str:
        """What it is made of, where no script may run."""
        try:
            root = self.call("DOM.getDocument")["root"]["nodeId"]
            return str(self.call("DOM.getOuterHTML", nodeId=root)["outerHTML"])
        except BrowserError:
            return ""  # the page was just left

    def until(self, script: str) -> Any:
        """Wait until an expression is true, whatever page is there meanwhile."""
        end = monotonic() + PATIENCE
        while True:
            try:
                if found := self.run(script):
                    return found
            except BrowserError:
                pass  # the page was just left
            assert monotonic() < end, f"{script}: {self.run('document.body.innerText')!r:.2000}"
            self._browser.listen(_NAP)

    def events(self, method: str) -> list[dict[str, Any]]:
        """What was told of this page so far."""
        self._browser.listen(0)
        told = (each for each in self._browser.told if each.get("sessionId") == self._session)
        return [each["params"] for each in told if each["method"] == method]

    def complaints(self) -> list[str]:
        """What its console says is wrong."""
        logged = [each["entry"]["text"] for each in self.events("Log.entryAdded")]
        thrown = [each["exceptionDetails"]["text"] for each in self.events("Runtime.exceptionThrown")]
        said = [str(each["args"]) for each in self.events("Runtime.consoleAPICalled") if each["type"] == "error"]
        return logged + thrown + said

    def size(self, width: int, height: int, *, mobile: bool = False) -> None:
        scale = 2 if mobile else 1
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def prefer(self, **features: str) -> None:
        """`prefer(colour='dark')`: what the reader's system says."""
        names = {"colour": "prefers-color-scheme", "motion": "prefers-reduced-motion"}
        self.call("Emulation.setEmulatedMedia", features=[{"name": names[n], "value": v} for n, v in features.items()])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """What it looks like; the `whole` page, or what is in sight."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def browser(profile: Path, *flags: str) -> Iterator[Browser]:
    running = Browser(profile, *flags)
    try:
        yield running
    finally:
        running.close()
