"""The page on the assessment tells the urgencies as they are, and what is typed about sessions of each program."""

from pathlib import Path

import pytest
from tests.telling import at, forest_at, handle_of, heard, place, started

from delegtop.base.origin import kernel
from delegtop.base.product import Product
from delegtop.diagnosis import recovery
from delegtop.diagnosis.assessment import Urgency
from delegtop.diagnosis.case import Case
from delegtop.dialects.products import products
from delegtop.model.events import LOCALHOST, Described, Ended, Ending, Event, Outcome, Phase
from delegtop.model.session_manner import JOB, KERNEL, LISTENS, MANNER, SEEN, Manner

PAGE = Path(__file__).parents[2] / "docs" / "assessment.md"
GONE = Ended("ID", at(50), kernel(4711), Outcome.LOST, Ending.GONE)


def urgencies() -> str:
    rows = [f"| {int(each)} | {each.words} | {'yes' if each.problem else 'no'} |" for each in Urgency]
    return "\n".join(("| urgency | what it is | a problem |", "| ---: | --- | --- |", *rows)) + "\n"


def sessions() -> str:
    """What is typed about a session that waits for the model, by all ways in which it may run."""
    head = "| program | keys in its terminal | in the background, in a server | once it is gone | help of |\n"
    rows = "".join(_row(each) for each in products() if each.is_session and each.resume)
    return f"{head}| --- | --- | --- | --- | --- |\n{rows}"


def _row(program: Product) -> str:
    reached = [*_typed(program, Manner.BACKGROUND), *_typed(program, Manner.SERVER)]
    cells = (
        program.title,
        _keys(program),
        _code(reached),
        _code(_typed(program, Manner.HEADLESS, GONE)),
        program.tried or "only documented",
    )
    return f"| {' | '.join(cells)} |\n"


def _keys(program: Product) -> str:
    turn = f"{program.interrupt_key}: its turn" if program.interrupt_key else "–"
    return f"{turn}<br>{program.stop_child_keys}: one agent" if program.stop_child_keys else turn


def _typed(program: Product, runs_as: Manner, *more: Event) -> list[str]:
    child = "ses_CHILD" if program.take_up_child and not more else "ID"
    refs = ((SEEN, KERNEL), (MANNER, runs_as.value), (JOB, "ID"), (LISTENS, "127.0.0.1:4096"))
    events: list[Event] = [
        started("ID", 0, product=program.name, depth=0, pid=4711, host=LOCALHOST, refs=refs),
        Described("ID", at(0), place(), cwd="/work"),
        heard("ID", 1, phase=Phase.CHILD if child != "ID" else Phase.MODEL),
        *([started(child, 1, parent="ID", product=program.name)] if child != "ID" else []),
        heard(child, 2, phase=Phase.MODEL),
    ]
    forest = forest_at(at(60), [*events, *more])
    has_commands = program.attach if runs_as is Manner.BACKGROUND else program.attach_server
    if not more and not has_commands:
        return []
    return [step.command for step in recovery.todo(Case(forest, handle_of(forest, child)), ()) if step.command]


def _code(words: list[str]) -> str:
    return "<br>".join(f"`{word}`" for word in words) or "–"


@pytest.mark.parametrize("part", ["urgency", "sessions"])
def test_its_tables_are_those_of_the_program(part: str, update_golden: bool) -> None:
    table = {"urgency": urgencies, "sessions": sessions}[part]()
    begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
    before, rest = PAGE.read_text("utf-8").split(begin)
    if update_golden:
        PAGE.write_text(f"{before}{begin}{table}{end}{rest.split(end)[1]}", "utf-8")
    assert PAGE.read_text("utf-8").split(begin)[1].split(end)[0] == table
