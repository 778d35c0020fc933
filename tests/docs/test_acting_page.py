"""The page on stopping tells of every program what can be done, as its product declares it, and of every rung."""

from collections.abc import Iterator
from pathlib import Path

from delegtop.act.ladder import PATIENCE
from delegtop.act.stop_plan import Rung
from delegtop.base.product import Product
from delegtop.dialects.products import products

PAGE = Path(__file__).parents[2] / "docs" / "acting.md"
BEGIN, END = "<!-- programs -->\n", "\n<!-- end of programs -->"

TOOL = {True: "its agent goes on", False: "it does not notice: take the next rung", None: "not tried"}


def child(program: Product) -> str:
    if program.abort_path:
        return f"`POST {program.abort_path}`"
    return "`turn/interrupt`" if program.control_socket else "no outside handle"


def session(program: Product) -> str:
    asked = f"{child(program)}, else SIGINT" if program.abort_path or program.control_socket else "SIGINT"
    return f"`{' '.join(program.stop)} ID` in the background, else {asked}" if program.stop else asked


def rows() -> Iterator[str]:
    yield "| program | tool | child | session | process |"
    yield "| --- | --- | --- | --- | --- |"
    for program in products():
        if program.executables or program.scripts:
            tool = TOOL[program.hears_tool_end]
            process = "SIGTERM, not in the background" if program.stop else "SIGTERM"
            yield f"| {program.title} | {tool} | {child(program)} | {session(program)} | {process} |"


def test_the_page_tells_what_can_be_done_with_every_program(update_golden: bool) -> None:
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] or rest
    made = f"{before}{BEGIN}\n{chr(10).join(rows())}\n{END}{after}"
    if update_golden:
        PAGE.write_text(made, "utf-8")
    assert text == made or update_golden


def test_the_page_knows_every_rung_and_its_patience() -> None:
    text = PAGE.read_text("utf-8")
    assert all(f"| `{rung}` |" in text for rung in Rung)
    assert f"SIGTERM {PATIENCE:g} seconds later" in text
