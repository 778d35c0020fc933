"""The page of the protocols: every sentence that asks for something, where it is kept, and the test that shows it.

The rows stand in `tests/protocols`. `pytest tests/docs/test_protocol_page.py --update-golden` writes the page anew.
Set DELEGTOP_PROTOCOLS to a folder of the documents to have it checked that no line of theirs is left out.
"""

import ast
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.rows import CONTRADICTIONS, DOCUMENTS, ORDER, ROWS, RULE, rule_of, rules, sentence

from delegtop.protocols.rule_catalogue import CATALOGUE
from delegtop.settings import FIELDS

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "tui" / "delegtop"

NOT_FROM_A_DOCUMENT = {
    "AGT-001": "that the frontmatter can be read is asked for by everything else",
    "AGT-052": "says that only subagents follow the standard",
    "DEL-011": "about what was read, not about what was done",
    "HYP-022": "about the state files of runs, which no document describes",
    "LOG-003": "about copies of files, which no document speaks of",
    "LOG-005": "about clocks that differ, which no document speaks of",
    "OUT-132": "about the four lines that later versions of CLEO ask for",
    "OUT-133": "about the same lines",
    "OUT-150": "about the heartbeats in CLEO's database, which no document describes",
}
ASKS = re.compile(
    r"\b(?:must|should|may|required|limits?|max|maximum|minimum|at most|never|always|only|exactly|do not|don't|enum)\b"
    r"|- \[ \]|(?:<|<=|>=) ?\d|\b\d-\d\b|\b[a-z_]+(?:'? ?\| ?'?[a-z_]+){2,}",
    re.IGNORECASE,
)
"""The words by which a line of a document asks for something."""
ASKS_NOTHING = re.compile(r"^\|(?: (?:ID|Field|Token|Pattern) \|)|^  description:|^\*\*(?:Created|Version)\*\*")


@cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def defined_in(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """What a module or a class defines, by name."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


@cache
def unit_test(file: str) -> Path | None:
    """The file of that name, in whichever folder it is."""
    return next((TESTS / "unit").rglob(file), None)


def is_there(test: str) -> bool:
    file, *names = test.split("::")
    path = unit_test(file)
    if path is None:
        return False
    body = tree_of(path).body
    for name in names:
        node = defined_in(body).get(name)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            return False
        body = node.body
    return bool(names) and names[-1].startswith("test_")


def is_a_place(place: str) -> bool:
    """A rule of ours, or a module with what is named in it."""
    if RULE.fullmatch(place):
        return place in CATALOGUE
    module, _, symbol = place.partition(":")
    path = PACKAGE / module
    return path.is_file() and (not symbol or symbol in defined_in(tree_of(path).body))


@pytest.mark.parametrize("document", ORDER)
def test_every_place_a_row_names_exists(document: str) -> None:
    for row in DOCUMENTS[document]["row"]:
        assert row["where"] or row["no_input"], sentence(row)
        assert [place for place in row["where"] if not is_a_place(place)] == [], sentence(row)


@pytest.mark.parametrize("document", ORDER)
def test_every_test_a_row_names_exists_and_speaks_of_its_rules(document: str) -> None:
    for row in DOCUMENTS[document]["row"]:
        tests = row.get("tests", ())
        assert tests or row.get("breaks") or not row["where"], sentence(row)
        assert [test for test in tests if not is_there(test)] == [], sentence(row)
        files = [path for test in tests if (path := unit_test(test.split("::")[0])) is not None]
        told = "".join(map(text_of, files))
        assert row.get("breaks") or [rule for rule in rules(row) if rule not in told] == [], sentence(row)


def test_every_rule_comes_from_a_document_or_says_why_not() -> None:
    named = {place for _, row in ROWS for place in row["where"]}
    documented = {id for id, rule in CATALOGUE.items() if id[:3] in ("RET", "DEL", "AGT", "HYP", "OUT", "LOG")}
    others = {id for id in documented if "Claude Code" in CATALOGUE[id].why and id.startswith("AGT-06")}
    assert documented - named - others == set(NOT_FROM_A_DOCUMENT)


def test_every_reading_is_the_answer_to_a_contradiction() -> None:
    settings = [setting for each in CONTRADICTIONS for setting in each["settings"]]
    assert sorted(settings) == sorted(set(settings))
    of_protocol = {key.removeprefix("protocol.") for key in FIELDS if key.startswith("protocol.")}
    assert {setting for setting in settings if setting not in FIELDS} == of_protocol
    assert all(len(each["claims"]) > 1 for each in CONTRADICTIONS)


def test_the_page_is_made_of_the_rows(project: Path, update_golden: bool) -> None:
    file = project / "docs" / "protocols.md"
    page = file.read_text("utf-8")
    for name, generated in (("contradictions", contradictions()), ("rows", rows())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, rest = page.split(begin)
        page = before + begin + generated + end + rest.split(end)[1]
    if update_golden:
        file.write_text(page, "utf-8")
    assert file.read_text("utf-8") == page


# The documents themselves


def spans(lines: str) -> Iterator[int]:
    """`12, 61-71` as the numbers it means."""
    for part in lines.split(","):
        first, _, last = part.strip().partition("-")
        yield from range(int(first), int(last or first) + 1)


@pytest.fixture
def folder() -> Path:
    named = os.environ.get("DELEGTOP_PROTOCOLS")
    if not named:
        pytest.skip("DELEGTOP_PROTOCOLS is not set")
    return Path(named)


@pytest.mark.parametrize("name", ORDER)
def test_no_line_of_a_document_that_asks_for_something_is_left_out(name: str, folder: Path) -> None:
    (path,) = folder.glob(f"{DOCUMENTS[name]['document']}*")
    text = path.read_text("utf-8").splitlines()
    covered = {number for row in DOCUMENTS[name]["row"] for number in spans(row["lines"])}
    assert max(covered) <= len(text)
    asking = {number for number, line in enumerate(text, 1) if ASKS.search(line) and not ASKS_NOTHING.search(line)}
    assert [f"{number}: {text[number - 1]}" for number in sorted(asking - covered)] == []


# Making the page


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def contradictions() -> str:
    made = "| on | what they say | taken | setting |\n| --- | --- | --- | --- |\n"
    for each in CONTRADICTIONS:
        claims = "<br>".join(f"{cell(says)} ({who}, {cell(section)})" for who, section, says in each["claims"])
        keys = (key if key in FIELDS else f"protocol.{key}" for key in each["settings"])
        settings = "<br>".join(f"`{key}`" for key in keys) or "–"
        made += f"| {cell(each['on'])} | {claims} | {cell(each['taken'])} | {settings} |\n"
    return made


COLUMNS = ("document", "section", "what it asks for", "rule or behaviour", "shown by", "input that breaks it")


def rows() -> str:
    made = ""
    for document in DOCUMENTS.values():
        made += f"\n## {document['name']}\n\n| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}\n"
        for row in document["row"]:
            where = "<br>".join(place if RULE.fullmatch(place) else f"`{place}`" for place in row["where"]) or "–"
            tests = "<br>".join(f"`{test}`" for test in row.get("tests", ())) or "–"
            breaks = "<br>".join(breach_words(breach, rule_of(row, breach), row) for breach in row.get("breaks", ()))
            cells = (document["short"], cell(row["section"]), cell(row["asks"]), where, tests)
            made += f"| {' | '.join(cells)} | {breaks or no_input(row)} |\n"
    return made + "\n"


def no_input(row: dict[str, Any]) -> str:
    return f"– ({cell(row['no_input'])})" if "no_input" in row else "–"


_SHOWN = 60


def breach_words(breach: dict[str, Any], rule: str, row: dict[str, Any]) -> str:
    """A breach in short words: what is done to which input, the rule that tells it, and why it is only mentioned."""
    within = f" of `{breach['file']}`" if "file" in breach else ""
    done = [f"without {code(field)}{within}" if field else f"without{within}" for field in breach.get("drop", ())]
    done += [
        f"with {code(f'{field} = {value_words(value)}')}{within}" for field, value in breach.get("set", {}).items()
    ]
    done += [
        f"with {code(short(new))} for {code(short(old))}{within}" if new else f"without {code(short(old))}{within}"
        for old, new in breach.get("replace", {}).items()
    ]
    done += [f"with {code(short(breach['append']))} at the end{within}"] if "append" in breach else []
    done += [f"and {code(' '.join(breach['options']))}"] if "options" in breach else []
    mild = breach.get("mild", row.get("mild"))
    return f"{breach['in']} {', '.join(done)}: {rule}{f' (info: {cell(mild)})' if mild else ''}"


def code(text: str) -> str:
    return f"`{cell(text).replace('`', chr(39))}`"


def short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"


def value_words(value: object) -> str:
    return short(json.dumps(value, ensure_ascii=False))
