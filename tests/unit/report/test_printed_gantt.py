"""`delegtop tree --gantt`: the trees over time, printed."""

from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.report import bars

SAMPLES = Path(__file__).parents[3] / "sample_logs"
AT = ["--at", "2026-03-03T10:59:40Z"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["tree", "--gantt", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_tree_is_printed_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(SAMPLES / "02_hang"), *AT)
    axis, root, child, *leaves = lines[2:7]
    assert axis.split()[0] == "10:00"
    assert root.startswith("/implement 191            ◐ waiting")
    assert "━━━━" in child
    hung = next(line for line in leaves if "implementer" in line)
    assert "█████" in hung
    assert "░░░◆░░░" in hung
    assert "on the critical path" in lines[-2]


def test_what_is_the_matter_is_said_in_the_words_of_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(SAMPLES / "02_hang"), *AT)
    assert "! hung in a tool" in next(line for line in lines if "implementer" in line)


@pytest.mark.parametrize("plain", [(), ("--ascii",)])
def test_every_sign_that_is_drawn_is_explained(capsys: pytest.CaptureFixture[str], plain: tuple[str, ...]) -> None:
    lines = printed(capsys, str(SAMPLES / "02_hang"), *AT, *plain)
    ink = bars.ASCII if plain else bars.UNICODE
    drawn = {sign for line in lines[2:-3] for sign in line[42:]} & set("".join(ink[:-2])) - set(ink.eighths + " ")
    halves = {ink.thin_first, ink.thin_last, ink.right_half}  # of what is explained whole
    assert ink.thick_guess in drawn
    assert drawn - halves <= set("".join(lines[-2:]))


def test_every_tree_has_its_own_time(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(SAMPLES / "claude-code"), "--at", "2026-11-02T10:12:00Z")
    assert sum("08:00:00" in line for line in lines) == 1
    assert sum("10:02" in line for line in lines) == 1


def test_a_filter_leaves_only_what_matches_and_its_ancestors(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(SAMPLES / "02_hang"), *AT, "--filter", "status-sync")
    assert any("status-sync-manager" in line for line in lines)
    assert not any("implementer" in line for line in lines)


def test_it_is_plain_ascii_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(SAMPLES / "02_hang"), *AT, "--ascii")
    assert all(line.isascii() for line in lines)
    assert any("=====:::" in line for line in lines)


def test_nothing_to_draw_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_text("")
    assert printed(capsys, str(tmp_path / "session.jsonl"), *AT)[0].startswith("No delegations")


def test_a_tree_without_any_time_is_named_and_has_no_bars(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    log.write_text('{"event": "return", "session_id": "sess_1_a", "return": {"status": "completed"}}\n')
    lines = printed(capsys, str(log), *AT)
    assert any("completed" in line and "━" not in line for line in lines[1:])
