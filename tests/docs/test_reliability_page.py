"""The page on reliability: every fault has one row, and every test that it names is there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"
ROW = re.compile(
    r"^\| (\d+) \| [^|]+ \| (?:tail|feed|command|dashboard)[a-z, ]* \| `([^`:]+)(?:::(\w+))?`[^|]*\|$", re.MULTILINE
)
FAULTS = 35


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text("utf-8"))


def test_every_fault_has_one_row() -> None:
    assert [int(number) for number, *_ in rows()] == list(range(1, FAULTS + 1))


@pytest.mark.parametrize(("file", "test"), [row[1:] for row in rows()], ids=[row[0] for row in rows()])
def test_the_test_of_a_row_is_there(file: str, test: str) -> None:
    assert re.search(rf"^\s*def {test}\(" if test else r"\S", (TESTS / file).read_text("utf-8"), re.MULTILINE)


def test_every_command_that_tries_harder_is_there() -> None:
    named = re.findall(r"python -m (tests\.[\w.]+)", PAGE.read_text("utf-8"))
    assert len({*named}) >= 4
    assert all((TESTS.parent / name.replace(".", "/")).with_suffix(".py").exists() for name in named)
