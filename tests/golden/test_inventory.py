"""What is the matter in every sample at its moment: one table, and every place says the same as it.

`pytest --update-golden` writes it anew: each change of it is a decision to be read in the diff.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import MOMENTS, forest_of, lay_out, moment

from delegtop.app.screens.triage import open_on
from delegtop.app.state.board import Board
from delegtop.base.clock import FrozenClock
from delegtop.cli import main
from delegtop.cli.wait import code, has_ended
from delegtop.cli.watch import met
from delegtop.diagnosis.alerts import cause
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.forest import Forest
from delegtop.model.measures import label
from delegtop.model.states import State
from delegtop.report.incident.incident_gather import gather
from delegtop.report.incident.incident_timeline import IncidentJournal
from delegtop.report.prometheus import lines
from delegtop.settings import Settings

GOLDEN = Path(__file__).parent / "inventory.txt"
HEADER = ("delegation", "state", "rank", "urgency", "what is the matter", "told as")
WIDTHS = (40, 12, 5, 9, 40, 13)


@pytest.fixture(params=MOMENTS)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return str(request.param), lay_out(str(request.param), tmp_path)


def answers(forest: Forest) -> Assessments:
    found = Assessments(forest)
    found.update()
    return found


def table(forest: Forest) -> Iterator[str]:
    found = answers(forest)
    ranks = {handle: rank for rank, handle in enumerate(found.ranked(), 1)}
    rows = [HEADER]
    for handle in forest.walk():
        each = found.of(handle)
        if not each.problem:
            continue
        name = "  " * forest.level(handle) + label(forest.delegation(handle))
        holds = f" <{len(each.blocks)}" if each.blocks else ""
        what = f"{each.kind} ({each.certainty}){holds}"
        rows.append((name, each.state.value, str(ranks[handle]), str(int(each.urgency)), what, cause(each).value))
    for row in rows:
        yield "  ".join(cell[:width].ljust(width) for cell, width in zip(row, WIDTHS, strict=True)).rstrip()


def test_what_is_the_matter_in_every_sample(
    tmp_path: Path, update_golden: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    for name, at in MOMENTS.items():
        source = lay_out(name, tmp_path)
        exit_code = main(["tree", str(source), "--at", at, "--exit-code"])
        capsys.readouterr()
        told += [f"== {name} at {at}: exit {exit_code}", *table(forest_of(source, moment(at))), ""]
    said = "\n".join(told)
    if update_golden:
        GOLDEN.write_text(said, "utf-8")
    assert said == GOLDEN.read_text("utf-8"), "pytest --update-golden shows the difference in git"


def test_every_exit_code_is_the_same_answer(sample: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    name, source = sample
    at = MOMENTS[name]
    forest = forest_of(source, moment(at))
    found = answers(forest)
    expected = max((found.of(handle).exit for handle in range(len(forest))), default=0)
    assert main(["tree", str(source), "--at", at, "--exit-code"]) == expected
    assert (met(found, "problem") or 0) == expected
    checked = main(["check", str(source), "--at", at])
    assert (checked == 3) == (expected == 3)
    assert checked >= expected, "a finding may be more than the outcome, never less"
    for handle in range(len(forest)):
        if has_ended(forest, handle) and forest.state(handle) is not State.UNKNOWN:
            assert code(found, handle) == found.of(handle).exit
    assert main(["status", str(source), "--at", at, "--exit-code"]) == expected
    capsys.readouterr()


def test_every_screen_and_report_tells_of_the_same_problems(
    sample: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    name, source = sample
    at = moment(MOMENTS[name])
    forest = forest_of(source, at)
    expected = [each.handle for each in answers(forest).problems()]

    board = Board(Settings(), FrozenClock(at))
    board.forest.become(forest_of(source, at))
    board.outline.replant(board.forest.parents(), ())
    board.loaded()
    board.show_earlier(True)
    assert board.problems() == expected, "Triage"
    visited, cursor = [], None
    for _ in expected:
        cursor = board.problem(cursor, 1)
        visited.append(cursor)
    assert visited == expected, "the key e"
    assert all(open_on(board, handle) == handle for handle in expected)
    assert [handle for handle in expected if board.table.problem(handle) is None] == [], "the column"

    incident = gather(forest, (), IncidentJournal(), lambda _: None)
    in_report = [each.id for each in incident.troubles if each.urgency != 5 and each.kind][: len(expected)]
    assert in_report == [forest.id(handle) for handle in expected], "the report"

    counted = sum(int(line.rsplit(" ", 1)[1]) for line in lines(forest, ()) if line.startswith("delegtop_problems{"))
    assert counted == len(expected), "the metrics"

    main(["tree", str(source), "--at", MOMENTS[name], "--json"])
    nodes = json.loads(capsys.readouterr().out)["delegations"]
    ranked = sorted((node for node in nodes if node["assessment"]["problem"]), key=lambda node: node["rank"])
    assert [node["id"] for node in ranked] == [forest.id(handle) for handle in expected], "tree --json"

    main(["status", str(source), "--at", MOMENTS[name], "--json"])
    status, now = json.loads(capsys.readouterr().out), answers(forest).now()
    assert status["problems"] == len(now), "the status line"
    assert (status["first"] or {}).get("id") == (forest.id(now[0].handle) if now else None), "the status line"
    told_by_state = {state.value: count for state, count in forest.counts.items() if count}
    assert status["states"].items() == {state: told_by_state[state] for state in status["states"]}.items()
    assert told_by_state.keys() - status["states"].keys() <= {"completed", "unknown"}

    main(["check", str(source), "--at", MOMENTS[name], "--json"])
    checked = {each["subject"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert {forest.id(handle) for handle in expected} <= checked, "check names every problem"
