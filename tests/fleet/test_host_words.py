"""Where several hosts are looked at, whatever is said of a delegation says on which it is; of one alone it need not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.told_streams import HERE, ToldStreams, minutes_ago, told

from delegtop.base.clock import MINUTE
from delegtop.cli import main
from delegtop.dialects.recording.tape import Written
from delegtop.feed import fleet_links
from delegtop.model.events import Started
from delegtop.notify.notification import in_words
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places, addresses
from delegtop.settings import Settings

Run = Callable[..., str]


def late(minutes: int) -> list[Written]:
    """The same agent with the same id on each: one that is past its deadline."""
    return [told(1, Started("s", minutes_ago(minutes), HERE, agent="executor", timeout=10 * MINUTE))]


@pytest.fixture(autouse=True)
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToldStreams:
    made = ToldStreams(tmp_path / "hosts")
    monkeypatch.setenv("PATH", made.ssh.path)
    monkeypatch.setattr(fleet_links, "_TICK", 0.05)
    for minutes, name in ((60, "dev"), (50, "gpu1")):
        made.lives(name, *late(minutes))
    monkeypatch.setattr("delegtop.feed.incoming.ANSWER", 0.01)
    made.fails("gpu2", "ssh: connect to host gpu2 port 22: Connection timed out", 255)
    return made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str, code: int = 0) -> str:
        assert main([*arguments]) == code, capsys.readouterr().err
        told = capsys.readouterr()
        return told.out + told.err

    return run


BOTH = ("ssh://dev", "ssh://gpu1")


def test_what_to_do_in_a_tree(run: Run) -> None:
    printed = run("tree", *BOTH)
    assert "executor on dev (overdue): " in printed
    assert "executor on gpu1 (overdue): " in printed
    assert "executor (overdue): " in run("tree", BOTH[0])


def test_lines_of_watch(run: Run) -> None:
    lines = run("watch", *BOTH, "--exit-when", "problem", code=3)
    assert " overdue     executor s on dev | " in lines
    assert "delegtop: executor s on gpu1: " in lines
    found = run("watch", *BOTH, "--exit-when", "problem", "--json", code=3).splitlines()
    items = [json.loads(line) for line in found if line.startswith("{")]
    assert {item["host"] for item in items} == {"dev", "gpu1"}
    alone = run("watch", BOTH[0], "--exit-when", "problem", "--json", code=3).splitlines()
    assert json.loads(alone[0])["host"] is None


def test_the_line_of_status(run: Run) -> None:
    assert json.loads(run("status", *BOTH, "--json"))["first"]["host"] == "gpu1"
    assert "2 problems, first: executor on gpu1: overdue" in run("status", *BOTH)
    assert run("status", *BOTH, "--format", "{host}").strip() == "gpu1"
    assert "1 problem: executor: overdue" in run("status", BOTH[0])


def test_a_report_names_it_wherever_it_names_a_delegation(run: Run, tmp_path: Path) -> None:
    for form in ("md", "html", "json"):
        run("report", *BOTH, "-o", str(tmp_path / f"r.{form}"))
    markdown, html = (tmp_path / "r.md").read_text(), (tmp_path / "r.html").read_text()
    for name in ("dev", "gpu1"):
        assert f"executor on {name}" in markdown
        assert f"executor on {name}" in html
        assert f"<dt>Host</dt><dd>{name}</dd>" in html
    document: dict[str, Any] = json.loads((tmp_path / "r.json").read_text())
    assert "First of all executor on " in document["headline"]
    assert {each["host"] for each in document["troubles"]} == {"dev", "gpu1"}
    assert {each["host"] for each in document["tree"]} == {"dev", "gpu1"}


def test_what_is_checked(run: Run) -> None:
    assert "executor on dev s (overdue)" in run("check", *BOTH, code=3)


def test_figures_tell_which_hosts_are_there(run: Run) -> None:
    figures = run("metrics", *BOTH, "ssh://gpu2", code=4)
    for line in ('live{host="dev"} 1', 'live{host="gpu1"} 1', 'live{host="gpu2"} 0', 'news_age_seconds{host="dev"} '):
        assert f"delegtop_host_{line}" in figures
    assert "delegtop_host" not in run("metrics", "--all", str(Path(__file__).parent / "nothing"), code=4)


def test_an_id_that_two_hosts_have_is_told_with_its_host(run: Run) -> None:
    refused = run("wait", "s", *BOTH, code=2)
    assert {"dev:s", "gpu1:s"} == set(refused.strip().rpartition("several: ")[2].split(", "))
    run("wait", "gpu1:s", *BOTH, "--timeout", "0.1s", code=124)


def both() -> Observation:
    seen = opened(Places([], hosts=tuple(addresses(BOTH, Settings()))), Settings())
    seen.catch_up()
    return seen


def test_an_alert_says_where_to_go() -> None:
    from delegtop.diagnosis.alerts import Alerts

    with both() as seen:
        alerts = Alerts(seen.forest, seen.assessments).begin(telling=True)
        notices = [in_words(alert) for alert in alerts]
    assert sorted(notice.headline for notice in notices) == [
        "executor on dev is overdue",
        "executor on gpu1 is overdue",
    ]
    assert {notice.environment()["DELEGTOP_HOST"] for notice in notices} == {"dev", "gpu1"}
    assert {notice.facts("x")["host"] for notice in notices} == {"dev", "gpu1"}
