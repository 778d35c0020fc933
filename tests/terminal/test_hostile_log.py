"""A log whose every text attacks the terminal, looked at on every tab and every screen of the real program.

A terminal obeys whatever it is sent. So three things are looked at: what the terminal did (clipboard, title, keys that
nobody pressed), what it was sent, byte by byte, and whether the program is still there.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.terminal.conftest import Terminal

ATTACKS = {
    "clipboard": "\x1b]52;c;RVZJTEVWSUw=\x07\x1b]52;c;RVZJTEVWSUw=\x1b\\",
    "title": "\x1b]0;EVIL TITLE\x07\x1b]2;EVIL TITLE\x1b\\",
    "who are you": "\x1b[c\x1b[>c\x1b[6n\x1bZ",
    "forged row": "\x1b[2J\x1b[1;1HFORGED completed",
    "reset": "\x1bc\x1b[!p",
    "link": "\x1b]8;;https://evil.example.org\x1b\\press me\x1b]8;;\x1b\\",
    "eight bit": "\x9b31m\x9d2;EVIL TITLE\x9c\x90q\x9c",
    "markup": "[@click=app.quit]quit[/] [@click=app.screenshot('evil.svg','/tmp')]x[/] [/unbalanced] [bold",
    "direction": "\u202egnp.live\u202c \u2066x\u2069 a\u200bb \ufeff",
    "layout": "a\rb\nc\td\x08\x08\x7f\x0b\x0c\x00\x0e",
}
EVIL = " ".join(ATTACKS.values())
OUTPUT = {
    "no command to the terminal": [b"\x1b]52", b"\x1b]0;", b"\x1b]2;", b"\x1b]8;", b"\x1bc"],
    "no question to the terminal": [b"\x1b[c", b"\x1b[>c", b"\x1b[6n", b"\x1bZ"],
    "no C1 code in UTF-8": [b"\xc2\x90", b"\xc2\x9b", b"\xc2\x9c", b"\xc2\x9d"],
    "no change of direction": ["\u202e".encode(), "\u2066".encode(), "\u200b".encode()],
}  # fmt: skip
SCREENS = {"help": ("?", "Keep the newest"), "sources": ("o", "delegtop · sources"), "copy": ("y", "recommendation")}


def record(event: str, session: str, **more: Any) -> str:
    return json.dumps({"event": event, "at": "2026-05-01T10:00:00Z", "session_id": session, **more}) + "\n"


def hostile_log() -> str:
    """Every event and every field there is, with the attacks wherever a text may stand."""
    fault = {"type": EVIL, "message": EVIL, "code": EVIL, "recoverable": False, "recommendation": EVIL}
    result = {
        "status": "failed",
        "summary": EVIL,
        "artifacts": [{"type": EVIL, "path": EVIL, "summary": EVIL}],
        "metadata": {"session_id": EVIL, "agent_type": EVIL, "delegation_path": [EVIL], "delegation_depth": 1},
        "errors": [fault],
        "next_steps": EVIL,
    }
    names = {"command": EVIL, "subagent": f"evil {EVIL}", "caller": EVIL, "task_number": EVIL, "host": EVIL}
    lines = [
        record("register", "sess_20260501_evil01", **names, delegation_path=["orchestrator", EVIL], timeout=60),
        record("heartbeat", "sess_20260501_evil01", activity=EVIL, tool=EVIL),
        record("error", "sess_20260501_evil01", error=fault),
        record("return", "sess_20260501_evil01", **{"return": result}),
        record("register", f"sess {EVIL}", subagent="second", parent_session_id="sess_20260501_evil01"),
        record("cancel", f"sess {EVIL}", reason=EVIL),
        record(EVIL, "sess_20260501_evil01", **{EVIL: EVIL}),
        f"{EVIL}\n".replace("\n", " ") + "\n",
        json.dumps(EVIL) + "\n",
    ]
    return "".join(lines)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "evil \x1b]2;EVIL TITLE\x07.jsonl").write_text(hostile_log())
    return folder


def test_a_hostile_log_does_nothing_to_the_terminal_on_any_tab_or_screen(terminal: "Terminal", evil: Path) -> None:
    title = terminal.tells("pane_title")
    terminal.delegtop(evil, "--at", "2026-05-01T10:05:00Z")
    terminal.wait_for("evil", "second", "failed", "frozen")
    for row in ("g", "G"):
        terminal.keys(row)
        for tab in "12345":
            terminal.keys(tab)
            terminal.wait_until_still()
            assert_only_the_monitor_is_open(terminal)
    for key, words in SCREENS.values():
        terminal.keys(key)
        terminal.wait_for(words)
        terminal.escape(words)
    terminal.filter("evil")
    terminal.escape("/ evil")

    sent = terminal.written()
    assert terminal.clipboard() == []
    assert terminal.tells("pane_title") == title
    assert terminal.tells("alternate_on") == "1"
    for rule, forbidden in OUTPUT.items():
        assert [code for code in forbidden if code in sent] == [], rule
    assert not list(Path("/tmp").glob("evil.svg"))
    terminal.keys("q")
    assert terminal.wait_for_the_end() == 0


def test_the_same_attacks_work_on_a_terminal_that_is_not_protected(terminal: "Terminal") -> None:
    """Else the test above could pass because the terminal is deaf."""
    loud = terminal.folder / "loud"
    loud.write_text(ATTACKS["clipboard"] + ATTACKS["title"] + ATTACKS["who are you"])
    terminal.shell(f"cat {loud}")
    terminal.wait_until(lambda: "EVILEVIL" in terminal.clipboard(), "the clipboard is written")
    assert terminal.tells("pane_title") == "EVIL TITLE"
    terminal.wait_for("1;2c")


def assert_only_the_monitor_is_open(terminal: "Terminal") -> None:
    """An answer of the terminal would be read as keys: `?` opens the help and `c` the copy menu."""
    shown = terminal.screen()
    assert "DELEGATION" in shown
    assert "q quit" in shown
    assert not any(words in shown for _, words in SCREENS.values() if words != "recommendation")
