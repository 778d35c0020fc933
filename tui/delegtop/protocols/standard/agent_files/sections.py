"""The sections of an agent file's body: `<role>…</role>` and the like, in Markdown that is no XML.

Prose between the tags is full of things that look like tags, such as `/plan <task>`. So a closing tag closes the
nearest open one of its name, what stayed open in between was never a section, and code and comments are not looked at.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_TAG = re.compile(r"<(/?)([A-Za-z_][\w+.-]*)((?:\s[^<>]*)?/?)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+[\"']([^\"']*+)[\"']")
_CODE = re.compile(r"`[^`\n]*`")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True, eq=False, repr=False)
class Section:
    """One pair of tags and what is between them."""

    name: str
    line: int
    attributes: dict[str, str]
    children: tuple["Section", ...]
    body: str
    start: int
    end: int

    @property
    def text(self) -> str:
        # A slice on demand: sections nest, and each keeping its own copy would multiply a long file.
        return self.body[self.start : self.end]

    def child(self, name: str) -> "Section | None":
        return next(self.named(name), None)

    def named(self, name: str) -> Iterator["Section"]:
        return (child for child in self.children if child.name == name)


@dataclass(frozen=True)
class Sections:
    """The outermost sections of a body, and the tags that nothing closes."""

    outermost: tuple[Section, ...] = ()
    unclosed: tuple[tuple[str, int], ...] = ()
    """Name and line of each."""

    def find(self, name: str) -> Section | None:
        return next((section for section in self.outermost if section.name == name), None)


@dataclass
class _Open:
    name: str
    line: int
    attributes: dict[str, str]
    start: int
    children: list[Section] = field(default_factory=list)


def read(body: str, first_line: int = 1) -> Sections:
    """The sections of the body; `first_line` is where it starts in the file."""
    breaks = [match.start() for match in re.finditer("\n", body)]
    root = _Open("", first_line, {}, 0)
    stack = [root]
    names: Counter[str] = Counter()
    unclosed: list[_Open] = []

    for tag in _TAG.finditer(masked(body)):
        closing, name, rest = tag.groups()
        if not closing:
            line = first_line + bisect_right(breaks, tag.start())
            opened = _Open(name, line, dict(_ATTRIBUTE.findall(rest)), tag.end())
            if rest.endswith("/"):
                stack[-1].children.append(_closed(opened, body, tag.end()))
            else:
                stack.append(opened)
                names[name] += 1
        elif names[name]:
            dropped = _unwind(stack, name)
            names.subtract([name, *(each.name for each in dropped)])
            unclosed += dropped
            section = _closed(stack.pop(), body, tag.start())
            stack[-1].children.append(section)
    unclosed += _unwind(stack, root.name)
    return Sections(tuple(root.children), tuple(sorted(((each.name, each.line) for each in unclosed), key=_by_line)))


def _unwind(stack: list[_Open], name: str) -> list[_Open]:
    """Take what is above the nearest `name` off the stack; its sections become those of `name`, in their order."""
    dropped = []
    while stack[-1].name != name:
        dropped.append(stack.pop())
    stack[-1].children += [child for each in reversed(dropped) for child in each.children]
    return dropped


def _by_line(tag: tuple[str, int]) -> int:
    return tag[1]


def _closed(opened: _Open, body: str, end: int) -> Section:
    return Section(opened.name, opened.line, opened.attributes, tuple(opened.children), body, opened.start, end)


def masked(body: str) -> str:
    """The body with code and comments blanked out, every character still in its place."""
    return _CODE.sub(lambda code: " " * len(code.group()), _without_fences(_without_comments(body)))


def _without_comments(body: str) -> str:
    pieces, at = [], 0
    while (start := body.find("<!--", at)) >= 0 and (end := body.find("-->", start)) >= 0:
        pieces += [body[at:start], _blank(body[start : end + 3])]
        at = end + 3
    return "".join([*pieces, body[at:]])


def _without_fences(body: str) -> str:
    lines = body.split("\n")
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            lines[index] = _blank(line)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            lines[index] = _blank(line)
    return "\n".join(lines)


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))
