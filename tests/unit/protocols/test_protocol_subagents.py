"""The examples in the documents of CLEO and hyper are judged as the documents would, if they are at hand.

Set DELEGTOP_PROTOCOLS to a folder of protocol documents; the rules' own tests have examples of ours for all of it.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests import judging

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect
from delegtop.model.forest import Forest
from delegtop.protocols.cleo import manifest_contract, output_file, response_contract
from delegtop.protocols.cleo.manifest import CleoManifest
from delegtop.protocols.cleo.response import CleoResponse
from delegtop.protocols.hyper import output_contract
from delegtop.protocols.hyper.final_message import HyperOutput
from delegtop.sources.records import Line, Unreadable

FOLDER = os.environ.get("DELEGTOP_PROTOCOLS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DELEGTOP_PROTOCOLS is not set")
NOW = Millis(1_770_109_200_000)
FILLED = {
    "DATE": "2026-02-03",
    "TOPIC_SLUG": "cache-layers",
    "TITLE": "Caches",
    "EPIC_ID": "T1",
    "TASK_ID": "T2",
    "NEXT_TASK_IDS": "T3",
}


def document(mark: str) -> str:
    (found,) = [text for path in sorted(Path(FOLDER).iterdir()) if mark in (text := path.read_text("utf-8"))]
    return found


def rules_broken(dialect: Dialect, text: str) -> set[str]:
    forest = Forest()
    read = dialect.read(Line(Origin("example", 1, 0), text.encode()))
    forest.apply([event for event in read if not isinstance(event, Unreadable)])
    forest.advance(NOW)
    assert len(forest)
    how_it_ended = "END-001"  # which breaks nothing
    return {finding.rule for finding in judging.all_found(forest)} - {how_it_ended}


def hyper_examples() -> list[dict[str, Any]]:
    found = []
    for block in re.findall(r"```json\n(.*?)```", document("AGENT_OUTPUT_START"), re.DOTALL):
        try:
            found.append(json.loads(block))
        except ValueError:
            continue  # a template
    return found


def test_every_answer_in_hypers_contract_keeps_its_rules() -> None:
    examples = hyper_examples()
    assert len(examples) == 4
    for value in examples:
        answer = f"<!-- AGENT_OUTPUT_START -->\n```json\n{json.dumps(value)}\n```\n<!-- AGENT_OUTPUT_END -->"
        broken = rules_broken(HyperOutput(), answer)
        complete = value["meta"]["status"] == "complete"
        assert broken == (set() if complete else {"HYP-014"})  # the way on, in the agent's own words


def test_the_words_and_limits_of_hypers_contract_are_ours() -> None:
    text = document("AGENT_OUTPUT_START")
    assert "|".join(output_contract.STATUSES) in text
    assert "|".join(output_contract.ARTIFACT_TYPES) in text
    assert "{}-{} key findings".format(*output_contract.KEY_POINTS) in text
    assert "{}-{} sentences max".format(*output_contract.SUMMARY_SENTENCES) in text


def test_the_entry_in_cleos_protocol_keeps_its_rules() -> None:
    (line,) = [row for row in document("OUT-001").splitlines() if row.startswith('{"id"')]
    for name, value in FILLED.items():
        line = line.replace(f"{{{{{name}}}}}", value)
    assert rules_broken(CleoManifest(), line) == {"OUT-131"}  # it names a task to follow
    assert tuple(json.loads(line)) == manifest_contract.FIELDS


def test_the_messages_in_cleos_protocol_keep_its_rules() -> None:
    text = document("OUT-001")
    messages = set(re.findall(r'[Rr]eturn[^"\n]*"(Research [^"]+)"', text))
    assert messages == set(response_contract.MESSAGES.values())
    assert not [message for message in messages if rules_broken(CleoResponse(), message)]


def test_the_words_and_limits_of_cleos_protocol_are_ours() -> None:
    text = document("OUT-001")
    assert ", ".join(f"`{word}`" for word in manifest_contract.STATUSES) in text
    assert "{}-{} items maximum".format(*manifest_contract.KEY_FINDINGS) in text
    assert re.findall(r"^## (Summary|Findings|Recommendations|Sources|Linked Tasks)$", text, re.MULTILINE) == list(
        output_file.SECTIONS
    )
