"""The models of the contracts say what is wrong in words, where, and which rule tells the same."""

import json
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.protocols.contract_model import Breach, breaches
from delegtop.protocols.contracts import contracts, model, schema
from delegtop.protocols.standard.contract.return_model import Return

GOOD: dict[str, Any] = {
    "status": "partial",
    "summary": "Built the parser. Its tests are missing.",
    "artifacts": [{"type": "implementation", "path": "src/parser.py", "summary": "The parser"}],
    "metadata": {
        "session_id": "sess_1766743200_k3x9qa",
        "duration_seconds": 12.5,
        "agent_type": "builder",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "implement", "builder"],
    },
    "errors": [
        {
            "type": "timeout",
            "message": "It ran out of time",
            "code": "TIMEOUT",
            "recoverable": True,
            "recommendation": "Run /implement 191 again",
        }
    ],
    "next_steps": "Write the tests.",
}


def test_a_return_that_keeps_to_the_standard_breaks_nothing() -> None:
    assert breaches(Return, GOOD) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": "done"}, 'status is "done", not completed, failed, partial or blocked'),
        ({"summary": " "}, "summary is empty"),
        ({"summary": "x" * 501}, "summary has 501 characters, more than 500"),
        ({"summary": "One. Two. Three. Four. Five. Six."}, "summary has 6 sentences, more than 5"),
        ({"artifacts": None}, "artifacts is null, not a list"),
        ({"artifacts": [{"path": "a.md"}]}, "artifacts[0].type is missing"),
        (
            {"artifacts": [{"type": "plan", "path": "/a.md"}]},
            'artifacts[0].path is "/a.md", which is not relative to the root of the project',
        ),
        ({"errors": []}, "errors must say why the status is partial"),
        ({"errors": ["late"]}, "errors[0] is text, not an object"),
        ({"status": "completed"}, "errors must be empty if the status is completed"),
        ({"next_steps": 3}, "next_steps is a number, not text"),
        (
            {"session_id": "sess_1766743200_other1"},
            "session_id is sess_1766743200_other1, the metadata say sess_1766743200_k3x9qa",
        ),
    ],
)
def test_each_breach_is_said_in_words_that_begin_with_its_field(change: dict[str, Any], said: str) -> None:
    assert [str(each) for each in breaches(Return, GOOD | change)] == [said]


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        ({"delegation_depth": 4}, Breach("metadata.delegation_depth", "is 4, not at most 3", "DEL-004")),
        ({"delegation_depth": 2}, Breach("metadata.delegation_depth", "is 2, but the path makes it 1", "RET-008")),
        (
            {"delegation_path": ["orchestrator", "builder", "builder"]},
            Breach("metadata.delegation_path", "comes back to builder", "DEL-007"),
        ),
        (
            {"session_id": "agent-17"},
            Breach(
                "metadata.session_id",
                'is "agent-17", which is not of the form sess_{timestamp}_{random}',
                "RET-006",
            ),
        ),
    ],
)
def test_a_breach_in_the_metadata_names_the_rule_that_tells_it_of_a_log(change: dict[str, Any], breach: Breach) -> None:
    assert breaches(Return, GOOD | {"metadata": GOOD["metadata"] | change}) == (breach,)


def test_a_session_id_beside_the_metadata_is_taken() -> None:
    metadata = {name: value for name, value in GOOD["metadata"].items() if name != "session_id"}
    assert breaches(Return, GOOD | {"metadata": metadata, "session_id": "sess_1766743200_k3x9qa"}) == ()
    assert [each.field for each in breaches(Return, GOOD | {"metadata": metadata})] == ["metadata.session_id"]


def test_what_is_no_object_is_told() -> None:
    assert [str(each) for each in breaches(Return, [GOOD])] == ["is a list, not an object"]


@pytest.mark.parametrize("name", contracts())
def test_every_field_of_a_contract_says_what_it_is(name: str) -> None:
    told = schema(name)
    kinds = [each for each in (told, *told.get("$defs", {}).values()) if "properties" in each]
    bare = [
        (kind["title"], field)
        for kind in kinds
        for field, about in kind["properties"].items()
        if "description" not in about and "const" not in about
    ]
    assert kinds
    assert bare == []


def test_a_contract_is_printed_as_json_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "return"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["properties"]["status"]["enum"] == ["completed", "failed", "partial", "blocked"]
    assert printed["properties"]["status"]["x-rules"]["value"] == "RET-002"
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(contracts())


def test_a_contract_that_is_misspelt_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "retrun"]) == 2
    assert "did you mean return?" in capsys.readouterr().err


def test_the_models_are_found_by_their_names() -> None:
    assert all(model(name).__doc__ for name in contracts())
