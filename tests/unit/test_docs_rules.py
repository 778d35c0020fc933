"""The page of the rules, the command that lists them and the table they come from tell the same."""

import json
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.contract.returns import ERROR_CODES
from delegtop.diagnosis.catalogue import CATALOGUE, CHAPTERS, chapter


def rules() -> str:
    return "".join(map(section, CHAPTERS))


def section(prefix: str) -> str:
    rows = "".join(
        f"| {rule.id} | {rule.severity} | {cell(rule.title)} | {cell(rule.why)} |\n" for rule in chapter(prefix)
    )
    return f"\n## {CHAPTERS[prefix]}\n\n| rule | severity | what must hold | why |\n| --- | --- | --- | --- |\n{rows}"


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


def test_the_command_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(CATALOGUE)


def test_the_command_explains_one_rule_however_it_is_spelt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "ret-011"]) == 0
    out = capsys.readouterr().out
    rule = CATALOGUE["RET-011"]
    assert out.startswith(f"RET-011  warning  {rule.title}\n")
    assert rule.why in " ".join(out.split())


def test_the_command_tells_scripts_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert {rule["id"]: rule["why"] for rule in told["rules"]} == {id: rule.why for id, rule in CATALOGUE.items()}
    assert main(["rules", "DEL-004", "--json"]) == 0
    assert [rule["id"] for rule in json.loads(capsys.readouterr().out)["rules"]] == ["DEL-004"]


def test_a_rule_there_is_not_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "RET-0\x1b[31m"]) == 2
    err = capsys.readouterr().err
    assert "there is no rule" in err
    assert "\x1b" not in err
