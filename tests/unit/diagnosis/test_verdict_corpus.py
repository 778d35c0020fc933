"""The verdict judged on labelled cases, and the page that tells how it did."""

import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.verdicts.confusion import markdown
from tests.verdicts.corpus import HEALTHY, Case, cases, given

from delegtop.base.clock import duration
from delegtop.diagnosis.verdicts import Kind
from delegtop.diagnosis.verdicts.judge_kit import JUDGES
from delegtop.model.policy import Policy
from delegtop.protocols.rule_catalogue import CATALOGUE

CASES = list(cases())
BY_ID = {case.id: case for case in CASES}
_HARD = "hard"
_LIMITS = {
    "silent_after": "A running delegation that wrote nothing for this long is `silent`.",
    "suspect_after": "Silence for this long is worth a look.",
    "tool_suspect_after": "The same inside a shell, a tool of which little is known, or without a log of its own.",
    "lost_after": "After this long without a word, past any deadline, it is lost.",
}


@cache
def called(id: str) -> str:
    """What a case is called, judged once for all tests that ask."""
    return given(BY_ID[id])


@pytest.mark.parametrize("kind", list(Kind))
def test_there_are_four_cases_of_every_kind(kind: Kind) -> None:
    assert sum(case.expect == kind.value for case in CASES) >= 4


def test_there_are_as_many_healthy_ones() -> None:
    assert sum(case.expect == HEALTHY for case in CASES) >= 4 * len(Kind)


def test_several_formats_are_among_them() -> None:
    formats = Counter(name for case in CASES for name in case.files)
    assert all(formats[name] >= 4 for name in ("session-log", "claude-code", "codex", "registry", "sample"))


@pytest.mark.parametrize("case", [case for case in CASES if case.expect == HEALTHY], ids=lambda case: case.id)
def test_no_healthy_run_is_called_hung(case: Case) -> None:
    assert called(case.id) not in (Kind.HUNG_IN_TOOL.value, Kind.LOST.value, Kind.LOOPING.value)


@pytest.mark.parametrize("case", [case for case in CASES if case.file != _HARD], ids=lambda case: case.id)
def test_a_case_is_called_what_it_is(case: Case) -> None:
    assert called(case.id) == case.expect


def test_every_kind_has_its_judge() -> None:
    assert set(JUDGES) == set(Kind)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_is_explained_in_words_that_fit(kind: Kind) -> None:
    row = kind.row
    assert all((row.short, row.meaning, row.evidence, row.when))
    assert len(row.short) <= 20


PLAINLY_WELL = {Kind.WAITING_ON_CHILD, Kind.WORKS_QUIETLY, Kind.SLEEPS}
"""There is nothing to find in these."""


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in PLAINLY_WELL])
def test_every_kind_that_is_a_finding_has_its_rule_and_says_what_to_do(kind: Kind) -> None:
    row = kind.row
    assert row.rule in CATALOGUE
    assert all((row.must, row.why, row.frees))
    assert [other for other in Kind if other.row.rule == row.rule] == [kind]


def kinds() -> str:
    head = "| verdict | means | rests on | given | rule |\n| --- | --- | --- | --- | --- |\n"
    rows = [
        f"| {kind} | {told.meaning} | {told.evidence} | {told.when} | {told.rule or '–'} |\n"
        for kind in Kind
        for told in (kind.row,)
    ]
    return "\n" + head + "".join(rows) + "\n"


def limits() -> str:
    rows = [f"| `{name}` | {duration(getattr(Policy(), name))} | {words} |\n" for name, words in _LIMITS.items()]
    return "\n| setting | default | meaning |\n| --- | ---: | --- |\n" + "".join(rows) + "\n"


def confusion(words: list[tuple[Case, str]]) -> str:
    return "\n" + markdown(Counter((case.expect, word) for case, word in words)) + "\n"


def wrong(words: list[tuple[Case, str]]) -> str:
    rows = [
        f"| {case.name} | {case.minute:g} | {case.expect} | {word} |\n" for case, word in words if word != case.expect
    ]
    return (
        "\n| case | at minute | what it is | what it is called |\n| --- | ---: | --- | --- |\n" + "".join(rows) + "\n"
    )


def between(page: str, name: str, generated: str) -> tuple[str, str]:
    """What stands between the marks of this name, and the page with the generated text there instead."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    written, after = rest.split(end)
    return written, before + begin + generated + end + after


def test_the_page_tells_what_the_judges_do(project: Path, update_golden: bool) -> None:
    words = [(case, called(case.id)) for case in CASES]
    file = project / "docs" / "verdicts.md"
    page = file.read_text("utf-8")
    made = {"kinds": kinds(), "limits": limits(), "confusion": confusion(words), "wrong": wrong(words)}
    written: dict[str, str] = {}
    for name, text in made.items():
        written[name], page = between(page, name, text)
    if update_golden:
        file.write_text(page, "utf-8")
    assert written == made or update_golden
