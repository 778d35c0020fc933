"""The example of a chat in the documentation is the one that is tested here, and works."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.dialects.kit.conversation import Chat
from delegtop.model.events import Outcome, Phase
from delegtop.model.forest import Forest
from delegtop.sources.records import Line, Unreadable

T = 1_770_109_200
ROOT: list[dict[str, Any]] = [
    {"parley": 1, "session": "a"},
    {"type": "prompt", "text": "Mend the mill"},
    {"type": "call", "call": "1", "tool": "delegate", "input": {"prompt": "Look at the wheel"}},
    {"type": "answer", "message": "m", "tokens": 30, "text": "I have somebody look."},
]
CHILD: list[dict[str, Any]] = [
    {"parley": 1, "session": "b", "called_by": "a", "role": "scout"},
    {"type": "prompt", "text": "Look at the wheel"},
    {"type": "answer", "message": "m", "tokens": 10, "text": "It is broken."},
    {"type": "end", "status": "completed", "text": "It is broken."},
]


@pytest.fixture
def parley(project: Path) -> type[Chat]:
    spec = importlib.util.spec_from_file_location("parley", project / "tests/example_dialect/delegtop_parley.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: type[Chat] = module.Parley
    return found


def lines(path: str, records: list[dict[str, Any]]) -> list[Line]:
    stamped = [json.dumps({"timestamp": T + number, **record}).encode() for number, record in enumerate(records)]
    return [Line(Origin(path, number + 1, 100 * number), data) for number, data in enumerate(stamped)]


def test_the_chat_of_the_page_is_the_one_that_is_tested(project: Path) -> None:
    source = (project / "tests" / "example_dialect" / "delegtop_parley.py").read_text()
    assert f"```python\n{source}```" in (project / "docs" / "add-a-format.md").read_text()


def test_the_chat_is_known_by_its_first_line(parley: type[Chat]) -> None:
    assert parley.sniff(Sample("x", json.dumps(ROOT[0]).encode() + b"\n", False)) == 90
    assert parley.sniff(Sample("x", b'{"session": "a"}\n', False)) == 0


def test_the_chat_tells_tree_status_tool_and_tokens(parley: type[Chat]) -> None:
    forest = Forest()
    for path, records in (("a.jsonl", ROOT), ("b.jsonl", CHILD)):
        dialect = parley()
        for line in lines(path, records):
            forest.apply(event for event in dialect.read(line) if not isinstance(event, Unreadable))
    forest.advance(Millis((T + 9) * 1000))
    root, child = (forest.delegation(handle) for handle in forest.walk())
    assert (root.agent, root.title, root.phase, root.tool) == ("parley", "Mend the mill", Phase.CHILD, "delegate")
    assert (root.doing, root.tokens) == ("Look at the wheel", 30)
    assert (child.parent, child.agent, child.outcome, child.tokens) == ("a", "scout", Outcome.COMPLETED, 10)
    assert child.report.summary == "It is broken."
