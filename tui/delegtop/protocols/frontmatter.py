"""The frontmatter of a Markdown file: the YAML between two lines of `---`, read without what makes YAML dangerous.

Aliases and anchors are refused (a few of them can stand for gigabytes), size and depth are limited, tags make no
objects, and every value knows its line. Values keep the text they were written as, so that a message can quote it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

MAX_SIZE = 64 * 1024
MAX_DEPTH = 16

_FENCE = "---"
_QUOTE = 60
_START = "start the file with a line of ---, keys like `name: planner`, and a closing line of ---"
_QUOTING = "indent with spaces, and put text in quotes that holds a colon, a # or starts with a bracket"
_WRITE_OUT = "write the value out in each place where it is used"
_PLAIN = "write a plain value: text, a number, true or false, a list or a mapping"
_TRUE = ("true", "yes", "on")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_TAG = "tag:yaml.org,2002:"
_MOST_EVENTS = 4_000
_NOTHING = ("", "~", "null")
_END: Any = object()


class AgentFileError(ValueError):
    """The frontmatter cannot be read; `line` counts from the first line of the file, `advice` says what to do."""

    def __init__(self, message: str, line: int, advice: str) -> None:
        super().__init__(message)
        self.line, self.advice = line, advice


Data: TypeAlias = "bool | int | float | str | tuple[Value, ...] | dict[str, Value] | None"


@dataclass(frozen=True)
class Value:
    """One value of the frontmatter. The readings below are None where the value is of another kind."""

    data: Data
    line: int
    text: str = ""
    """A scalar as it was written, without its quotes."""

    def string(self) -> str | None:
        """Any scalar as text: `7.0` is a fine name for a version, if a wrong one."""
        return self.text if self.data is not None and not isinstance(self.data, dict | tuple) else None

    def integer(self) -> int | None:
        return self.data if isinstance(self.data, int) and not isinstance(self.data, bool) else None

    def number(self) -> float | None:
        return self.data if isinstance(self.data, int | float) and not isinstance(self.data, bool) else None

    def strings(self) -> tuple[str, ...] | None:
        if not isinstance(self.data, tuple):
            return None
        texts = [item.string() for item in self.data]
        return tuple(text for text in texts if text is not None) if all(text is not None for text in texts) else None

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.data, dict)

    def mapping(self) -> "dict[str, Value]":
        return self.data if isinstance(self.data, dict) else {}

    def plain(self) -> Any:
        """As Python has it, without keys that have no value."""
        if isinstance(self.data, dict):
            return {key: each.plain() for key, each in self.data.items() if each.data is not None}
        return [each.plain() for each in self.data] if isinstance(self.data, tuple) else self.data

    def shown(self) -> str:
        """How a message quotes it."""
        if isinstance(self.data, dict):
            return "a mapping"
        if isinstance(self.data, tuple):
            return "a list"
        return (self.text if len(self.text) <= _QUOTE else self.text[:_QUOTE] + "…") or "empty"


def split(text: str) -> tuple[str, str, int]:
    """The frontmatter, the body, and the line the body starts on."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise AgentFileError("no frontmatter: the first line is not ---", 1, _START)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), number + 2
    raise AgentFileError("the frontmatter is never closed", 1, "add a line of --- after its last key")


def read(text: str, first_line: int = 2) -> dict[str, Value]:
    """The mapping that the YAML is; `first_line` is where it starts in the file."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_SIZE:
        message = f"the frontmatter is larger than {MAX_SIZE // 1024} KiB"
        raise AgentFileError(message, first_line, "move what is not about the agent itself below it")
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _RefusedError as refused:
        raise AgentFileError(refused.what, first_line + refused.line, refused.advice) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = "bad YAML: " + ", ".join(part for part in (error.context, error.problem) if part)
        raise AgentFileError(problem, first_line + (mark.line if mark else 0), _QUOTING) from None
    except yaml.reader.ReaderError as error:
        message = f"bad YAML: character U+{ord(text[error.position]):04X} is not allowed in it"
        line = first_line + text.count("\n", 0, error.position)
        raise AgentFileError(message, line, "take the character out") from None
    if node is None:
        raise AgentFileError("the frontmatter is empty", first_line - 1, _START)
    if not isinstance(node, yaml.MappingNode):
        raise AgentFileError("the frontmatter is not a mapping of keys to values", first_line, _START)
    return _value(node, first_line).mapping()


def quickly(text: str) -> Any:
    """A short piece of YAML as lists, mappings and texts, none of which knows its line: fifteen times as fast where
    PyYAML has libyaml, for what is read whenever it changes."""
    try:
        return _next(_events(text), 0)
    except yaml.YAMLError as error:
        raise AgentFileError(f"bad YAML: {getattr(error, 'problem', None) or error}", 1, _QUOTING) from None


def _events(text: str) -> Iterator[yaml.Event]:
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    for number, event in enumerate(yaml.parse(text, Loader=loader)):
        if number > _MOST_EVENTS:
            raise AgentFileError("it has too many parts", 1, "make it shorter")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise AgentFileError("aliases, anchors and tags are refused", 1, _WRITE_OUT)
        if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            yield event


def _next(events: Iterator[yaml.Event], depth: int) -> Any:
    """The next value, or `_END`. Every value that begins also ends, so that there always is one."""
    event = next(events)
    if depth > MAX_DEPTH:
        raise AgentFileError(f"it is nested deeper than {MAX_DEPTH} levels", 1, "make it flatter")
    if isinstance(event, yaml.ScalarEvent):
        return None if event.implicit[0] and event.value in _NOTHING else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        return list(iter(lambda: _next(events, depth + 1), _END))
    if isinstance(event, yaml.MappingStartEvent):
        return dict(iter(lambda: _pair(events, depth), _END))
    return _END


def _pair(events: Iterator[yaml.Event], depth: int) -> Any:
    key = _next(events, depth + 1)
    if key is _END:
        return _END
    if not isinstance(key, str):
        raise AgentFileError("a key is a list or a mapping, not a word", 1, _PLAIN)
    return key, _next(events, depth + 1)


class _RefusedError(Exception):
    """YAML that is well-formed but not read here."""

    def __init__(self, what: str, line: int, advice: str) -> None:
        super().__init__(what)
        self.what, self.line, self.advice = what, line, advice


class _Loader(yaml.SafeLoader):
    """The composer of PyYAML, stopped before it follows an alias or goes too deep."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError(f"the alias *{event.anchor} is refused", line, _WRITE_OUT)
        if event.anchor is not None:
            raise _RefusedError(f"the anchor &{event.anchor} is refused", line, _WRITE_OUT)
        if self.depth == MAX_DEPTH:
            raise _RefusedError(f"the frontmatter is nested deeper than {MAX_DEPTH} levels", line, "make it flatter")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _value(node: yaml.Node, first_line: int) -> Value:
    line = first_line + node.start_mark.line
    kind = node.tag.removeprefix(_TAG)
    if isinstance(node, yaml.ScalarNode):
        return Value(_scalar(kind, node.value, line), line, node.value)
    if kind not in ("map", "seq"):
        raise AgentFileError(f"the tag {_tag(kind)} is refused", line, _PLAIN)
    if isinstance(node, yaml.MappingNode):
        return Value(_mapping(node, first_line), line)
    return Value(tuple(_value(item, first_line) for item in node.value), line)


def _mapping(node: yaml.MappingNode, first_line: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, item in node.value:
        line = first_line + key.start_mark.line
        if not isinstance(key, yaml.ScalarNode):
            raise AgentFileError("a key is a list or a mapping, not a word", line, _PLAIN)
        if key.value in values:
            message = f"the key {key.value} stands twice, first on line {values[key.value].line}"
            raise AgentFileError(message, line, "keep one of the two")
        value = _value(item, first_line)
        values[key.value] = Value(value.data, line, value.text)
    return values


def _scalar(kind: str, text: str, line: int) -> bool | int | float | str | None:
    """Plain decimal numbers, booleans and text. What YAML 1.1 knows beyond that (`1:30`, dates) stays text."""
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in _TRUE
    if kind == "int" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "float":
        try:
            return float(text)
        except ValueError:
            return text
    if kind in ("str", "int", "timestamp", "merge", "value"):
        return text
    raise AgentFileError(f"the tag {_tag(kind)} is refused", line, _PLAIN)


def _tag(kind: str) -> str:
    return kind if kind.startswith("!") else f"!!{kind}"
