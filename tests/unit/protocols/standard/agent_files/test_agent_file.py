"""Agent definition files are read without being judged, and without any danger in their YAML."""

from pathlib import Path

import pytest

from delegtop.protocols.frontmatter import MAX_DEPTH, MAX_SIZE, AgentFileError
from delegtop.protocols.standard.agent_files import sections
from delegtop.protocols.standard.agent_files.agent_file import AgentFileKind, parse, read

SAMPLES = Path(__file__).parents[4] / "agent_files"
PLANNER = SAMPLES / "agent" / "subagents" / "release-planner.md"


def head(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "You work.", ""])


def refused(text: str) -> AgentFileError:
    with pytest.raises(AgentFileError) as caught:
        parse("agent.md", text)
    return caught.value


def test_what_stands_in_the_frontmatter_is_read_by_its_place() -> None:
    file = parse(str(PLANNER), PLANNER.read_text("utf-8"))
    assert (file.name, file.at("version").string(), file.at("mode").string()) == (
        "release-planner",
        "1.2.0",
        "subagent",
    )
    assert (file.at("temperature").number(), file.at("max_tokens").integer()) == (0.2, 4000)
    assert file.at("context_loading", "required").strings() == (
        "core/standards/subagent-return-format.md",
        "project/release-policy.md",
    )
    assert file.at("delegation", "timeout_max").integer() == 300
    assert file.delegates_to == ("status-keeper", "commit-keeper")


def test_keys_and_sections_know_their_lines() -> None:
    text = PLANNER.read_text("utf-8")
    file, lines = parse(str(PLANNER), text), text.split("\n")
    assert lines[file.at("timeout").line - 1] == "timeout: 1800"
    assert lines[file.at("delegation", "timeout_max").line - 1] == "  timeout_max: 300"
    assert file.at("delegation", "nothing").line == file.at("delegation").line
    assert file.at("nothing").line == 1
    for name in ("context", "role", "process_flow", "error_handling"):
        section = file.section(name)
        assert section is not None
        assert lines[section.line - 1] == f"<{name}>"


def test_what_is_of_the_wrong_kind_is_none_and_still_there_as_written() -> None:
    file = parse("agent.md", head("timeout: soon", "max_tokens: true", "temperature: [1]", "delegation: none"))
    assert file.at("timeout").integer() is None
    assert file.at("max_tokens").integer() is None
    assert file.at("temperature").number() is None
    assert not file.at("delegation").is_mapping
    assert file.at("timeout").shown() == "soon"
    assert file.at("delegation", "max_depth").shown() == "missing"


@pytest.mark.parametrize("written", ["1:30", "0x10", "9" * 5000, ".inf", "2026-02-30"])
def test_a_number_is_a_plain_decimal_one(written: str) -> None:
    assert parse("agent.md", head(f"timeout: {written}")).at("timeout").integer() is None


def test_a_version_that_yaml_takes_for_a_number_stays_as_it_was_written() -> None:
    assert parse("agent.md", head("version: 1.10")).at("version").string() == "1.10"


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    text = PLANNER.read_text("utf-8")
    plain, odd = parse("x.md", text), parse("x.md", "\ufeff" + text.replace("\n", "\r\n"))
    assert odd.name == plain.name
    assert odd.at("delegation") == plain.at("delegation")
    assert odd.lines == plain.lines
    assert [(each.name, each.line) for each in odd.sections.outermost] == [
        (each.name, each.line) for each in plain.sections.outermost
    ]


@pytest.mark.parametrize(
    ("path", "keys", "kind"),
    [
        (".opencode/agent/a.md", ["name: a"], AgentFileKind.SUBAGENT),
        ("a.md", ["name: a", "timeout: 5"], AgentFileKind.SUBAGENT),
        (".claude/agents/a.md", ["name: a", "mode: subagent"], AgentFileKind.SUBAGENT),
        (".opencode/agent/a.md", ["mode: primary"], AgentFileKind.PRIMARY),
        (".claude/agents/a.md", ["name: a", "description: b", "tools: Read", "model: opus"], AgentFileKind.CLAUDE),
        ("a.md", ["name: a"], AgentFileKind.CLAUDE),
    ],
)
def test_the_kind_is_told_by_folder_and_keys(path: str, keys: list[str], kind: AgentFileKind) -> None:
    assert parse(path, head(*keys)).kind is kind


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no frontmatter"),
        ("# Planner\n", 1, "no frontmatter"),
        ("---\nname: a\n", 1, "never closed"),
        ("---\n---\n", 1, "empty"),
        (head("- a", "- b"), 2, "not a mapping"),
        (head("just words"), 2, "not a mapping"),
        (head("name: a", "description: one: two"), 3, "mapping values are not allowed here"),
        (head("name: a", "tools:", "\t- read"), 4, "cannot start any token"),
        (head("name: a", "tools: [read"), 3, "bad YAML"),
        (head("name: a", "name: b"), 3, "the key name stands twice, first on line 2"),
        (head("name: a", "? [b]", ": c"), 3, "a key is a list"),
        (head("name: a", "base: &base {x: 1}"), 3, "the anchor &base is refused"),
        (head("name: a", "tools: *base"), 3, "the alias *base is refused"),
        (head("name: !!python/object/apply:os.system [id]"), 2, "the tag !!python/object/apply:os.system is refused"),
        (head("name: !secret a"), 2, "the tag !secret is refused"),
        (head("name: a", "x: \x1b[31m"), 3, "U+001B is not allowed"),
        (head("name: a", "--- b"), 3, "another document"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else str(value),
)
def test_bad_frontmatter_is_told_with_its_line(text: str, line: int, message: str) -> None:
    error = refused(text)
    assert message in str(error)
    assert error.line == line
    assert error.advice


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    bomb = [f"k{n}: &k{n} [{', '.join([f'*k{n - 1}' if n else 'x'] * 9)}]" for n in range(40)]
    assert "the anchor &k0 is refused" in str(refused(head(*bomb)))


def test_nesting_is_read_to_a_depth_and_no_deeper() -> None:
    def nested(levels: int) -> str:
        return head("deep: " + "[" * levels + "]" * levels)

    assert parse("a.md", nested(MAX_DEPTH - 1)).at("deep")
    assert "nested deeper" in str(refused(nested(MAX_DEPTH)))
    assert "nested deeper" in str(refused(nested(20_000)))


def test_frontmatter_is_read_to_a_size_and_no_larger() -> None:
    fits = "x: " + "a" * (MAX_SIZE - 3)
    assert parse("a.md", head(fits)).at("x").data
    assert "larger than 64 KiB" in str(refused(head(fits + "a")))


def test_reading_keeps_the_fault_instead_of_raising() -> None:
    file = read("agent.md", "no frontmatter\nat all")
    assert file.kind is AgentFileKind.UNREADABLE
    assert file.lines == 2
    assert file.fault is not None


def names(body: str) -> list[str]:
    return [section.name for section in sections.read(body).outermost]


def test_a_placeholder_in_prose_is_no_section() -> None:
    read = sections.read("<role>\nRun /plan <task> and wait.\n</role>\n<task>\nPlan.\n</task>\n")
    assert [(each.name, each.line) for each in read.outermost] == [("role", 1), ("task", 4)]
    assert read.unclosed == (("task", 2),)


def test_a_section_that_is_never_closed_does_not_swallow_the_others() -> None:
    read = sections.read("<context>\n<role>a</role>\n<task>b</task>\n")
    assert [each.name for each in read.outermost] == ["role", "task"]
    assert read.unclosed == (("context", 1),)


@pytest.mark.parametrize(
    "hidden",
    [
        "```xml\n<role>a</role>\n```",
        "   ~~~~\n<role>a</role>\n~~~\n</role>\n   ~~~~",
        "`<role>`a`</role>`",
        "<!-- <role>a</role> -->",
    ],
)
def test_code_and_comments_hold_no_sections(hidden: str) -> None:
    assert names(f"{hidden}\n<task>b</task>") == ["task"]


def test_a_section_has_its_text_attributes_and_children() -> None:
    [outer] = sections.read("<a>\n<b name=\"x\" type='y z'>one</b><b/>\n</a>").outermost
    first, second = outer.named("b")
    assert first.attributes == {"name": "x", "type": "y z"}
    assert (first.text, first.line, second.text) == ("one", 2, "")
    assert outer.child("c") is None


def test_an_inner_section_of_the_same_name_stays_inside() -> None:
    body = "<delegation_patterns><delegate_to><context>x</context></delegate_to></delegation_patterns>"
    assert sections.read(body).find("context") is None
