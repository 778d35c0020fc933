"""`delegtop lint`: which files it reads, what it prints, what it returns; and its page of rules."""

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES

SAMPLES = Path(__file__).parents[2] / "agent_files"
REAL_LOGS = os.environ.get("DELEGTOP_REAL_LOGS", "")
BEGIN, END = "<!-- rules: begin -->\n", "<!-- rules: end -->"

GOOD = "---\nname: good\ndescription: Does good.\n---\nDo good.\n"
WARNED = GOOD.replace("---\nDo", "model: gpt\n---\nDo")
WRONG = GOOD.replace("name: good\n", "")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str = GOOD) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")
    return path


def read_paths(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["lint", *arguments, "--json"])
    return [source["path"] for source in json.loads(capsys.readouterr().out)["sources"]]


def test_findings_are_told_like_a_linter_does(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(".opencode/agent/deep.md", (SAMPLES / "agent/subagents/release-planner.md").read_text("utf-8"))
    Path(path).write_text(Path(path).read_text("utf-8").replace("max_depth: 3", "max_depth: 7"), "utf-8")
    assert main(["lint", path]) == 1
    assert capsys.readouterr().out.splitlines() == [
        ".opencode/agent/deep.md:2: AGT-002 error `name` is release-planner, but the file is named deep.",
        "    Write `name: deep`.",
        ".opencode/agent/deep.md:34: AGT-015 error `delegation.max_depth` is 7, not at most 3.",
        "    Write `max_depth: 3` or less.",
        "1 subagent: 2 errors",
    ]


def test_the_samples_are_clean_and_their_kinds_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(SAMPLES), "--fail-on", "info"]) == 0
    assert capsys.readouterr().out == "1 subagent, 1 Claude Code agent: no findings\n"


def test_json_has_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write("agents/good.md", WRONG), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "schema_version": 1,
        "sources": [{"path": "agents/good.md", "kind": "Claude Code agent", "lines": 4}],
        "findings": [
            {
                "rule": "AGT-002",
                "severity": "error",
                "subject": "agents/good.md",
                "message": "`name` is missing.",
                "evidence": [{"source": "agents/good.md", "line": 1}],
                "advice": "Write `name: good`.",
                "command": None,
                "by": "delegtop",
            }
        ],
    }


def test_sarif_has_the_same_findings_and_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write("agents/good.md", WRONG), "--sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(AGENT_RULES)
    (result,) = run["results"]
    assert rules[result["ruleIndex"]] == result["ruleId"] == "AGT-002"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "agents/good.md"}, "region": {"startLine": 1}}


def test_junit_has_a_suite_for_each_file_and_errors_for_those_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lint", write("good.md"), write("wrong.md", WRONG), "gone.md", "--junit"]) == 4
    report = ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314 - delegtop's own output
    told = [(suite.get("name"), suite.get("failures"), suite.get("errors")) for suite in report]
    assert told == [("good.md", "0", "0"), ("wrong.md", "1", "0"), ("gone.md", "0", "1")]
    assert [each.get("type") for each in report.iter("failure")] == ["AGT-002"]


def test_only_one_form_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", write("good.md"), "--json", "--sarif"]) == 2
    assert "not allowed with" in capsys.readouterr().err


def test_bad_yaml_is_a_finding_and_the_other_files_are_linted(capsys: pytest.CaptureFixture[str]) -> None:
    write("agents/bad.md", "---\nname: bad\ndescription: one: two\n---\n")
    write("agents/good.md")
    assert main(["lint", "."]) == 1
    out = capsys.readouterr().out
    assert "agents/bad.md:3: AGT-001 error Bad YAML: mapping values are not allowed here" in out
    assert out.endswith("1 unreadable, 1 Claude Code agent: 1 error\n")


def test_a_folder_gives_the_markdown_of_its_agent_folders(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = [
        write("project/.claude/agents/a.md"),
        write("project/.opencode/agent/b.md"),
        write("project/.opencode/agent/subagents/c.md"),
    ]
    for other in ("project/README.md", "project/.claude/agents/README.md", "project/docs/commands/d.md"):
        write(other, "# no agent\n")
    write("project/.claude/agents/notes.txt")
    assert read_paths(capsys, "project") == wanted
    assert read_paths(capsys, "project/.opencode/agent/subagents") == wanted[2:]
    assert read_paths(capsys, "project/.claude/agents") == wanted[:1]


def test_a_folder_gives_the_commands_that_the_guide_is_meant_for_with_or_without_frontmatter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = write("project/.claude/commands/d.md", "Do it: $ARGUMENTS\n")
    wanted = write("project/.opencode/command/e.md", "---\nargument-hint: [a] [b]\n---\nDo it.\n")
    assert read_paths(capsys, "project") == [wanted]
    assert read_paths(capsys, "project/.opencode/command") == [wanted]
    assert read_paths(capsys, "project/.claude/commands") == [other]
    assert main(["lint", "project", other]) == 0


def test_a_project_inside_a_folder_named_agents_is_not_all_agents(capsys: pytest.CaptureFixture[str]) -> None:
    write("agents/project/notes.md")
    wanted = write("agents/project/.claude/agents/a.md")
    assert read_paths(capsys, "agents/project") == [wanted]


def test_any_markdown_given_by_name_is_linted_once(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("good.md")
    assert read_paths(capsys, path, path, "./good.md") == [path]


@pytest.mark.parametrize(
    ("text", "level", "code"),
    [
        (WRONG, None, 1),
        (WRONG, "never", 0),
        (WARNED, None, 0),
        (WARNED, "warning", 1),
        (WARNED, "info", 1),
        (WARNED, "error", 0),
        (GOOD, "info", 0),
    ],
)
def test_the_exit_code_is_one_from_the_level_on(text: str, level: str | None, code: int) -> None:
    assert main(["lint", write("good.md", text), *(["--fail-on", level] if level else [])]) == code


def test_rules_can_be_chosen_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("good.md", WRONG.replace("---\nDo", "model: gpt\n---\nDo"))

    def told(*arguments: str) -> list[str]:
        main(["lint", path, "--json", *arguments])
        return [finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]]

    assert told() == ["AGT-002", "AGT-061"]
    assert told("--rule", "agt-061") == ["AGT-061"]
    assert told("--ignore", "AGT-061") == ["AGT-002"]
    assert told("--rule", "AGT-061", "--rule", "AGT-002", "--ignore", "AGT-002") == ["AGT-061"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "AGT-999"], "--rule AGT-999: no such rule for agent files"),
        (["--ignore", "RET-001"], "--ignore RET-001: no such rule for agent files"),
        (["--fail-on", "fatal"], "fatal"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", write("good.md"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_what_cannot_be_read_is_told_and_the_rest_is_linted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("latin.md").write_bytes(b"---\nname: caf\xe9\n---\n")
    Path("huge.md").write_bytes(b"x" * (1024 * 1024 + 1))
    Path("empty").mkdir()
    good = write("good.md")
    assert main(["lint", "gone.md", "latin.md", "huge.md", "empty", "a\0b", good]) == 4
    out, err = capsys.readouterr()
    assert out == "1 Claude Code agent: no findings\n"
    assert err.splitlines() == [
        "delegtop: empty: no agent files in it: neither agent/**/*.md nor agents/**/*.md",
        "delegtop: gone.md: No such file or directory",
        "delegtop: latin.md: line 2: not UTF-8 text",
        "delegtop: huge.md: larger than 1 MiB, which is no agent file",
        "delegtop: a␀b: cannot be read",
    ]


def test_hostile_text_reaches_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = '"\\e]52;c;aGk=\\a\\n\\u202e"'
    write("agents/\x1b[31mred.md", f"---\nname: {evil}\nmode: {evil}\n{evil}: &x 1\n---\n")
    write(
        "agents/b.md", f"---\nname: {evil}\nmode: {evil}\nlifecycle: {{command: {evil}}}\n---\n<role>\x1b[2J</role>\n"
    )
    for form in ([], ["--json"], ["--sarif"], ["--junit"]):
        main(["lint", ".", *form])
        out, err = capsys.readouterr()
        assert "agents/" in out
        assert not set("\x1b\x07\u202e") & set(out + err)


def test_a_long_value_does_not_make_a_long_message(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", write("good.md", f"---\nname: {'n' * 9000}\nmode: {'m' * 9000}\n---\n")])
    assert max(map(len, capsys.readouterr().out.splitlines())) < 600


@pytest.mark.skipif(not REAL_LOGS, reason="DELEGTOP_REAL_LOGS is not set")
def test_the_frontmatter_of_real_agents_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    found = list(Path(REAL_LOGS).rglob("agent_frontmatter/.*.md.yaml"))
    if not found:
        pytest.skip("no agent frontmatter among the real logs")
    for path in found:
        write("/".join(path.name.removesuffix(".yaml").split("__")), f"---\n{path.read_text('utf-8')}\n---\nWork.\n")
    assert main(["lint", ".", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert len(told["sources"]) == len(found)
    assert "unreadable" not in {source["kind"] for source in told["sources"]}


def generated() -> str:
    rows = "".join(
        f"| {rule.id} | {rule.name} | {rule.severity} | {cell(rule.title)} | {', '.join(rule.kinds)} "
        f"| {cell(rule.why)} |\n"
        for rule in AGENT_RULES.values()
    )
    head = "| rule | name | severity | what must hold | asked of | why |\n| --- | --- | --- | --- | --- | --- |\n"
    return f"\n{head}{rows}\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def test_the_page_has_every_rule(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "lint.md"
    before, rest = page.read_text("utf-8").split(BEGIN)
    written, after = rest.split(END)
    if update_golden:
        page.write_text(before + BEGIN + generated() + END + after, "utf-8")
    assert written == generated() or update_golden


@pytest.mark.skipif(shutil.which("jq") is None, reason="the page's example uses jq")
def test_the_json_reads_as_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", write("good.md", WRONG), "--json"])
    query = '.findings[] | "\\(.evidence[0].source):\\(.evidence[0].line) \\(.rule)"'
    told = subprocess.run(
        ["jq", "-r", query], input=capsys.readouterr().out, capture_output=True, text=True, check=True
    )
    assert told.stdout == "good.md:1 AGT-002\n"
