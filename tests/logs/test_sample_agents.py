"""The samples of agents with formats of their own show what the README says of them, at the moment it names."""

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.samples import observed

from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.model.delegation import Link
from delegtop.model.forest import Forest

SAMPLES = Path(__file__).parents[2] / "sample_logs"
ROW = r"^\| `([a-z]+)` \| .+ \| `(\d{4}-.+Z)` \|$"
MOMENTS = dict(re.findall(ROW, (SAMPLES / "README.md").read_text("utf-8"), re.MULTILINE))
"""The moment of each sample, as the README has it."""
SHOWN = {
    "copilot": """
        0 copilot waiting
        1 explore completed
        1 general-purpose silent
        1 code-review failed""",
    "gemini": """
        0 gemini waiting
        1 codebase_investigator completed
        1 generalist failed
        1 None silent""",
    "qwen": """
        0 qwen waiting
        1 explore completed
        1 general-purpose waiting
        2 test-writer silent
        1 reviewer failed""",
    "kimi": """
        0 kimi waiting
        1 explore completed
        1 coder failed
        1 coder silent""",
    "cursor": """
        0 cursor waiting
        1 explore completed
        1 generalPurpose failed
        1 shell silent""",
    "droid": """
        0 droid waiting
        1 explorer completed
        1 writer failed
        1 worker running""",
    "crush": """
        0 crush waiting
        1 agent completed
        1 agent failed
        1 agent running""",
    "cline": """
        0 cline waiting
        1 subagent completed
        1 subagent failed
        1 subagent waiting
        2 subagent silent""",
    "grok": """
        0 grok waiting
        1 explore completed
        1 general-purpose failed
        1 general-purpose silent""",
    "kilo": """
        0 kilo waiting
        1 explore completed
        1 general failed
        1 general silent""",
    "goose": """
        0 goose idle
        0 goose silent
        0 sub-agent idle
        0 sub-agent silent""",
}
DATABASES = {
    "cline": "cline/data/db/sessions.db",
    "crush": "crush/.crush/crush.db",
    "goose": "goose/sessions/sessions.db",
    "kilo": "kilo/kilo.db",
}
TEXTS = [path for name in SHOWN for path in sorted((SAMPLES / name).rglob("*.json*"))]


def at(text: str) -> Millis:
    found = parse_time(text)
    assert found is not None
    return found


def copied(sample: str, folder: Path) -> Path:
    """The sample with its files written when it says."""
    copy = Path(shutil.copytree(SAMPLES / sample, folder / sample))
    times = copy / "times.json"
    if times.exists():
        for name, written in json.loads(times.read_bytes()).items():
            os.utime(copy / name, (at(written) / 1000, at(written) / 1000))
        times.unlink()
    return copy


def grown(sample: str, folder: Path) -> Forest:
    with observed(copied(sample, folder), clock=FrozenClock(at(MOMENTS[sample]))) as seen:
        seen.read()
        health = {(status.dialect or "", status.unreadable, status.deviations) for status in seen.statuses}
        assert {(format.removesuffix("-messages"), *counts) for format, *counts in health} == {(sample, 0, 0)}
        return seen.forest


def test_the_readme_has_a_moment_for_each_of_them() -> None:
    assert MOMENTS.keys() == SHOWN.keys()


@pytest.mark.parametrize("sample", SHOWN)
def test_a_sample_shows_its_tree_at_its_moment(sample: str, tmp_path: Path) -> None:
    forest = grown(sample, tmp_path)

    def below(handle: int) -> int:
        parent = forest.parent(handle)
        return 0 if parent is None else 1 + below(parent)

    rows = [(below(row), forest.delegation(row).agent, forest.state(row)) for row in forest.walk()]
    told = [tuple(line.split()) for line in SHOWN[sample].strip().splitlines()]
    assert [tuple(map(str, row)) for row in rows] == told


@pytest.mark.parametrize("sample", SHOWN)
def test_no_two_files_of_a_sample_contradict_each_other(sample: str, tmp_path: Path) -> None:
    forest = grown(sample, tmp_path)
    assert [claim for row in forest.walk() for claim in forest.delegation(row).claims] == []


def test_only_the_agent_that_has_not_come_back_has_an_inferred_parent(tmp_path: Path) -> None:
    forest = grown("gemini", tmp_path)
    links = [forest.link(row) for row in forest.walk()]
    assert links == [Link.ROOT, Link.EXPLICIT, Link.EXPLICIT, Link.INFERRED]


@pytest.mark.parametrize("sample", DATABASES)
def test_a_database_is_what_its_text_says(sample: str) -> None:
    text = (SAMPLES / f"{sample}.sql").read_text("utf-8")
    with closing(sqlite3.connect(":memory:")) as made, closing(sqlite3.connect(SAMPLES / DATABASES[sample])) as kept:
        made.executescript(text)
        assert list(kept.iterdump()) == list(made.iterdump())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_is_small_and_names_no_real_place(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text) < 20_000
    assert "@" not in text
    assert set(re.findall(r"https?://([^/\"]+)", text)) <= {"localhost:4173"}
