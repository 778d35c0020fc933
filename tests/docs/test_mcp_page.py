"""The page of the MCP server tells its tools as they are, and its snippets start it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

from delegtop.mcp_server.row_words import MOST
from delegtop.mcp_server.tool_contracts import MOST_SECONDS, TOOLS, Status, ToolContract, schema

PAGE = Path(__file__).parents[2] / "docs" / "mcp.md"
BEGIN, END = "<!-- tools: begin -->\n", "<!-- tools: end -->"


def section(tool: ToolContract) -> str:
    asked = schema(tool.question)
    rows = "".join(
        f"| `{name}` | {_words(about, asked)}{'' if 'default' in about else ' **Required.**'} |\n"
        for name, about in asked["properties"].items()
    )
    answered = schema(tool.answer)
    told = ", ".join(f"`{name}`" for name in answered["properties"])
    what = tool.description.split(" Everything that comes from a log")[0]
    return f"### `{tool.name}`\n\n{what}\n\n| argument | |\n| --- | --- |\n{rows}\nIt answers with {told}.\n"


def _words(about: dict[str, Any], whole: dict[str, Any]) -> str:
    about = whole["$defs"][about["$ref"].rpartition("/")[2]] if "$ref" in about else about
    described = str(about.get("description", ""))
    default = about.get("default")
    usual = f" (`{json.dumps(default)}` unless another is given)" if default else ""
    return f"{described}{usual}"


def test_the_tools_on_the_page_are_those_of_the_program(update_golden: bool) -> None:
    made = "\n".join(map(section, TOOLS))
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    if update_golden:
        PAGE.write_text(f"{before}{BEGIN}{made}{END}{rest.split(END)[1]}", "utf-8")
    assert PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0] == made


def test_every_status_is_explained() -> None:
    table = PAGE.read_text("utf-8").split("### How one stands")[1].split("\n\n")[1]
    explained = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert explained == ["status", *get_args(Status)]


def test_the_bounds_are_those_of_the_program() -> None:
    page = PAGE.read_text("utf-8")
    assert f"at most {MOST:,} characters" in page
    assert f"at most {MOST_SECONDS}:" in page


def test_the_snippets_start_the_server() -> None:
    page = PAGE.read_text("utf-8")
    codex = tomllib.loads(page.split("```toml\n")[1].split("```")[0])["mcp_servers"]["delegtop"]
    opencode = json.loads(page.split("```json\n")[1].split("```")[0])["mcp"]["delegtop"]
    assert [codex["command"], *codex["args"]] == opencode["command"] == ["delegtop", "mcp"]
    for client in ("claude", "codex"):
        assert f"{client} mcp add delegtop -- delegtop mcp" in page
