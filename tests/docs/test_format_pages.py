"""The page of the formats tells what the formats tell of themselves."""

from collections.abc import Callable, Iterable
from pathlib import Path, PurePath

import pytest

from delegtop.dialects import About, Basis, Unit, load, names
from delegtop.dialects.products import product, products

KINDS = {
    Unit.LINES: "lines",
    Unit.DOCUMENT: "JSON documents",
    Unit.TEXT: "text files",
    Unit.DATABASE: "SQLite database, opened read-only",
}


def about(name: str) -> About:
    found = load(name).about
    assert found is not None, f"{name}: says nothing of itself"
    return found


def formats() -> str:
    return "".join(map(section, Basis))


def section(basis: Basis) -> str:
    """The formats that are known as well as this."""
    rows = "".join(row(name) for name in names() if about(name).basis is basis)
    head = "| format | program | where | what it tells | read as |\n| --- | --- | --- | --- | --- |\n"
    return f"\n## {basis.value[0].upper()}{basis.value[1:]}\n\n{head}{rows}"


def row(name: str) -> str:
    told = about(name)
    title = f"`{name}`<br>{load(name).title}"
    cells = (title, told.program, told.where, told.tells, KINDS[load(name).unit])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def programs() -> str:
    head = (
        "| program | logs | to resume | in the background | commands accepted by |\n| --- | --- | --- | --- | --- |\n"
    )
    return f"\n{head}{''.join(program(product.name) for product in products())}"


def program(name: str) -> str:
    known = product(name)
    assert known is not None
    homes = (PurePath(home.folder, home.below).as_posix() for home in known.homes)
    commands = [" ".join((*words, "ID")) for words in (known.resume, known.attach, known.stop) if words]
    resume, others = commands[:1], commands[1:]
    cells = (
        known.title,
        code(homes),
        code(resume),
        code(others),
        known.tried or ("only documented" if resume else "–"),
    )
    return f"| {' | '.join(cells)} |\n"


def code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "–"


@pytest.mark.parametrize(("part", "told"), [("formats", formats), ("programs", programs)])
def test_the_page_says_what_formats_and_programs_say(
    project: Path, update_golden: bool, part: str, told: Callable[[], str]
) -> None:
    file = project / "docs" / "formats.md"
    begin, end = f"<!-- {part}: begin -->\n", f"\n<!-- {part}: end -->"
    before, rest = file.read_text("utf-8").split(begin)
    written, after = rest.split(end)
    if update_golden:
        file.write_text(before + begin + told() + end + after, "utf-8")
    assert written == told() or update_golden


def test_every_format_is_on_the_page_once() -> None:
    assert [formats().count(f"| `{name}`<br>") for name in names()] == [1] * len(names())


def test_what_a_format_says_of_itself_fits_into_a_table() -> None:
    for name in names():
        told = about(name)
        assert all(text and "\n" not in text for text in (told.program, told.where, told.tells)), name
