"""The HTML report in a real browser: it renders, it asks for nothing, and no word of a stranger runs."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.patience import PATIENCE

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian: chromium)")


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server on this machine, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def browse(page: Path, profile: Path, *options: str) -> str:
    """What Chromium says of the page."""
    command = [
        *(str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
        f"--user-data-dir={profile}",
        *options,
        page.as_uri(),
    ]
    # Chromium keeps its crash reports below the home, whatever the profile.
    environment = {**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile)}
    answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True, env=environment)
    return answer.stdout


def log(words: str) -> str:
    """A delegation that hangs, with these words wherever words may stand."""
    records: list[dict[str, object]] = [
        {"event": "register", "at": "2026-03-03T10:00:00Z", "session_id": "sess_1", "command": "plan"}
        | {"task_number": 7, "delegation_depth": 0, "delegation_path": ["orchestrator", "plan"], "timeout": 7200},
        {"event": "register", "at": "2026-03-03T10:00:10Z", "session_id": words, "subagent": words, "timeout": 60}
        | {"parent_session_id": "sess_1", "delegation_depth": 1, "delegation_path": ["orchestrator", "plan", words]},
        {"event": "heartbeat", "at": "2026-03-03T10:00:30Z", "session_id": words, "activity": words, "tool": words},
        {"event": "error", "at": "2026-03-03T10:00:40Z", "session_id": words}
        | {"error": {"type": words, "message": words, "code": words, "recoverable": True, "recommendation": words}},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def written(folder: Path, words: str) -> Path:
    (folder / "run.jsonl").write_text(log(words))
    page = folder / "report.html"
    arguments = ["report", str(folder / "run.jsonl"), "--at", "2026-03-03T10:30:00Z", "-o", str(page)]
    assert main(arguments) == Exit.OK
    return page


def test_the_page_renders_with_its_drawing(tmp_path: Path) -> None:
    dom = browse(written(tmp_path, "planner"), tmp_path / "profile", "--dump-dom")
    assert "<title>Incident report, 2026-03-03 10:30:00 UTC</title>" in dom
    assert "First of all planner" in dom
    assert dom.count('<rect class="bar"') == 2
    assert [
        title
        for title in ("What hung", "Over time", "One by one", "Timeline", "Sources")
        if f">{title}</h2>" not in dom
    ] == []


def test_hostile_words_neither_run_nor_load_anything(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    words = (
        f"<script src={address}/script></script><script>document.title='owned'</script><img src={address}/image "
        f"onerror=\"document.title='owned'\"></title></style></svg></pre><link rel=stylesheet href={address}/link>"
        f"<style>@import url({address}/style)</style><iframe src={address}/frame></iframe>"
        f"<meta http-equiv=refresh content='0;url={address}/refresh'>"
    )
    dom = browse(written(tmp_path, words), tmp_path / "profile", "--virtual-time-budget=3000", "--dump-dom")
    assert "<title>Incident report" in dom
    assert "&lt;script" in dom
    assert asked == []


def test_the_server_would_have_seen_a_request(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    """Without this the test before could not fail."""
    address, asked = server
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><img src={address}/image>")
    browse(page, tmp_path / "profile", "--virtual-time-budget=3000", "--dump-dom")
    assert "/image" in asked


def test_even_markup_that_slipped_through_could_load_nothing(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    """The policy of the page holds where an escape would fail."""
    address, asked = server
    page = written(tmp_path, "planner")
    slipped = f"<img src={address}/image><script>document.title='owned'</script>"
    page.write_text(page.read_text().replace("<main>", f"<main>{slipped}"))
    dom = browse(page, tmp_path / "profile", "--virtual-time-budget=3000", "--dump-dom")
    assert f'<img src="{address}/image">' in dom
    assert "<title>Incident report" in dom
    assert asked == []


def test_the_page_prints(tmp_path: Path) -> None:
    paper = tmp_path / "report.pdf"
    browse(written(tmp_path, "planner"), tmp_path / "profile", "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(("scheme", "is_dark"), [(0, True), (1, False)], ids=["dark", "light"])
def test_the_page_follows_the_colours_of_the_reader(scheme: int, is_dark: bool, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    shot = tmp_path / "shot.png"
    browse(
        written(tmp_path, "planner"),
        tmp_path / "profile",
        f"--blink-settings=preferredColorScheme={scheme}",
        "--window-size=600,400",
        f"--screenshot={shot}",
    )
    with image.open(shot) as picture:
        corner = picture.convert("L").getpixel((2, 2))
    assert (corner < 64) is is_dark
