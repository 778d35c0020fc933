"""The sample folder of tasks, with the times its files had: the tree and the findings an operator sees."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import judging
from tests.samples import lay_out, moment, observed
from tests.telling import handle_of

from delegtop.base.clock import FrozenClock
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.observation.observation import Observation
from delegtop.protocols.proofchecker.folder_dialect import ProofChecker
from delegtop.sources.records import Line, Unreadable

SAMPLE = Path(__file__).parents[4] / "sample_logs" / "proofchecker"
TIMES: dict[str, str] = json.loads((SAMPLE / "times.json").read_text())
AT = "2026-09-14T10:00:00Z"


NOW = moment(AT)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return lay_out("proofchecker", tmp_path) / "specs"


@pytest.fixture
def seen(specs: Path) -> Iterator[Observation]:
    with observed(specs, clock=FrozenClock(NOW)) as seen:
        seen.catch_up()
        yield seen


@pytest.fixture
def forest(seen: Observation) -> Forest:
    return seen.forest


def findings(forest: Forest, rule: str) -> dict[str, Finding]:
    return {finding.subject: finding for finding in judging.all_found(forest) if finding.rule == rule}


def conditions(forest: Forest) -> dict[str, set[str]]:
    told: dict[str, set[str]] = {}
    for finding in judging.all_found(forest):
        if finding.rule.startswith("FAM-01"):
            told.setdefault(finding.subject.partition("/")[2] or finding.subject, set()).add(finding.rule)
    return told


def test_every_file_of_the_sample_has_a_time_and_is_read(specs: Path, seen: Observation) -> None:
    files = {str(path.relative_to(specs.parent)) for path in specs.rglob("*") if path.is_file()}
    assert files == set(TIMES)
    statuses = {os.path.relpath(status.path, specs.parent): status for status in seen.statuses}
    assert statuses.keys() == files
    assert {(status.dialect, status.status) for status in statuses.values()} == {("proofchecker", "live")}
    assert not any(status.unreadable for status in statuses.values())


def test_the_five_conditions_are_told_apart(forest: Forest) -> None:
    told = conditions(forest)
    assert told["301/implement"] == {"FAM-010"}
    assert told["302/implement"] == {"FAM-011"}
    assert told["303/implement"] == {"FAM-012"}
    assert told["304/implement"] == {"FAM-013"}
    assert told["305/implement"] == {"FAM-014"}


def test_each_condition_has_its_own_remedy_and_the_command_where_there_is_one(forest: Forest) -> None:
    told = {id: next(iter(findings(forest, id).values())) for id in ("FAM-010", "FAM-011", "FAM-012", "FAM-013")}
    assert told["FAM-010"].command == "/implement 301"
    assert [told[id].command for id in ("FAM-011", "FAM-012", "FAM-013")] == [None, None, None]
    assert len({finding.advice for finding in told.values()}) == 4
    assert all(finding.evidence for finding in told.values())


def test_what_a_person_must_decide_comes_right_after_what_is_stuck_and_in_the_agents_words(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(specs), "--at", AT, "--json"]) == Exit.STUCK
    told = json.loads(capsys.readouterr().out)["findings"]
    place = next(place for place, each in enumerate(told) if each["rule"] == "FAM-001")
    assert (told[place]["severity"], told[place]["by"]) == ("error", "agent")
    assert told[place]["advice"].startswith("Two stores fit")
    before = {each["subject"].partition("/")[0][-6:-2] for each in told[:place]}
    assert before == {"a301", "b302", "c303", "d304"}


def test_the_batch_is_a_tree_with_what_each_task_waits_for(forest: Forest) -> None:
    batch = next(h for h in forest.walk() if forest.delegation(h).title == "tasks 307, 308, 309")
    children = {forest.delegation(child).task: child for child in forest.children(batch)}
    assert {task: forest.state(child) for task, child in children.items()} == {
        "307": State.WAITING,
        "308": State.IDLE,
        "309": State.IDLE,
    }
    below = {forest.delegation(each).command: forest.state(each) for each in forest.children(children["307"])}
    assert below == {"research": State.COMPLETED, "implement": State.SILENT}
    assert forest.delegation(children["308"]).doing == "not started, wave 2 of 2, waits for 307"


def test_a_paused_batch_says_how_to_resume_it(forest: Forest) -> None:
    (paused,) = [finding for finding in findings(forest, "FAM-016").values() if finding.command == "/orchestrate 300"]
    assert paused.by == "agent"
    assert paused.severity is Severity.INFO


def test_breaches_of_the_contract_are_told_with_the_file(forest: Forest) -> None:
    for rule in ("FAM-020", "FAM-021", "FAM-022", "FAM-023", "FAM-025", "FAM-030", "FAM-017", "FAM-031"):
        told = findings(forest, rule)
        assert told, rule
        assert all(finding.evidence for finding in told.values()), rule


def test_nothing_disagrees_with_itself(forest: Forest) -> None:
    assert [forest.delegation(handle).claims for handle in forest.walk() if forest.delegation(handle).claims] == []


def lines(specs: Path) -> list[list[Line]]:
    """Every file as the lines its dialect gets, files with their lines in order."""
    told = []
    for path, at in TIMES.items():
        data = (SAMPLE / path).read_bytes()
        source = str(specs.parent / path)
        parts = data.splitlines() if path.endswith(".jsonl") else [data]
        stamp = None if path.endswith(".jsonl") else moment(at)
        told.append([Line(Origin(source, n, n * 1000), part, stamp) for n, part in enumerate(parts, 1)])
    return told


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_the_files_does_not_matter(specs: Path, forest: Forest, seed: int) -> None:
    files = lines(specs)
    random.Random(seed).shuffle(files)
    dialect, other = ProofChecker(), Forest()
    for file in files:
        for line in file:
            other.apply(event for event in dialect.read(line) if not isinstance(event, Unreadable))
    other.advance(NOW)
    assert summary(other) == summary(forest)


def summary(forest: Forest) -> dict[str, object]:
    told: dict[str, object] = {}
    for handle in forest.walk():
        facts = forest.delegation(handle)
        parent = forest.parent(handle)
        told[facts.id] = (
            forest.state(handle),
            facts.agent,
            facts.command,
            facts.task,
            facts.started_at,
            facts.ended_at,
            None if parent is None else forest.delegation(parent).id,
            {(note.kind, note.text) for note in facts.notes},
        )
    return told


def test_a_watched_folder_tells_of_a_marker_that_goes_and_a_return_that_comes(specs: Path, seen: Observation) -> None:
    forest = seen.forest
    (id,) = [forest.delegation(h).id for h in forest.walk() if forest.delegation(h).id.endswith("/301/implement")]
    handle = handle_of(forest, id)
    folder = specs / "301_parse_mail_headers"
    meta = json.loads((folder / ".return-meta.json").read_text())
    (folder / ".return-meta.json").write_text(
        json.dumps({**meta, "status": "implemented", "summary": "Done. All of it."})
    )
    os.utime(folder / ".return-meta.json", ns=((NOW - 60_000) * 1_000_000,) * 2)
    (folder / ".postflight-pending").unlink()
    seen.look()
    assert forest.state(handle) is State.COMPLETED
    assert not [note for note in forest.delegation(handle).notes if note.kind == "marker"]


def test_a_half_written_state_keeps_the_last_good_one(specs: Path, seen: Observation) -> None:
    state = specs / "state.json"
    state.write_bytes(state.read_bytes()[:70])
    seen.look()
    (status,) = [each for each in seen.statuses if each.path == str(state)]
    assert status.status == "stale"
    assert seen.forest.find("task 310/research") is not None


def test_the_tree_can_be_printed(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", str(specs), "--at", AT]) == Exit.OK
    shown = capsys.readouterr().out
    assert "waits for 307" in shown
    assert "Two stores fit" in shown
