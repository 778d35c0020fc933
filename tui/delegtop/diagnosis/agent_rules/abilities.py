"""What the frontmatter says the agent may do: tools, permissions, context, delegation, and its place in a lifecycle."""

from collections.abc import Iterator

from delegtop.contract.agent_file import AgentFile, Kind
from delegtop.contract.reading import Reading
from delegtop.diagnosis.agent_rules.rule import rule, rule_by_reading, shown
from delegtop.diagnosis.finding import Finding, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING

STANDARD = (Kind.SUBAGENT, Kind.PRIMARY)
TOOLS = ("read", "write", "edit", "bash", "grep", "glob")
CONTEXT_LIMITS = {"lazy": 50_000, "eager": 100_000, "minimal": 10_000}
"""Bytes of context to aim for, by loading strategy."""

_WHERE = "Structure standard, Frontmatter"


@rule(
    "AGT-010",
    "tools not on or off",
    WARNING,
    "its tools are switched on or off by name",
    f"{_WHERE}, Tool permissions: tools is a mapping of {', '.join(TOOLS)} to true or false.",
)
def tools(file: AgentFile) -> Iterator[Finding]:
    if not file.tools:
        message = f"`tools` is {shown(file, 'tools')}, not a mapping of tools to true or false"
        yield tools.finding(file, file.line("tools"), message, "add `tools:` with `read: true` and the others it needs")
        return
    for tool, value in file.values["tools"].mapping().items():
        if tool not in file.tools:
            message = f"the tool {tool} is {value.shown()}, neither true nor false"
            yield tools.finding(file, value.line, message, f"write `{tool}: true` or `{tool}: false`")


@rule(
    "AGT-011",
    "permissions lacking",
    WARNING,
    "permissions allow and deny",
    f"{_WHERE}, Tool permissions, and the checklist's Structure: what is allowed and what is denied are both written.",
)
def permissions(file: AgentFile) -> Iterator[Finding]:
    for side in ("allow", "deny"):
        given = file.permissions and getattr(file.permissions, side)
        if not given:
            message = f"the permissions do not say what they {side}"
            advice = f"add `{side}:` under permissions, as a list of tools with their patterns"
            yield permissions.finding(file, file.line("permissions", side), message, advice)


@rule(
    "AGT-012",
    "unfit permissions",
    WARNING,
    "permissions fit the tools",
    f"{_WHERE}, Tool permissions: a pattern for a tool that is off has no effect, and bash without a denied command "
    "may run anything.",
)
def permissions_fit(file: AgentFile) -> Iterator[Finding]:
    if not file.tools or not file.permissions:
        return
    for tool in file.permissions.allow or {}:
        if not file.tools.get(tool):
            message = f"the tool {tool} is allowed, but not switched on"
            advice = f"write `{tool}: true` under tools, or take the permission out"
            yield permissions_fit.finding(file, file.line("permissions", "allow"), message, advice)
    if file.tools.get("bash") and not (file.permissions.deny or {}).get("bash"):
        advice = 'add `- bash: ["rm -rf", "sudo"]` and what else is dangerous to deny'
        line = file.line("permissions", "deny")
        yield permissions_fit.finding(file, line, "the tool bash is switched on and no command is denied", advice)


@rule(
    "AGT-013",
    "context loading gaps",
    WARNING,
    "context loading has a strategy, an index and required files",
    f"{_WHERE}, Context loading, and Context Loading Strategy: strategy is lazy, eager or minimal.",
)
def context_loading(file: AgentFile) -> Iterator[Finding]:
    loading = file.context_loading
    if loading is None:
        advice = "add `context_loading:` with strategy, index, required and max_context_size"
        message = "it does not say which context it loads"
        yield context_loading.finding(file, file.line("context_loading"), message, advice)
        return

    def at(key: str) -> int:
        return file.line("context_loading", key)

    if loading.strategy not in CONTEXT_LIMITS:
        message = f"the strategy of context_loading is {shown(file, 'context_loading', 'strategy')}"
        yield context_loading.finding(file, at("strategy"), message, "choose lazy, eager or minimal")
    if not loading.index:
        advice = 'add `index: ".opencode/context/index.md"`'
        yield context_loading.finding(file, at("index"), "`context_loading` names no index", advice)
    if not loading.required:
        advice = "list under `required` what it always loads, at least the return format standard"
        yield context_loading.finding(file, at("required"), "`context_loading` lists no required files", advice)


@rule(
    "AGT-014",
    "wrong context limit",
    WARNING,
    "the context fits the strategy",
    "Structure standard, Context Loading Strategy: up to 50 KB when lazy, 100 KB when eager, 10 KB when minimal.",
    STANDARD,
)
def context_size(file: AgentFile) -> Iterator[Finding]:
    loading = file.context_loading
    if loading is None:
        return
    line = file.line("context_loading", "max_context_size")
    size, limit = loading.max_context_size, CONTEXT_LIMITS.get(loading.strategy or "")
    if size is None or size <= 0:
        written = shown(file, "context_loading", "max_context_size")
        message = f"`max_context_size` is {written}, not a positive number of bytes"
        yield context_size.finding(file, line, message, f"write `max_context_size: {limit or 50_000}` or less")
    elif limit and size > limit:
        message = f"`max_context_size` {size} is over the {limit} bytes of {loading.strategy} loading"
        yield context_size.finding(file, line, message, "load less, or choose the strategy that fits")


@rule_by_reading(
    "AGT-015",
    "no valid depth limit",
    ERROR,
    "delegation goes at most three levels deep",
    "Structure standard, Delegation Safety: orchestrator, command, subagent, utility, and no further. The delegation "
    "guide counts three levels below the command. The setting is protocol.max_depth.",
    STANDARD,
)
def max_depth(file: AgentFile, reading: Reading) -> Iterator[Finding]:
    if file.delegation is None:
        return
    depth, limit = file.delegation.max_depth, reading.max_depth
    if depth is None or not 0 <= depth <= limit:
        written = shown(file, "delegation", "max_depth")
        message = f"`max_depth` is {written}, not a whole number from 0 to {limit}{reading.chosen('max_depth')}"
        line = file.line("delegation", "max_depth")
        yield max_depth.finding(file, line, message, f"write `max_depth: {limit}` or less")


@rule(
    "AGT-016",
    "wrong delegates",
    ERROR,
    "can_delegate_to lists other agents",
    f"{_WHERE}, Delegation, and Delegation Safety: an agent does not delegate to itself. An empty list says that it "
    "delegates to nobody.",
)
def can_delegate_to(file: AgentFile) -> Iterator[Finding]:
    if file.delegation is None:
        return
    line, others = file.line("delegation", "can_delegate_to"), file.delegation.can_delegate_to
    if others is None:
        message = f"`can_delegate_to` is {shown(file, 'delegation', 'can_delegate_to')}, not a list of agents"
        yield can_delegate_to.finding(file, line, message, "write a list of names, or [] if it delegates to nobody")
    elif {file.name, file.stem} & set(others):
        yield can_delegate_to.finding(file, line, "it may delegate to itself: a cycle", "take its own name out")


@rule(
    "AGT-017",
    "wrong child timeouts",
    ERROR,
    "delegations have timeouts, and the default is within the maximum",
    f"{_WHERE}, Delegation, and Delegation Safety: always set a timeout.",
)
def delegation_timeouts(file: AgentFile) -> Iterator[Finding]:
    if file.delegation is None:
        return
    default, most = file.delegation.timeout_default, file.delegation.timeout_max
    for key, seconds in (("timeout_default", default), ("timeout_max", most)):
        if seconds is None or seconds <= 0:
            message = f"`{key}` is {shown(file, 'delegation', key)}, not a positive whole number of seconds"
            line = file.line("delegation", key)
            yield delegation_timeouts.finding(file, line, message, f"write `{key}: 300` or what the work needs")
    if default and most and default > most:
        message = f"`timeout_default` {default} is more than `timeout_max` {most}"
        line = file.line("delegation", "timeout_default")
        yield delegation_timeouts.finding(file, line, message, "lower the default or raise the maximum")


@rule(
    "AGT-018",
    "lifecycle incomplete",
    WARNING,
    "the lifecycle names stage, command and return format",
    f"{_WHERE}, Lifecycle: which stage of which command calls it, and how it returns. A utility belongs to no command.",
)
def lifecycle(file: AgentFile) -> Iterator[Finding]:
    if file.lifecycle is None:
        advice = "add `lifecycle:` with stage, command and return_format"
        yield lifecycle.finding(file, file.line("lifecycle"), "it says nothing about its lifecycle", advice)
        return
    stage, command = file.lifecycle.stage, file.lifecycle.command
    if stage is None or not 1 <= stage <= 8:
        message = f"the lifecycle stage is {shown(file, 'lifecycle', 'stage')}, not one of 1 to 8"
        yield lifecycle.finding(file, file.line("lifecycle", "stage"), message, "write the stage that calls it: 4")
    if command is None and file.agent_type != "utility":
        message = "the lifecycle names no command"
        yield lifecycle.finding(file, file.line("lifecycle", "command"), message, 'add `command: "/plan"` or its like')
    elif command is not None and not command.startswith("/"):
        message = f"the command {command} does not start with a slash"
        yield lifecycle.finding(file, file.line("lifecycle", "command"), message, f'write `command: "/{command}"`')
    if not file.lifecycle.return_format:
        advice = 'add `return_format: "subagent-return-format.md"`'
        line = file.line("lifecycle", "return_format")
        yield lifecycle.finding(file, line, "the lifecycle names no return format", advice)
