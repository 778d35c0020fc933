"""A row is aged, judged and drawn by the moment its own host is known at, and nothing else is."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC

import pytest

from delegtop.app import cell_width
from delegtop.app.pages.inspector import findings, overview
from delegtop.app.pages.inspector.page_words import PageSubject
from delegtop.app.pages.triage import problem_words
from delegtop.app.state.problem_marks import Mark
from delegtop.app.widgets import banner
from delegtop.app.widgets.sheet import Block, wrap
from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, iso
from delegtop.base.origin import Origin
from delegtop.diagnosis.alerts import Alerts
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.pressing import Pressing
from delegtop.model import measures
from delegtop.model.events import Event, Heard, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.history.critical_path import critical_path
from delegtop.model.history.extent import extent
from delegtop.model.query import parse
from delegtop.model.store.ledger import Handle
from delegtop.report import prometheus, tree_json, tree_text
from delegtop.report.bars import bar
from delegtop.report.incident.incident_gather import gather
from delegtop.report.incident.incident_timeline import IncidentJournal
from delegtop.report.table.cells import Table
from delegtop.report.table.columns import COLUMNS
from delegtop.report.table.drawing import UNICODE
from delegtop.report.walk import rows

NOW = Millis(1_766_743_200_000)
BEHIND = HOUR
"""So long ago was the last word of the other host."""
TREES = "near", "far"


class Behind(Forest):
    """A forest in which the host of one tree is known only up to a while ago."""

    def now_of(self, handle: Handle) -> Millis:
        return Millis(self.shown_at - BEHIND) if self.id(handle).startswith("far") else self.shown_at

    def judged_of(self, handle: Handle) -> Millis:
        return self.now_of(handle)


class Earlier(Forest):
    """A forest in which all is as in the others, and the moment is the other host's."""

    @property
    def shown_at(self) -> Millis:
        return Millis(super().shown_at - BEHIND)

    def now_of(self, handle: Handle) -> Millis:  # noqa: ARG002 # all are on one host
        return self.shown_at

    def judged_of(self, handle: Handle) -> Millis:
        return self.now_of(handle)


def events() -> Iterable[Event]:
    def place(line: int) -> Origin:
        return Origin("run.jsonl", line, line)

    for tree in TREES:
        begin, heard = Millis(NOW - 2 * HOUR), Millis(NOW - 90 * MINUTE)
        yield Started(f"{tree}-root", begin, place(1), command="implement", task=tree)
        yield Started(
            f"{tree}-worker",
            Millis(begin + SECOND),
            place(2),
            agent=f"{tree}-worker",
            parent=f"{tree}-root",
            product="codex",
            timeout=90 * MINUTE,
            deadline=Millis(begin + 90 * MINUTE),
        )
        yield Heard(f"{tree}-worker", heard, place(3), "lake build", tool="bash", phase=Phase.TOOL)
    yield Started("busy", Millis(NOW - 3 * HOUR), place(4), agent="busy")
    for line in range(37):  # somebody is always heard of, so the machine did not sleep
        yield Heard("busy", Millis(NOW - 3 * HOUR + line * 5 * MINUTE), place(5 + line))


def grown(forest: Forest) -> Forest:
    forest.apply(events())
    forest.advance(NOW)
    return forest


def told(blocks: Iterable[Block]) -> str:
    return "\n".join(line.plain for block in blocks for line in wrap(block, 200))


def subject(forest: Forest, handle: Handle) -> PageSubject:
    return PageSubject(judged(forest), handle, UTC)


def judged(forest: Forest) -> Assessments:
    assessments = Assessments(forest)
    assessments.update()
    return assessments


def table_row(forest: Forest, handle: Handle) -> object:
    assessments = judged(forest)
    table = Table(assessments, Pressing(assessments), UNICODE, cell_width)
    (row,) = (row for row in rows(forest, None, forest.birth) if row.handle == handle)
    return {
        column.name: "".join(span.text for span in column.cell(table, row, 12))
        for column in COLUMNS.values()
        if column.ticks
    }


def json_row(forest: Forest, handle: Handle) -> object:
    document = json.loads("".join(tree_json.tree(forest, ())))
    row = next(row for row in document["delegations"] if row["id"] == forest.id(handle))
    del row["rank"]  # its place among all of them
    return row


def printed(forest: Forest, handle: Handle) -> object:
    lines = [line for line in tree_text.tree(forest, ()) if forest.delegation(handle).name in line]
    assert lines
    return lines


def samples(forest: Forest, handle: Handle) -> object:
    found = [line for line in prometheus.lines(forest, ()) if f'agent="{forest.delegation(handle).name}"' in line]
    assert found
    return found


def triage_line(forest: Forest, handle: Handle) -> object:
    page = subject(forest, handle)
    return problem_words.row(page.assessment, page, None, 200, settled=False, place="").plain


def triage_page(forest: Forest, handle: Handle) -> object:
    page = subject(forest, handle)
    return told(problem_words.page(page.assessment, page, None, problem_words.Known()))


def banner_line(forest: Forest, handle: Handle) -> object:
    assessments = judged(forest)
    table = Table(assessments, Pressing(assessments), UNICODE, cell_width)
    return banner.line(table, assessments.of(handle), 1, 0, "enter", 200).plain


def alerted(forest: Forest, handle: Handle) -> object:
    (alert,) = Alerts(forest, judged(forest)).look((), [handle])
    return alert.message


def path_of_its_tree(forest: Forest, handle: Handle) -> object:
    root = forest.parent(handle)
    assert root is not None
    return critical_path(forest, root)


def reported(forest: Forest, handle: Handle) -> object:
    journal = IncidentJournal()
    journal.remember([Heard(forest.id(handle), Millis(NOW - 30 * MINUTE), Origin("run.jsonl", 99, 99), "late word")])
    incident = gather(forest, (), journal, lambda _: None, only=handle)
    own = [trouble for trouble in incident.troubles if trouble.id == forest.id(handle)]
    return own, [event for event in incident.timeline if event.what in ("deadline", "heard")]


VIEWS: dict[str, Callable[[Forest, Handle], object]] = {
    "row of the table": table_row,
    "inspector, overview": lambda forest, handle: told(overview.page(subject(forest, handle))),
    "inspector, findings": lambda forest, handle: told(
        findings.page(subject(forest, handle), findings.found(subject(forest, handle), {}))
    ),
    "line in triage": triage_line,
    "page in triage": triage_page,
    "banner": banner_line,
    "printed tree": printed,
    "tree as JSON": json_row,
    "metrics": samples,
    "incident": reported,
    "findings": lambda forest, handle: diagnose(Case(forest, handle)),
    "sentence": lambda forest, handle: judged(forest).sentence(handle),
    "bar": lambda forest, handle: bar(forest, handle, forest.delegation(handle)),
    "extent": extent,
    "critical path": path_of_its_tree,
    "alert": alerted,
    "measures": lambda forest, handle: [each(forest, handle) for each in (measures.age, measures.quiet, measures.left)],
    "filter": lambda forest, handle: parse("quiet>1h").matches(forest, handle),
}


@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_a_tree_follow_the_moment_of_their_own_host(view: str) -> None:
    here, there, mixed = grown(Forest()), grown(Earlier()), grown(Behind())
    for tree in TREES:
        handle = mixed.find(f"{tree}-worker")
        assert handle is not None
        at_now, behind = VIEWS[view](here, handle), VIEWS[view](there, handle)
        assert at_now != behind
        assert VIEWS[view](mixed, handle) == (behind if tree == "far" else at_now)


def test_what_is_about_all_of_them_keeps_the_moment_of_the_screen() -> None:
    here, mixed = grown(Forest()), grown(Behind())
    assert next(iter(tree_text.tree(mixed, ()))) == next(iter(tree_text.tree(here, ())))
    assert json.loads("".join(tree_json.tree(mixed, ())))["at"] == iso(NOW)
    moment = f"delegtop_observed_timestamp_seconds {NOW // SECOND}"
    assert moment in [line.partition(".")[0] for line in prometheus.lines(mixed, ())]
    assert gather(mixed, (), IncidentJournal(), lambda _: None).at == iso(NOW)


def test_what_the_operator_noted_of_a_row_is_told_by_the_operators_clock() -> None:
    forest = grown(Behind())
    handle = forest.find("far-worker")
    assert handle is not None
    page = subject(forest, handle)
    mark = Mark("far-worker", "", Millis(NOW - 5 * MINUTE), acknowledged=True)
    assert "acknowledged 5:00 ago" in told(problem_words.page(page.assessment, page, mark, problem_words.Known()))


def test_an_assessment_turns_when_the_time_of_its_host_has_come() -> None:
    forest = grown(Behind())
    near, far = forest.find("near-worker"), forest.find("far-worker")
    assert near is not None
    assert far is not None
    assessments = judged(forest)
    assert (assessments.of(near).kind, assessments.of(far).kind) == ("hung in a tool", "overdue")
    forest.advance(Millis(NOW + 30 * MINUTE))
    assessments.update()
    assert assessments.of(far).kind == "overdue"
    forest.advance(Millis(NOW + 30 * MINUTE + SECOND))
    assert far in assessments.update()
    assert assessments.of(far).kind == "hung in a tool"
