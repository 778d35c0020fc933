"""What the frontmatter says the agent may do: tools, permissions, context, delegation, and its place in a lifecycle."""

from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, frontmatter_rule, rule
from delegtop.protocols.standard.contract.agent_file_contract import TOOLS

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

STANDARD = (AgentFileKind.SUBAGENT, AgentFileKind.PRIMARY)
_WHERE = "Structure standard, Frontmatter"


tools = frontmatter_rule(
    "AGT-010",
    "tools not on or off",
    WARNING,
    "its tools are switched on or off by name",
    f"{_WHERE}, Tool permissions: tools is a mapping of {', '.join(TOOLS)} to true or false.",
    {"tools": "write `tools:` with `read: true` and the others it needs, each true or false"},
)

permissions = frontmatter_rule(
    "AGT-011",
    "permissions lacking",
    WARNING,
    "permissions allow and deny",
    f"{_WHERE}, Tool permissions, and the checklist's Structure: what is allowed and what is denied are both written.",
    {
        "permissions": "add `permissions:` with `allow:` and `deny:`",
        "permissions.allow": "add `allow:` under permissions, as a list of tools with their patterns",
        "permissions.deny": "add `deny:` under permissions, as a list of tools with their patterns",
    },
)


@rule(
    "AGT-012",
    "unfit permissions",
    WARNING,
    "permissions fit the tools",
    f"{_WHERE}, Tool permissions: a pattern for a tool that is off has no effect, and bash without a denied command "
    "may run anything.",
)
def permissions_fit(file: AgentFile) -> Iterator[FileNote]:
    switches = _switches(file)
    if not switches or not file.at("permissions").is_mapping:
        return
    for tool, (line, _) in _patterns(file, "allow").items():
        if not switches.get(tool):
            message = f"the tool {tool} is allowed, but not switched on"
            advice = f"write `{tool}: true` under tools, or take the permission out"
            yield line, message, advice
    if switches.get("bash") and not _patterns(file, "deny").get("bash", (0, ()))[1]:
        advice = 'add `- bash: ["rm -rf", "sudo"]` and what else is dangerous to deny'
        yield file.at("permissions", "deny").line, "the tool bash is switched on and no command is denied", advice


def _switches(file: AgentFile) -> dict[str, bool]:
    """The tools that are switched on or off, by name."""
    given = file.at("tools").mapping().items()
    return {name: each.data for name, each in given if isinstance(each.data, bool)}


def _patterns(file: AgentFile, side: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    """The patterns by tool, with the line of the first: a list of `tool: [patterns]`, or one mapping of them."""
    given = file.at("permissions", side)
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for item in given.data if isinstance(given.data, tuple) else (given,):
        for tool, patterns in item.mapping().items():
            one = patterns.string()
            line, known = found.get(tool, (patterns.line, ()))
            found[tool] = line, known + (patterns.strings() or ((one,) if one else ()))
    return found


context_loading = frontmatter_rule(
    "AGT-013",
    "context loading gaps",
    WARNING,
    "context loading has a strategy, an index and required files",
    f"{_WHERE}, Context loading, and Context Loading Strategy: strategy is lazy, eager or minimal.",
    {
        "context_loading": "add `context_loading:` with strategy, index, required and max_context_size",
        "context_loading.strategy": "choose lazy, eager or minimal",
        "context_loading.index": 'add `index: ".opencode/context/index.md"`',
        "context_loading.required": "list under `required` what it always loads, at least the return format standard",
        "context_loading.optional": "list under `optional` what it loads if needed, or leave it out",
    },
)

context_size = frontmatter_rule(
    "AGT-014",
    "wrong context limit",
    WARNING,
    "the context fits the strategy",
    "Structure standard, Context Loading Strategy: up to 50 KB when lazy, 100 KB when eager, 10 KB when minimal.",
    {"context_loading.max_context_size": "write a number of bytes within the strategy's limit, or choose another one"},
    STANDARD,
)

max_depth = frontmatter_rule(
    "AGT-015",
    "no valid depth limit",
    ERROR,
    "delegation goes at most three levels deep",
    "Structure standard, Delegation Safety: orchestrator, command, subagent, utility, and no further. The delegation "
    "guide counts three levels below the command. An agent with max_depth 0 delegates to nobody. The setting is "
    "protocol.max_depth.",
    {
        "delegation.max_depth": "write `max_depth: {file.reading.max_depth}` or less",
        "delegation.can_delegate_to": "write the depth that it may delegate to, or [] if it delegates to nobody",
    },
    STANDARD,
)

can_delegate_to = frontmatter_rule(
    "AGT-016",
    "wrong delegates",
    ERROR,
    "can_delegate_to lists other agents",
    f"{_WHERE}, Delegation, and Delegation Safety: an agent does not delegate to itself. An empty list says that it "
    "delegates to nobody.",
    {
        "delegation": "write `delegation:` with max_depth, can_delegate_to, timeout_default and timeout_max",
        "delegation.can_delegate_to": "write a list of the names of others, or [] if it delegates to nobody",
    },
)

delegation_timeouts = frontmatter_rule(
    "AGT-017",
    "wrong child timeouts",
    ERROR,
    "delegations have timeouts, and the default is within the maximum",
    f"{_WHERE}, Delegation, and Delegation Safety: always set a timeout.",
    {
        "delegation.timeout_default": "write `timeout_default: 300` or what the work needs, in seconds",
        "delegation.timeout_max": "write `timeout_max: 300` or what the work needs, and no less than timeout_default",
    },
)

lifecycle = frontmatter_rule(
    "AGT-018",
    "lifecycle incomplete",
    WARNING,
    "the lifecycle names stage, command and return format",
    f"{_WHERE}, Lifecycle: which stage of which command calls it, and how it returns: by subagent-return-format.md. A "
    "utility belongs to no command.",
    {
        "lifecycle": "add `lifecycle:` with stage, command and return_format",
        "lifecycle.stage": "write the stage that calls it: 4",
        "lifecycle.command": 'write `command: "/plan"` or its like, with the slash',
        "lifecycle.return_format": 'write `return_format: "subagent-return-format.md"`',
    },
)

return_format_read = frontmatter_rule(
    "AGT-035",
    "return form not read",
    INFO,
    "the return format standard is among the required files",
    "Structure standard, Context Loading Strategy: each of its three strategies loads subagent-return-format.md. It "
    "shows that in examples and nowhere says that it must be so, and few real files do it, so this is only mentioned.",
    {"context_loading.required": 'add `- "core/standards/subagent-return-format.md"`'},
)
