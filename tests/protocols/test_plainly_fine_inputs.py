"""Changes of a good input that break nothing: what is fine by the documents is told by no rule."""

from pathlib import Path
from typing import Any

import pytest
from tests.protocols.breaching import told_of
from tests.protocols.good_inputs import GOOD

FINE: dict[str, dict[str, Any]] = {
    "globs are no emphasis": {"summary": "Matched src/*.py and lib/*.py against the list. All of them pass."},
    "a product is no emphasis": {"summary": "Ran 3 * 4 cases and 2*3 more of them. All of them pass."},
    "names with underscores are no emphasis": {
        "summary": "Changed my_file_name.py and other_name. Kept __init__.py as it is."
    },
    "sentences of other scripts are counted": {"summary": "解析器已建成。测试全部通过。"},
    "sentences of Hindi are counted": {"summary": "पार्सर बन गया। सभी परीक्षण सफल रहे।"},
    "the second of an id may have milliseconds": {"metadata.session_id": "sess_1770109200123_k3x9qa"},
    "a path may begin with a dot": {"artifacts[0].path": "./specs/204_parser/reports/research-001.md"},
    "a command may be named with its slash": {"metadata.delegation_path": ["orchestrator", "/research", "researcher"]},
    "no next steps": {"next_steps": None},
    "two next steps": {"next_steps": "Plan the change. Then make it."},
    "a part of a second is a duration": {"metadata.duration_seconds": 0.5},
}


@pytest.mark.parametrize("changes", FINE.values(), ids=FINE)
def test_a_return_that_is_plainly_fine_is_left_alone(changes: dict[str, Any], tmp_path: Path) -> None:
    _, told = told_of({"in": "return", "set": changes}, tmp_path)
    assert {each.rule for each in told} == GOOD["return"].mentions, told


def test_an_old_return_with_key_findings_is_a_return_and_no_entry_of_a_manifest(tmp_path: Path) -> None:
    changes = {"key_findings": ["The second is faster"], "project_number": 204}
    _, told = told_of({"in": "return", "set": changes}, tmp_path)
    assert {(each.rule, each.message) for each in told} == {
        ("LOG-002", "unknown key: return.key_findings"),
        ("LOG-002", "unknown key: return.project_number"),
    }


@pytest.mark.parametrize("path", ["/srv/x/report.md", "../report.md"])
def test_nobody_is_asked_for_the_project_of_a_path_that_cannot_lie_in_one(path: str, tmp_path: Path) -> None:
    _, told = told_of({"in": "return", "set": {"artifacts[0].path": path}}, tmp_path)
    assert "LOG-004" not in {each.rule for each in told}
