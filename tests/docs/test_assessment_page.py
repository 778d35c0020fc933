"""The page on the assessment tells the urgencies as they are."""

from pathlib import Path

from delegtop.diagnosis.assessment import Urgency

PAGE = Path(__file__).parents[2] / "docs" / "assessment.md"
BEGIN, END = "<!-- urgency: begin -->\n", "<!-- urgency: end -->"


def test_the_table_of_urgencies_is_that_of_the_program(update_golden: bool) -> None:
    rows = [f"| {int(each)} | {each.words} | {'yes' if each.problem else 'no'} |" for each in Urgency]
    table = "\n".join(("| urgency | what it is | a problem |", "| ---: | --- | --- |", *rows)) + "\n"
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    if update_golden:
        PAGE.write_text(f"{before}{BEGIN}{table}{END}{rest.split(END)[1]}", "utf-8")
    assert PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0] == table
