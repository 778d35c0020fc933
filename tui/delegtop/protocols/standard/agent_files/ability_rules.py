"""What the frontmatter says the agent may do: tools, permissions, context, delegation, and its place in a lifecycle."""

from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule
from delegtop.protocols.standard.contract.agent_file_contract import CONTEXT_LIMITS, STAGES, TOOLS

ERROR, WARNING = Severity.ERROR, Severity.WARNING

STANDARD = (AgentFileKind.SUBAGENT, AgentFileKind.PRIMARY)
_WHERE = "Structure standard, Frontmatter"


@rule(
    "AGT-010",
    "tools not on or off",
    WARNING,
    "its tools are switched on or off by name",
    f"{_WHERE}, Tool permissions: tools is a mapping of {', '.join(TOOLS)} to true or false.",
)
def tools(file: AgentFile) -> Iterator[FileNote]:
    given, known = file.at("tools"), _switches(file)
    if not known:
        message = f"`tools` is {given.shown()}, not a mapping of tools to true or false"
        yield given.line, message, "add `tools:` with `read: true` and the others it needs"
        return
    for tool, value in given.mapping().items():
        if tool not in known:
            message = f"the tool {tool} is {value.shown()}, neither true nor false"
            yield value.line, message, f"write `{tool}: true` or `{tool}: false`"


@rule(
    "AGT-011",
    "permissions lacking",
    WARNING,
    "permissions allow and deny",
    f"{_WHERE}, Tool permissions, and the checklist's Structure: what is allowed and what is denied are both written.",
)
def permissions(file: AgentFile) -> Iterator[FileNote]:
    for side in ("allow", "deny"):
        if not _patterns(file, side):
            advice = f"add `{side}:` under permissions, as a list of tools with their patterns"
            yield file.at("permissions", side).line, f"the permissions do not say what they {side}", advice


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
    for tool in _patterns(file, "allow"):
        if not switches.get(tool):
            message = f"the tool {tool} is allowed, but not switched on"
            advice = f"write `{tool}: true` under tools, or take the permission out"
            yield file.at("permissions", "allow").line, message, advice
    if switches.get("bash") and not _patterns(file, "deny").get("bash"):
        advice = 'add `- bash: ["rm -rf", "sudo"]` and what else is dangerous to deny'
        yield file.at("permissions", "deny").line, "the tool bash is switched on and no command is denied", advice


def _switches(file: AgentFile) -> dict[str, bool]:
    """The tools that are switched on or off, by name."""
    given = file.at("tools").mapping().items()
    return {name: each.data for name, each in given if isinstance(each.data, bool)}


def _patterns(file: AgentFile, side: str) -> dict[str, tuple[str, ...]]:
    """The patterns by tool: a list of `tool: [patterns]`, or one mapping of them."""
    given = file.at("permissions", side)
    found: dict[str, tuple[str, ...]] = {}
    for item in given.data if isinstance(given.data, tuple) else (given,):
        for tool, patterns in item.mapping().items():
            one = patterns.string()
            found[tool] = found.get(tool, ()) + (patterns.strings() or ((one,) if one else ()))
    return found


@rule(
    "AGT-013",
    "context loading gaps",
    WARNING,
    "context loading has a strategy, an index and required files",
    f"{_WHERE}, Context loading, and Context Loading Strategy: strategy is lazy, eager or minimal.",
)
def context_loading(file: AgentFile) -> Iterator[FileNote]:
    loading = file.at("context_loading")
    if not loading.is_mapping:
        advice = "add `context_loading:` with strategy, index, required and max_context_size"
        yield loading.line, "it does not say which context it loads", advice
        return
    strategy, index, required = (file.at("context_loading", key) for key in ("strategy", "index", "required"))
    if strategy.string() not in CONTEXT_LIMITS:
        message = f"the strategy of context_loading is {strategy.shown()}"
        yield strategy.line, message, "choose lazy, eager or minimal"
    if not index.string():
        yield index.line, "`context_loading` names no index", 'add `index: ".opencode/context/index.md"`'
    if not required.strings():
        advice = "list under `required` what it always loads, at least the return format standard"
        yield required.line, "`context_loading` lists no required files", advice


@rule(
    "AGT-014",
    "wrong context limit",
    WARNING,
    "the context fits the strategy",
    "Structure standard, Context Loading Strategy: up to 50 KB when lazy, 100 KB when eager, 10 KB when minimal.",
    STANDARD,
)
def context_size(file: AgentFile) -> Iterator[FileNote]:
    if not file.at("context_loading").is_mapping:
        return
    given, strategy = file.at("context_loading", "max_context_size"), file.at("context_loading", "strategy").string()
    size, limit = given.integer(), next((most for name, most in CONTEXT_LIMITS.items() if name == strategy), None)
    if size is None or size <= 0:
        message = f"`max_context_size` is {given.shown()}, not a positive number of bytes"
        yield given.line, message, f"write `max_context_size: {limit or 50_000}` or less"
    elif limit and size > limit:
        message = f"`max_context_size` {size} is over the {limit} bytes of {strategy} loading"
        yield given.line, message, "load less, or choose the strategy that fits"


@rule(
    "AGT-015",
    "no valid depth limit",
    ERROR,
    "delegation goes at most three levels deep",
    "Structure standard, Delegation Safety: orchestrator, command, subagent, utility, and no further. The delegation "
    "guide counts three levels below the command. The setting is protocol.max_depth.",
    STANDARD,
)
def max_depth(file: AgentFile) -> Iterator[FileNote]:
    if not file.at("delegation").is_mapping:
        return
    given, limit = file.at("delegation", "max_depth"), file.reading.max_depth
    depth = given.integer()
    if depth is None or not 0 <= depth <= limit:
        by = file.reading.chosen("max_depth")
        message = f"`max_depth` is {given.shown()}, not a whole number from 0 to {limit}{by}"
        yield given.line, message, f"write `max_depth: {limit}` or less"


@rule(
    "AGT-016",
    "wrong delegates",
    ERROR,
    "can_delegate_to lists other agents",
    f"{_WHERE}, Delegation, and Delegation Safety: an agent does not delegate to itself. An empty list says that it "
    "delegates to nobody.",
)
def can_delegate_to(file: AgentFile) -> Iterator[FileNote]:
    if not file.at("delegation").is_mapping:
        return
    given = file.at("delegation", "can_delegate_to")
    if given.strings() is None:
        message = f"`can_delegate_to` is {given.shown()}, not a list of agents"
        yield given.line, message, "write a list of names, or [] if it delegates to nobody"
    elif {file.name, file.stem} & set(file.delegates_to):
        yield given.line, "it may delegate to itself: a cycle", "take its own name out"


@rule(
    "AGT-017",
    "wrong child timeouts",
    ERROR,
    "delegations have timeouts, and the default is within the maximum",
    f"{_WHERE}, Delegation, and Delegation Safety: always set a timeout.",
)
def delegation_timeouts(file: AgentFile) -> Iterator[FileNote]:
    if not file.at("delegation").is_mapping:
        return
    given = {key: file.at("delegation", key) for key in ("timeout_default", "timeout_max")}
    for key, value in given.items():
        if (value.integer() or 0) <= 0:
            message = f"`{key}` is {value.shown()}, not a positive whole number of seconds"
            yield value.line, message, f"write `{key}: 300` or what the work needs"
    default, most = (value.integer() for value in given.values())
    if default and most and default > most:
        message = f"`timeout_default` {default} is more than `timeout_max` {most}"
        yield given["timeout_default"].line, message, "lower the default or raise the maximum"


@rule(
    "AGT-018",
    "lifecycle incomplete",
    WARNING,
    "the lifecycle names stage, command and return format",
    f"{_WHERE}, Lifecycle: which stage of which command calls it, and how it returns. A utility belongs to no command.",
)
def lifecycle(file: AgentFile) -> Iterator[FileNote]:
    whole = file.at("lifecycle")
    if not whole.is_mapping:
        advice = "add `lifecycle:` with stage, command and return_format"
        yield whole.line, "it says nothing about its lifecycle", advice
        return
    stage, command, form = (file.at("lifecycle", key) for key in ("stage", "command", "return_format"))
    if stage.integer() not in range(STAGES[0], STAGES[1] + 1):
        message = f"the lifecycle stage is {stage.shown()}, not one of {STAGES[0]} to {STAGES[1]}"
        yield stage.line, message, "write the stage that calls it: 4"
    named = command.string()
    if named is None and file.at("agent_type").string() != "utility":
        yield command.line, "the lifecycle names no command", 'add `command: "/plan"` or its like'
    elif named is not None and not named.startswith("/"):
        yield command.line, f"the command {named} does not start with a slash", f'write `command: "/{named}"`'
    if not form.string():
        yield form.line, "the lifecycle names no return format", 'add `return_format: "subagent-return-format.md"`'
