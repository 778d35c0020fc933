"""Whatever the model of the frontmatter refuses, `lint` tells by the rule that the model names, at the line of the
field."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.protocols.breaching import above, judged
from tests.protocols.good_inputs import AGENT_FILE, GOOD
from tests.protocols.model_breaches import Mutation, fields, mutations

from delegtop.protocols.contract_model import Breach, breaches
from delegtop.protocols.standard.contract.agent_file_model import AgentFrontmatter

GOOD_FILE = GOOD["agent file"]
_, HEAD, BODY = AGENT_FILE.read_text("utf-8").split("---\n", 2)
VALUE: dict[str, Any] = yaml.safe_load(HEAD)
CASES = list(mutations(AgentFrontmatter, VALUE))


def headed(value: dict[str, Any]) -> str:
    """The frontmatter of a file."""
    return yaml.safe_dump(value, sort_keys=False, width=1000)


def lines_of(head: str) -> dict[str, int]:
    """The line that each field stands on, below the dashes."""
    found = {"": 1}
    root = yaml.compose(head)
    if root is not None:
        walk(root, "", found)
    return found


def walk(node: yaml.Node, field: str, found: dict[str, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{field}.{key.value}" if field else str(key.value)
            found[name] = key.start_mark.line + 2
            walk(value, name, found)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            found[f"{field}[{index}]"] = value.start_mark.line + 2
            walk(value, f"{field}[{index}]", found)


def rules_and_lines(folder: Path, value: dict[str, Any]) -> set[tuple[str, int]]:
    files = {next(iter(GOOD_FILE.files)): f"---\n{headed(value)}---\n{BODY}"}
    return {(told.rule, line) for told in judged(folder, GOOD_FILE, files) for _, line in told.places}


def test_the_good_frontmatter_is_taken(tmp_path: Path) -> None:
    assert breaches(AgentFrontmatter, VALUE) == ()
    assert rules_and_lines(tmp_path, VALUE) == set()


def test_every_field_of_the_frontmatter_is_broken() -> None:
    refused = {each.field for each in CASES if breaches(AgentFrontmatter, each.on(VALUE))}
    assert {each.field for each in CASES} == refused
    assert set(fields(AgentFrontmatter)) <= {each.field.replace("[0]", "") for each in CASES}


@pytest.mark.parametrize("field", VALUE)
def test_what_the_model_of_the_frontmatter_refuses_is_told_by_its_rule_at_its_line(field: str, tmp_path: Path) -> None:
    missed = {
        str(mutation): list(untold(mutation, tmp_path))
        for mutation in CASES
        if mutation.field.partition(".")[0].partition("[")[0] == field
    }
    assert {name: told for name, told in missed.items() if told} == {}


def untold(mutation: Mutation, folder: Path) -> Iterator[Breach]:
    made = mutation.on(VALUE)
    told, lines = rules_and_lines(folder, made), lines_of(headed(made))
    for breach in breaches(AgentFrontmatter, made):
        field = breach.field
        if field not in lines:  # one mapping is taken as a list of one
            field = field.replace("[0].", ".")
        while field not in lines:
            field = above(field)
        if (breach.rule, lines[field]) not in told:
            yield breach
