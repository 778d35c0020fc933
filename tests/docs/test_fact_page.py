"""The page of `tree --json` lists every fact as the table of facts declares it.

`pytest tests/docs/test_fact_page.py --update-golden` writes it anew.
"""

from pathlib import Path

from delegtop.model.delegation import FACTS
from delegtop.model.query import KEYS
from delegtop.report.tree_json import NODE

BEGIN, END = "<!-- facts: begin -->\n", "<!-- facts: end -->"


def table() -> str:
    keys = {key.example: f"`{key.name}`" for key in KEYS}
    rows = ["| field | filter | what it is |", "| --- | --- | --- |"]
    for fact in FACTS.values():
        if fact.form != "none":
            rows.append(f"| `{fact.json}` | {keys.get(fact.filter, '')} | {fact.description} |")
    return "\n".join(rows) + "\n"


def test_the_page_tells_of_every_fact_what_the_table_does(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "tree-json.md"
    before, rest = page.read_text("utf-8").split(BEGIN)
    written, after = rest.split(END)
    if update_golden:
        page.write_text(before + BEGIN + table() + END + after, "utf-8")
        written = table()
    assert written == table()


def test_the_page_tells_of_every_field_of_a_delegation(project: Path) -> None:
    page = (project / "docs" / "tree-json.md").read_text("utf-8")
    rows = "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [field.name for field in NODE if f"`{field.name}`" not in rows.replace("[]`", "`")] == []
