"""Chapters of rules that say when they may find something: nothing is missed that all rules would find."""

from pathlib import Path

import pytest

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.rules import chapters_on, rules_on
from delegtop.observation import observation
from delegtop.observation.source_discovery import places
from delegtop.settings import Settings

SAMPLES = Path(__file__).parents[3] / "sample_logs"
NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
PRODUCTS = (None, "claude-code", "codex", "opencode", "cleo", "hyper", "proofchecker")


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_rule_is_in_one_chapter(product: str | None) -> None:
    ids = [rule.id for _, rules in chapters_on(product) for rule in rules]
    assert sorted(ids) == list(rules_on(product))


@pytest.mark.parametrize("name", NAMES)
def test_of_every_sample_the_same_is_found_as_by_all_rules(name: str) -> None:
    settings = Settings()
    with observation.opened(places([str(SAMPLES / name)], settings).as_is(), settings) as seen:
        seen.read()
        for handle in seen.forest.walk():
            every = rules_on(seen.forest.delegation(handle).product).values()
            by_all, by_chapter = Case(seen.forest, handle), Case(seen.forest, handle)
            assert diagnose(by_chapter) == diagnose(by_all, every)
            assert by_chapter.turns == by_all.turns


def test_the_samples_break_rules_of_the_chapters_that_are_left_out_otherwise() -> None:
    found: set[str] = set()
    settings = Settings()
    with observation.opened(places([str(SAMPLES / name) for name in NAMES], settings).as_is(), settings) as seen:
        seen.read()
        for handle in seen.forest.walk():
            found.update(finding.rule[:3] for finding in diagnose(Case(seen.forest, handle)))
    assert {"HYP", "OUT"} <= found
