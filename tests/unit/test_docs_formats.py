"""The page of the formats tells what the formats tell of themselves."""

from pathlib import Path

from delegtop.dialects import About, Basis, Unit, load, names

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


def test_the_page_has_every_format_by_how_sure_it_is(project: Path, update_golden: bool) -> None:
    file = project / "docs" / "formats.md"
    begin, end = "<!-- formats: begin -->\n", "\n<!-- formats: end -->"
    before, rest = file.read_text("utf-8").split(begin)
    written, after = rest.split(end)
    if update_golden:
        file.write_text(before + begin + formats() + end + after, "utf-8")
    assert written == formats() or update_golden


def test_every_format_is_on_the_page_once() -> None:
    assert [formats().count(f"| `{name}`<br>") for name in names()] == [1] * len(names())


def test_what_a_format_says_of_itself_fits_into_a_table() -> None:
    for name in names():
        told = about(name)
        assert all(text and "\n" not in text for text in (told.program, told.where, told.tells)), name
