"""The page of the writing API: every example on it is run and checked by mypy, and shows what the page says."""

import json
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest
from tests.docs.test_visible_docs import Place, blocks
from tests.patience import PATIENCE

from delegtop import delegate


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "writing-api.md").read_text("utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def examples(page: str, language: str = "python") -> list[str]:
    return [text for kind, text in blocks(page) if kind == language]


def run(place: Place, code: str) -> list[str]:
    (place.folder / "example.py").write_text(code, encoding="utf-8")
    return place.run(sys.executable, "-W", "error", "example.py").splitlines()


def test_the_page_has_the_examples_this_file_runs(page: str) -> None:
    kinds = ["python", "python", "", "python", "python", "", "python", "", "python", "python", "sh", ""]
    assert [kind for kind, _ in blocks(page)] == kinds


def test_a_block_registers_and_returns(page: str, place: Place) -> None:
    assert run(place, examples(page)[0]) == ["completed True"]
    assert [event["event"] for event in place.events("run.jsonl")] == [
        "register",
        "register",
        "heartbeat",
        "return",
        "return",
    ]
    assert json.loads((place.folder / "registry.json").read_bytes()) == {}


def test_blocks_and_invocations_have_twins_for_asyncio(page: str, place: Place) -> None:
    assert run(place, examples(page)[2]) == ["completed completed", "partial"]


@pytest.mark.parametrize(("number", "shown"), [(1, 0), (3, 1), (4, 2)])
def test_an_example_prints_what_stands_below_it(page: str, place: Place, number: int, shown: int) -> None:
    assert run(place, examples(page)[number]) == examples(page, "")[shown].splitlines()


def test_the_stages_can_be_taken_one_by_one(page: str, place: Place) -> None:
    assert run(place, examples(page)[5]) == [
        "Task failed but is recoverable. Fix the two tests and run /implement 191 again.",
        "VALIDATION_FAILED",
        "CYCLE_DETECTED",
    ]
    assert json.loads((place.folder / "own.json").read_bytes()) == {}


def test_the_orchestrator_on_the_page_is_that_beside_it_and_makes_its_tree(
    page: str, place: Place, project: Path
) -> None:
    program = (project / "docs" / "orchestrator.py").read_text("utf-8")
    assert examples(page)[6] == program
    (place.folder / "orchestrator.py").write_text(program, encoding="utf-8")
    shown = place.run("sh", "-c", examples(page, "sh")[0].replace("python ", f"{sys.executable} -W error ", 1))
    tree = [line for line in shown.split("\n\n")[1].splitlines()[1:] if line]
    names = [line[: line.index(glyph)].rstrip() for line in tree for glyph in "✔◑◷✖■" if glyph in line]
    # Those that began within the same millisecond stand in any order.
    assert sorted(names) == sorted(examples(page, "")[3].splitlines())
    found = place.run("sh", "-c", "delegtop check --json session.jsonl || test $? = 1")
    assert "DEL-025" not in {each["rule"] for each in json.loads(found)["findings"]}


def test_mypy_has_no_complaint_about_any_example(page: str, tmp_path: Path, project: Path) -> None:
    visible = (project / "docs" / "make-your-orchestrator-visible.md").read_text("utf-8")
    files = []
    for number, code in enumerate([*examples(page)[:-1], *examples(visible)]):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(code, encoding="utf-8")
    line = [sys.executable, "-m", "mypy", "--strict", "--scripts-are-modules", *map(str, files)]
    told = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=project)
    assert told.returncode == 0, told.stdout


def test_everything_that_is_exported_is_there_and_says_what_it_is() -> None:
    for name in delegate.__all__:
        value = getattr(delegate, name)
        assert not isinstance(value, type | FunctionType) or value.__doc__, name
    assert dir(delegate)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = delegate.nothing  # type: ignore[attr-defined]  # that is what is asked


def test_who_only_writes_logs_loads_no_model() -> None:
    program = (
        "import sys; from delegtop.delegate import Journal, SharedRegistryFile, prepare_delegation; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"pydantic", "msgspec", "textual"} & set(told.stdout.split())
