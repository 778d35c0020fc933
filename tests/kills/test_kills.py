"""Whoever writes may be killed at any moment: what it leaves is whole, a prefix or not there; the next start works."""

import os
import random
import time
from pathlib import Path

import pytest
from tests.kills.run import kill, kill_dashboard
from tests.kills.victims import VICTIMS, Victim

from delegtop.base import leftovers


@pytest.mark.parametrize("victim", VICTIMS, ids=lambda victim: victim.name)
def test_whoever_is_killed_leaves_nothing_half_done_and_the_next_start_works(victim: Victim) -> None:
    for seed in (1, 2):
        kill(victim, random.Random(seed))


def test_a_dashboard_that_was_killed_leaves_its_files_whole_and_starts_again() -> None:
    kill_dashboard(random.Random(1))


def test_what_a_killed_writer_left_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    path, hour = tmp_path / "status.json", time.time() - 3_600
    left = [".status.json.4711", ".status.json.4711.tmp", ".status.json.ab_cd12x", ".status.json.delegtop-ab_cd12x"]
    other = [
        ".status.json.bak",
        ".status.jsonx.4711",
        "status.json.4711",
        ".other.json.4711",
        ".status.json.backup-of-mine",
    ]
    for name in (*left, *other):
        (tmp_path / name).write_text("{")
        os.utime(tmp_path / name, (hour, hour))
    (tmp_path / ".status.json.4712").write_text("{")
    leftovers.clear(path)
    assert {each.name for each in tmp_path.iterdir()} == {*other, ".status.json.4712"}


def test_in_the_folder_of_somebody_else_only_what_is_surely_ours_is_cleared_away(tmp_path: Path) -> None:
    hour = time.time() - 3_600
    other = [".report.md.original", ".report.md.20261117", ".report.md.delegtop", ".other.md.delegtop-ab_cd12x"]
    for name in (".report.md.delegtop-ab_cd12x", ".report.md.4711.tmp", *other):
        (tmp_path / name).write_text("{")
        os.utime(tmp_path / name, (hour, hour))
    leftovers.clear(tmp_path / "report.md", folder_is_ours=False)
    assert {each.name for each in tmp_path.iterdir()} == {*other}
