"""The sample files of CLEO and hyper show what the README says, and a manifest that shrinks is read without a slip."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import Millis, WallClock, parse_time
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed.live_feed import Feed
from delegtop.model.forest import Forest

SAMPLES = Path(__file__).parents[2] / "sample_logs"
AT = "2026-03-18T09:12:00Z"


def tree(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, Any]]:
    assert main(["tree", "--json", *arguments]) == Exit.OK
    return {row["id"]: row for row in json.loads(capsys.readouterr().out)["delegations"]}


def rules(capsys: pytest.CaptureFixture[str], *arguments: str) -> Counter[str]:
    main(["check", "--json", *arguments])
    return Counter(finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"])


def test_the_manifest_shows_six_entries_under_one_epic(capsys: pytest.CaptureFixture[str]) -> None:
    rows = tree(capsys, str(SAMPLES / "cleo"))
    below = [id for id, row in rows.items() if row["parent"] in ("T300", "T300/wave-2")]
    assert len([id for id in below if "wave" not in id]) == 6
    assert rows["retry-policy-2026-03-18"]["state"] == "partial"
    assert rows["retry-policy-2026-03-18~2"]["state"] == "completed"
    assert all(row["started_at"] is None for row in rows.values())
    assert {id for id, row in rows.items() if row["ended_at"]} == {"load-test", "a41c09e", "T309", "T302"}


def test_the_check_of_the_manifest_finds_what_is_wrong_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = rules(capsys, str(SAMPLES / "cleo"))
    assert found == {
        "OUT-001": 5,
        "OUT-002": 4,
        "OUT-101": 1,
        "OUT-102": 1,
        "OUT-104": 1,
        "OUT-107": 1,
        "OUT-108": 2,
        "OUT-110": 1,
        "OUT-121": 1,
        "OUT-130": 1,
        "OUT-131": 2,
        "OUT-140": 1,
        "LOG-001": 1,
        "END-001": 2,
    }


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("cleo/answers/good.txt", {}),
        ("cleo/answers/talkative.txt", {"OUT-004": 1}),
        ("hyper/answers/good.md", {"LOG-004": 1}),  # its workspace is not here
        ("hyper/answers/stuck.md", {"HYP-001": 1, "HYP-003": 1, "HYP-004": 1, "HYP-014": 1, "END-001": 1}),
    ],
)
def test_the_answers_are_judged(path: str, found: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert rules(capsys, str(SAMPLES / path)) == found


def test_the_run_holds_its_sessions_and_its_stack(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = "20260318-090000-b7c2d1"
    copy = shutil.copytree(SAMPLES / "hyper", tmp_path / "hyper")
    written = (parse_time(AT) or Millis(0)) / 1000 - 120
    for path in copy.rglob("*"):
        os.utime(path, (written, written))  # a run's state says nothing of its own time but when it was written
    rows = tree(capsys, str(copy), "--at", AT)
    parents = {id: row["parent"] for id, row in rows.items()}
    assert parents == {
        run: None,
        "0b51-captain": run,
        "7d20-worker": "0b51-captain",
        f"{run}#1": run,
        f"{run}#2": f"{run}#1",
        f"{run}:plan": run,
        f"{run}:form": run,
        f"{run}:pay": run,
        f"{run}:mail": run,
    }
    assert rows["7d20-worker"]["state"] == "silent"
    assert not [row["claims"] for row in rows.values() if row["claims"]]


def test_a_manifest_that_shrinks_and_grows_again_shows_every_entry_once(tmp_path: Path) -> None:
    path = tmp_path / "MANIFEST.jsonl"
    entries = [
        json.dumps({"id": f"{name}-2026-03-18", "title": name * 40, "status": "complete", "key_findings": [name]})
        + "\n"
        for name in "abcd"
    ]
    forest = Forest()
    feed = Feed([str(path)], clock=WallClock())
    try:
        for kept in (entries[:3], entries[1:3], entries[1:]):
            path.write_text("".join(kept))
            for _ in range(3):
                for batch in feed.poll():
                    forest.apply(batch.events)
    finally:
        feed.close()
    forest.advance(WallClock().now())
    assert {forest.delegation(handle).id for handle in forest.walk()} == {f"{name}-2026-03-18" for name in "abcd"}
