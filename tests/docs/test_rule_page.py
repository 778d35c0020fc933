"""The page of the rules, the command that lists them and the table they come from tell the same."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rule_table import RULES
from delegtop.protocols.rule_catalogue import CATALOGUE, CHAPTERS, chapter
from delegtop.protocols.standard.agent_files.agent_file_rule import AgentRule
from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES
from delegtop.protocols.standard.contract.return_contract import ERROR_CODES

NAME_WIDTH = 20
"""The column of the dashboard that a name fits into."""


def rules() -> str:
    return "".join(map(section, CHAPTERS))


def section(prefix: str) -> str:
    rows = "".join(
        f"| {rule.id} | {rule.name} | {rule.severity} | {cell(rule.title)} | {cell(rule.why)} |\n"
        for rule in chapter(prefix)
    )
    head = "| rule | name | severity | what must hold | why |\n| --- | --- | --- | --- | --- |\n"
    return f"\n## {CHAPTERS[prefix]}\n\n{head}{rows}"


def codes() -> str:
    rows = "".join(f"| `{code}` | {known.meaning} | {known.recovery} |\n" for code, known in ERROR_CODES.items())
    return f"\n| code | means that | to recover |\n| --- | --- | --- |\n{rows}"


def cell(text: str) -> str:
    """Text in a table: tags and bars are shown, not obeyed."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def between(page: str, name: str, generated: str) -> tuple[str, str]:
    """What stands between the marks of this name, and the page with the generated text there instead."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    written, after = rest.split(end)
    return written, before + begin + generated + end + after


def test_the_page_has_every_rule_and_code(project: Path, update_golden: bool) -> None:
    file = project / "docs" / "rules.md"
    page = file.read_text("utf-8")
    written_rules, page = between(page, "rules", rules())
    written_codes, page = between(page, "codes", codes())
    if update_golden:
        file.write_text(page, "utf-8")
    assert (written_rules, written_codes) == (rules(), codes()) or update_golden


def test_every_rule_is_in_a_chapter() -> None:
    assert {rule.id for prefix in CHAPTERS for rule in chapter(prefix)} == set(CATALOGUE)


def test_every_rule_has_a_title_and_an_explanation_in_sentences() -> None:
    for rule in CATALOGUE.values():
        assert rule.title, rule.id
        assert not rule.title.endswith("."), rule.id
        assert rule.why.endswith("."), rule.id


def test_every_rule_has_a_short_name_in_small_words() -> None:
    for rule in CATALOGUE.values():
        assert 1 <= len(rule.name) <= NAME_WIDTH, rule.id
        assert rule.name == " ".join(rule.name.lower().split()), rule.id


def test_no_name_repeats_how_its_id_begins() -> None:
    for rule in CATALOGUE.values():
        prefix = rule.id.partition("-")[0].lower()
        assert prefix not in re.findall(r"\w+", rule.name), rule.id


@pytest.mark.parametrize("table", [RULES, AGENT_RULES], ids=["delegations", "agent files"])
def test_no_two_rules_of_a_table_share_a_name(table: Mapping[str, Rule | AgentRule]) -> None:
    shared = [name for name, count in Counter(rule.name for rule in table.values()).items() if count > 1]
    assert not shared


def test_the_command_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(CATALOGUE)
    for line in lines:
        rule = CATALOGUE[line.split()[0]]
        assert line.split(maxsplit=2)[2] == f"{rule.name:<{NAME_WIDTH}}  {rule.title}"


def test_the_command_explains_one_rule_however_it_is_spelt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "ret-011"]) == 0
    out = capsys.readouterr().out
    rule = CATALOGUE["RET-011"]
    assert out.startswith(f"RET-011  warning  summary too long\nWhat must hold: {rule.title}.\n")
    assert rule.why in " ".join(out.split())


def test_the_command_tells_scripts_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert {rule["id"]: rule["why"] for rule in told["rules"]} == {id: rule.why for id, rule in CATALOGUE.items()}
    assert {rule["id"]: rule["name"] for rule in told["rules"]} == {id: rule.name for id, rule in CATALOGUE.items()}
    assert main(["rules", "DEL-004", "--json"]) == 0
    assert [rule["id"] for rule in json.loads(capsys.readouterr().out)["rules"]] == ["DEL-004"]


def test_a_rule_there_is_not_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "RET-0\x1b[31m"]) == 2
    err = capsys.readouterr().err
    assert "there is no rule" in err
    assert "\x1b" not in err
