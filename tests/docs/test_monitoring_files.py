"""The dashboard and the alert rules ask for nothing that `delegtop metrics` does not write, and say what they mean."""

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.telling import at, forest_at, heard, started

from delegtop.feed.followed_file import SourceStatus
from delegtop.model.states import State
from delegtop.report.health import UNHEALTHY
from delegtop.report.prometheus import lines

FOLDER = Path(__file__).parents[2] / "docs" / "monitoring"
RULES, DASHBOARD = FOLDER / "alert-rules.yml", FOLDER / "grafana-dashboard.json"
PROMTOOL = shutil.which("promtool")
OF_PROMETHEUS = {"instance", "job"}
"""Labels that Prometheus adds itself."""
FEW = {"state", "verdict", "urgency", "basis"}
"""Labels of which every value is always written."""
METRIC = re.compile(r"delegtop_\w+")
SELECTOR = re.compile(r"(delegtop_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")


@pytest.fixture(scope="module")
def written() -> dict[str, dict[str, set[str]]]:
    """The labels of every metric, and the values they have, where everything is told that can be."""
    sources = (SourceStatus("run.jsonl", "session-log", 1, 0, "live", ""),)
    paid = heard("a", 1)
    forest = forest_at(at(2), [started("a", 0), paid.__class__("a", at(1), paid.origin, tokens=5, cost=0.5)])
    found: dict[str, dict[str, set[str]]] = {}
    for line in lines(forest, sources):
        if line.startswith("# HELP"):
            found[line.split()[2]] = {}
            continue
        if not line.startswith("#"):
            name = re.split(r"[{ ]", line)[0]
            for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line):
                found[name].setdefault(label, set()).add(value)
    found["delegtop_estimated_cost_dollars"] |= found["delegtop_cost_dollars"]
    return found


def rules() -> list[dict[str, Any]]:
    told = yaml.safe_load(RULES.read_text("utf-8"))
    assert list(told) == ["groups"]
    return [rule for group in told["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return found


EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in rules()),
    *((panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]),
]


@pytest.mark.parametrize(("what", "expression"), EXPRESSIONS, ids=[f"{what}" for what, _ in EXPRESSIONS])
def test_what_is_asked_for_is_written(what: str, expression: str, written: dict[str, dict[str, set[str]]]) -> None:
    assert METRIC.search(expression), what
    asked: set[str] = set()
    for name, matchers in SELECTOR.findall(expression):
        assert name in written
        asked |= written[name].keys()
        for label, how, value in MATCHER.findall(matchers or ""):
            assert label in written[name].keys() | OF_PROMETHEUS
            if label in FEW:
                wanted = value.split("|") if how in ("=~", "!~") else [value]
                assert set(wanted) <= written[name][label]
            if label == "status":
                assert set(value.split("|")) <= UNHEALTHY
    for group in GROUPING.findall(expression):
        assert set(map(str.strip, group.split(","))) <= asked | OF_PROMETHEUS


def test_every_value_of_the_few_is_written(written: dict[str, dict[str, set[str]]]) -> None:
    """Without this the test before could not fail."""
    assert written["delegtop_delegations"]["state"] == {state.value for state in State}
    assert {name for name in written if not written[name]} == {
        "delegtop_needs_review",
        "delegtop_observed_timestamp_seconds",
    }


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_when_how_grave_and_what_to_do(
    rule: dict[str, Any], written: dict[str, dict[str, set[str]]]
) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+m", rule["for"])
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert set(rule["annotations"]) == {"summary", "description"}
    words = " ".join(rule["annotations"].values())
    names = METRIC.findall(rule["expr"])
    known = OF_PROMETHEUS.union(*(written[name] for name in names))
    assert set(re.findall(r"\$labels\.(\w+)", words)) <= known
    assert "instance" in words


def test_alerts_have_names_of_their_own() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names))


def test_the_dashboard_asks_any_prometheus_and_any_machine() -> None:
    told = json.loads(DASHBOARD.read_text("utf-8"))
    assert {each["name"] for each in told["templating"]["list"]} == {"datasource", "instance"}
    for panel in panels():
        assert panel["datasource"]["uid"] == "${datasource}"
        for target in panel["targets"]:
            assert 'instance=~"$instance"' in target["expr"], panel["title"]


def test_panels_are_told_apart_and_lie_beside_each_other() -> None:
    found = panels()
    assert len({panel["id"] for panel in found}) == len({panel["title"] for panel in found}) == len(found)
    assert all(panel["description"] for panel in found)
    for one, other in combinations([panel["gridPos"] for panel in found], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in found)


def test_legends_name_labels_that_are_there(written: dict[str, dict[str, set[str]]]) -> None:
    for panel in panels():
        for target in panel["targets"]:
            known = OF_PROMETHEUS.union(*(written[name] for name in METRIC.findall(target["expr"])))
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= known


def test_the_page_tells_of_the_files(project: Path) -> None:
    page = (project / "docs" / "metrics.md").read_text("utf-8")
    for path in (RULES, DASHBOARD):
        assert f"(monitoring/{path.name})" in page
    assert all(rule["alert"] in page for rule in rules())


SERIES = {
    "DelegationIsStuck": 'delegtop_problems{urgency="1",means="stuck",instance="gpu1"}',
    "DelegationNeedsAPerson": 'delegtop_problems{urgency="2",means="a person",instance="gpu1"}',
    "DelegationRunsAway": 'delegtop_verdicts{verdict="running away",instance="gpu1"}',
    "DelegationsEndBadly": 'delegtop_problems{urgency="3",means="ended",instance="gpu1"}',
    "DelegationIsSilent": 'delegtop_oldest_silence_seconds{agent="coder",product="x",instance="gpu1"}',
    "DelegtopFiguresAreOld": 'delegtop_observed_timestamp_seconds{instance="gpu1"}',
    "DelegtopCannotReadItsLogs": 'delegtop_sources{format="none",status="unreadable",instance="gpu1"}',
}
VALUES = {"DelegationsEndBadly": 7, "DelegationIsSilent": 20_000, "DelegtopFiguresAreOld": -1_000}
"""What each has to be for the alert to go off; 1 for the others."""


@pytest.mark.skipif(PROMTOOL is None, reason="needs promtool (Debian: prometheus)")
@pytest.mark.parametrize("alert", [rule["alert"] for rule in rules()])
def test_prometheus_itself_fires_them_in_time_and_not_before(alert: str, tmp_path: Path) -> None:
    [rule] = [each for each in rules() if each["alert"] == alert]
    minutes = int(rule["for"].removesuffix("m"))
    value = VALUES.get(alert, 1)
    case = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": SERIES[alert], "values": f"{value}x{minutes + 5}"}],
                "promql_expr_test": [
                    {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="{state}"}})', "eval_time": f"{minute}m"}
                    | {"exp_samples": [{"labels": "{}", "value": 1}]}
                    for minute, state in ((minutes - 1, "pending"), (minutes + 1, "firing"))
                ],
            }
        ],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump(case))
    told = subprocess.run([str(PROMTOOL), "test", "rules", str(tmp_path / "test.yml")], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
