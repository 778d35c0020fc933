"""Commands that were open for longer than their program lets one run: what became of them, by permission mode.

    python tests/hindsight/past_their_limit.py LOGS

LOGS is a folder with transcripts of Claude Code (packed with zstd or not). Claude Code gives a command the time that
the call names, or two minutes; then it ends it, or goes on without it, and the result says so. A result that came later
and says nothing of the kind is of a command that was begun later: it waited for a person to allow it (or the machine
slept). This is known from the records alone, and from nothing that delegtop says.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from delegtop.agents.claude_code import PRODUCT
from delegtop.base.zstd import decompress

USUAL = 120.0
"""Seconds that a command is given whose call names none."""
SLACK = 5.0
MODES = ("nobody is asked", "a person may be asked", "not told")


class Command(NamedTuple):
    """One call of a shell that came back."""

    mode: str
    limit: float
    """Seconds."""
    took: float
    said: str

    @property
    def is_late(self) -> bool:
        return self.took > self.limit + SLACK

    @property
    def was_cut(self) -> bool:
        """Whether the result says that the time was up."""
        said = any(words in self.said for words in ("timed out", "running in background", "moved to the background"))
        return said and self.took > self.limit - SLACK


def commands(lines: list[bytes]) -> Iterator[Command]:
    """Those of one transcript."""
    mode, begun = None, dict[str, tuple[float, dict[str, Any], str | None]]()
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict) or "timestamp" not in record:
            continue
        mode = record.get("permissionMode") or mode
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "tool_use" and part.get("name") == "Bash":
                begun[part["id"]] = _seconds(record), part.get("input") or {}, mode
            elif part.get("type") == "tool_result" and part.get("tool_use_id") in begun:
                at, given, then = begun.pop(part["tool_use_id"])
                if not given.get("run_in_background"):
                    limit = float(given.get("timeout") or USUAL * 1000) / 1000
                    yield Command(_asks(then), limit, _seconds(record) - at, json.dumps(part.get("content")))


def _asks(mode: str | None) -> str:
    asks = PRODUCT.permissions
    return MODES[2] if mode is None else MODES[0] if asks and mode in asks.free else MODES[1]


def _seconds(record: dict[str, Any]) -> float:
    return datetime.fromisoformat(record["timestamp"]).timestamp()


def markdown(found: list[Command]) -> str:
    calls = Counter(each.mode for each in found)
    cut = Counter(each.mode for each in found if each.was_cut)
    later = Counter(each.mode for each in found if each.is_late and not each.was_cut)
    text = "| permission mode | commands | cut at their limit | begun after it |\n| --- | ---: | ---: | ---: |\n"
    return text + "".join(f"| {mode} | {calls[mode]:,} | {cut[mode]} | {later[mode]} |\n" for mode in MODES)


def main() -> None:
    found: list[Command] = []
    for path in sorted(Path(sys.argv[1]).rglob("*.jsonl*")):
        data = path.read_bytes()
        found += commands((decompress(data) if path.suffix == ".zst" else data).splitlines())
    sys.stdout.write(markdown(found))


if __name__ == "__main__":
    main()
