"""A Textual program that follows a folder with watchfiles' defaults and shows the last marked line."""

import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Static
from watchfiles import awatch


class Watcher(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("watching", id="last", markup=False)

    def on_mount(self) -> None:
        self.newest = ""
        self.offsets: dict[str, int] = {str(path): path.stat().st_size for path in Path(sys.argv[1]).rglob("*.jsonl")}
        self.run_worker(self.follow())

    async def follow(self) -> None:
        async for changes in awatch(sys.argv[1]):
            for _, path in changes:
                self.read(path)

    def read(self, path: str) -> None:
        with Path(path).open("rb") as file:
            file.seek(self.offsets.get(path, 0))
            added = file.read()
        self.offsets[path] = self.offsets.get(path, 0) + len(added)
        at = added.rfind(b"MARK")
        if at >= 0:
            self.newest = max(self.newest, added[at : at + 9].decode())
            self.query_one("#last", Static).update(self.newest)


Watcher().run()
