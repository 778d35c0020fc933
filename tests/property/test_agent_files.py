"""Whatever an agent file holds, it is read and judged without a crash, and every finding points into it."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from delegtop.protocols.standard.agent_files.agent_file import AgentFileKind, read
from delegtop.protocols.standard.agent_files.agent_file_rules import judge
from delegtop.protocols.standard.agent_files.section_rules import SECTIONS

PLANNER = (Path(__file__).parents[1] / "agent_files/agent/subagents/release-planner.md").read_text("utf-8")

_TAGS = (*SECTIONS, "step_0_preflight", "step_N+1_return", "stage_1", "parameter", "delegate_to", "structure", "x")
_TAG = st.builds(
    "<{}{}{}>".format, st.sampled_from(["", "/"]), st.sampled_from(_TAGS), st.sampled_from(["", ' name="a"'])
)
_BODY = st.lists(_TAG | st.sampled_from(["\n", "```", "`", "<!--", "-->", "One. Two", "<", ">"]) | st.text(max_size=8))
_VALUE = st.sampled_from(
    ["1", "-1", "x", "[]", "{}", "[a, {b: c}]", "{a: 1}", "true", ".nan", "~", '"', "*a", "&a b", "!t"]
)
_KEY = st.sampled_from(
    ["name", "mode", "version", "timeout", "temperature", "tools", "permissions", "delegation", "lifecycle", "model"]
)
_HEAD = st.lists(st.builds("{}: {}".format, _KEY, _VALUE) | st.text(max_size=12), max_size=8).map("\n".join)


def check(text: str) -> None:
    file = read(".opencode/agent/a.md", text)
    for finding in judge(file):
        assert finding.message
        assert finding.advice
        assert 1 <= finding.evidence[0].line <= max(file.lines, 1)


@given(_HEAD, _BODY.map("".join))
@settings(max_examples=75)
def test_made_up_files(head: str, body: str) -> None:
    check(f"---\n{head}\n---\n{body}")


@given(st.text())
def test_any_text(text: str) -> None:
    check(text)


@given(st.integers(0, len(PLANNER)), st.integers(0, len(PLANNER)), st.text(max_size=4))
@settings(max_examples=60)
def test_a_good_file_with_a_piece_torn_out(start: int, end: int, put: str) -> None:
    check(PLANNER[: min(start, end)] + put + PLANNER[max(start, end) :])


@given(_BODY.map("".join))
def test_what_follows_the_frontmatter_does_not_change_what_it_says(body: str) -> None:
    head = PLANNER.partition("\n# Release")[0]
    file = read("release-planner.md", f"{head}\n{body}")
    assert file.kind is AgentFileKind.SUBAGENT
    assert file.at("delegation") == read("release-planner.md", PLANNER).at("delegation")
