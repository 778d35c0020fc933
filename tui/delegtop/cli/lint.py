"""`delegtop lint`: agent definition files, judged by the structure standard."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, finding_options, named_files, options, output
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Finding
    from delegtop.protocols.standard.agent_files.agent_file import AgentFile
    from delegtop.report.check_report import CheckResult

DESCRIPTION = (
    "Check agent definition files (.opencode/agent, .claude/agents) for what the structure standard asks of them. "
    "The rules are in docs/lint.md."
)
PAGE = "docs/lint.md"
EXAMPLES = {
    "delegtop lint .claude/agents": "the agent files of a project",
    "delegtop lint .claude/agents --json": "for scripts",
}
FOLDERS = ("agent", "agents")
"""The folders whose Markdown files define agents."""
COMMANDS = ("command", "commands")
"""Those of commands: only if they are named themselves, or are of a program whose commands follow the guide."""
_GUIDED = ".opencode"
_LARGEST = 1024 * 1024
_LONGEST = 500
_SCHEMA_VERSION = 1


class _UnreadableError(Exception):
    """A file that cannot be linted; the message says why."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="an agent or command file, or a folder: the .md files in its folders of these",
    )
    finding_options.add(parser, json="print JSON: schema_version, sources[] and findings[]", codes="1")
    options.add(parser, "config")


def run(arguments: Namespace) -> int:
    from delegtop.protocols.standard.agent_files.agent_file_rules import AGENT_RULES, judge
    from delegtop.protocols.standard.agent_files.cycle_rules import with_neighbours
    from delegtop.report.check_report import at_least

    fail_on = finding_options.fail_on(arguments)
    rules = finding_options.wanted(arguments, AGENT_RULES, "rule for agent files", "docs/lint.md lists them")
    by = options.load(arguments).settings.policy().reading
    paths, empty = _files(arguments.paths)
    unread = {str(path): "no agent files in it: neither agent/**/*.md nor agents/**/*.md" for path in empty}
    files: list[AgentFile] = []
    for path in paths:
        try:
            files.append(_read(path))
        except _UnreadableError as error:
            unread[str(path)] = str(error)
    for name, why in unread.items():
        diagnostics.say(f"{name}: {why}")
    judged = {file.path: judge(file, rules, by) for file in with_neighbours(files)}
    findings = [finding for found in judged.values() for finding in found]
    if arguments.json:
        output.emit(_json(files, findings))
    elif form := finding_options.form(arguments):
        output.emit(form(_verdict(judged, unread), AGENT_RULES.values(), fail_on))
    else:
        output.emit(_text(files, findings))
    if unread:
        return Exit.UNREADABLE
    return Exit.FINDINGS if at_least(findings, fail_on) else Exit.OK


def _verdict(judged: "Mapping[str, list[Finding]]", unread: Mapping[str, str]) -> "CheckResult":
    """The files and what was found in them, as reports take it."""
    from delegtop.base.clock import WallClock
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.report.check_report import CheckResult, CheckSubject

    sources = [SourceStatus(path, "agent-file", records=1, unreadable=0, status="live") for path in judged]
    sources += [
        SourceStatus(path, None, records=0, unreadable=1, status="unreadable", detail=why)
        for path, why in unread.items()
    ]
    subjects = [
        CheckSubject(each.path, each.path, each.path, None, tuple(judged.get(each.path, ()))) for each in sources
    ]
    return CheckResult(WallClock().now(), sources, subjects)


def _files(named: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """The files to read, each once, and the folders without one. What is no folder is a file, and told if missing."""
    found: dict[Path, None] = {}
    empty = []
    for path in map(Path, named):
        agents = list(_agents_in(path)) if _is_folder(path) else [path]
        found |= dict.fromkeys(agents)
        if not agents:
            empty.append(path)
    return list(found), empty


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # ValueError: a zero byte in the name
        return False


def _agents_in(folder: Path) -> Iterator[Path]:
    """Its agent files. Files named README explain the folder and define no agent."""
    whole = folder.resolve()
    inside = _leads_to_agents(whole.parts) or whole.name in (*FOLDERS, *COMMANDS)
    for path in sorted(folder.rglob("*.md")):
        if path.stem.lower() == "readme" or not path.is_file():
            continue
        inner = path.relative_to(folder).parts[:-1]
        if inside or any(part in FOLDERS for part in inner) or _leads_to_agents((whole.name, *inner)):
            yield path


def _leads_to_agents(parts: Sequence[str]) -> bool:
    """Whether the path goes through a folder of agents, or one of commands that the delegation guide is meant for."""
    return any(
        (outer.startswith(".") and inner in FOLDERS) or (outer == _GUIDED and inner in COMMANDS)
        for outer, inner in pairwise(parts)
    )


def _read(path: Path) -> "AgentFile":
    from delegtop.protocols.standard.agent_files.agent_file import read

    try:
        data = named_files.read(str(path), _LARGEST + 1)
    except OSError as error:
        raise _UnreadableError(reason_of(error)) from error
    except ValueError as error:  # a zero byte in the name
        raise _UnreadableError("cannot be read") from error
    if len(data) > _LARGEST:
        raise _UnreadableError(f"larger than {_LARGEST // 1024 // 1024} MiB, which is no agent file")
    try:
        return read(str(path), data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _UnreadableError(f"line {line}: not UTF-8 text") from error


def _text(files: "Sequence[AgentFile]", findings: "Iterable[Finding]") -> Iterator[str]:
    from delegtop.base.text import line

    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.severity] += 1
        place = line(str(finding.evidence[0]))
        yield f"{place}: {finding.rule} {finding.severity} {line(finding.message, _LONGEST)}"
        if finding.advice:
            yield f"    {line(finding.advice, _LONGEST)}"
    if files:
        kinds = Counter(file.kind for file in files)
        told = ", ".join(_many(kind, count) for kind, count in kinds.items())
        found = ", ".join(_many(level, counts[level]) for level in finding_options.LEVELS if counts[level])
        yield f"{told}: {found or 'no findings'}"


def _many(word: str, count: int) -> str:
    return f"{count} {word}" if count == 1 or word in ("info", "unreadable") else f"{count} {word}s"


def _json(files: "Iterable[AgentFile]", findings: "Iterable[Finding]") -> Iterator[str]:
    import json

    sources = [{"path": file.path, "kind": file.kind.value, "lines": file.lines} for file in files]
    told = [
        {
            "rule": finding.rule,
            "severity": finding.severity.value,
            "subject": finding.subject,
            "message": finding.message,
            "evidence": [{"source": origin.source, "line": origin.line} for origin in finding.evidence],
            "advice": finding.advice,
            "command": finding.command,
            "by": finding.by,
        }
        for finding in findings
    ]
    # ASCII, so that printing it to a terminal does nothing
    yield json.dumps({"schema_version": _SCHEMA_VERSION, "sources": sources, "findings": told}, indent=2)
