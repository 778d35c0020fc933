"""Every demand of the documents is broken by an input, and `check` or `lint` says so; the input without the breach has
nothing of it. `breaching.py` explains the notation."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.breaching import fits, judged, told_of, written
from tests.protocols.good_inputs import GOOD
from tests.protocols.rows import BREACHES, DOCUMENTS, rule_of, rules, sentence


@pytest.fixture(scope="module")
def good_rules(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rules that have something to say of a good input."""

    @cache
    def of(name: str, options: tuple[str, ...]) -> frozenset[str]:
        good = GOOD[name]
        files = {file: written(file, content) for file, content in good.files.items()}
        return frozenset(told.rule for told in judged(tmp_path_factory.mktemp("good"), good, files, options))

    return of


@pytest.mark.parametrize("name", GOOD)
def test_a_good_input_keeps_to_the_documents(name: str, good_rules: Any) -> None:
    assert good_rules(name, ()) == GOOD[name].mentions


@pytest.mark.parametrize(
    ("row", "breach"),
    [(row, breach) for _, row, breach in BREACHES],
    ids=[f"{name} {row['lines']}: {rule_of(row, breach)}" for name, row, breach in BREACHES],
)
def test_a_breach_is_told_by_its_rule_at_its_line_and_what_keeps_to_it_is_not(
    row: dict[str, Any], breach: dict[str, Any], tmp_path: Path, good_rules: Any
) -> None:
    rule = rule_of(row, breach)
    made, told = told_of(breach, tmp_path)
    found = [each for each in told if fits(breach, rule, made, each)]
    assert found, (made.file, made.lines, told)
    is_mild = "mild" in breach or "mild" in row
    assert is_mild == (found[0].severity == "info"), found[0]
    only_asked_otherwise = not breach.keys() & {"set", "drop", "replace", "append"}
    options = () if only_asked_otherwise else tuple(breach.get("options", ()))
    assert rule not in good_rules(breach["in"], options)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_row_has_an_input_that_breaks_it_or_says_why_there_is_none(document: str) -> None:
    for row in DOCUMENTS[document]["row"]:
        if DOCUMENTS[document].get("unfinished") and not row.get("breaks"):
            continue
        assert bool(row.get("breaks")) != bool(row.get("no_input")), sentence(row)
        told = {rule_of(row, breach) for breach in row.get("breaks", ())}
        assert told <= set(rules(row)), sentence(row)
        if "breaks" in row:
            assert set(rules(row)) <= told, sentence(row)
