"""What nobody filled in of the standard's templates: `{detailed description}` and its like."""

import re
from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.frontmatter import Value
from delegtop.protocols.standard.agent_files.agent_file import AgentFile
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule
from delegtop.protocols.standard.agent_files.section_rules import SECTIONS
from delegtop.protocols.standard.agent_files.sections import masked

_PLACEHOLDER = re.compile(r"\{[^{}\n\"':=,$|]*[A-Za-z][^{}\n\"':=,$|]*\}")
_ALL = re.compile(rf"(?:{_PLACEHOLDER.pattern})(?:\s*\([^()]*\))?")
"""A text that is nothing else, but for a remark behind it."""
_ATTRIBUTE = re.compile(rf"=[\"']({_PLACEHOLDER.pattern})[\"']")
_TAG = re.compile(r"<[^<>]*>")
_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*+])\s+")
_FIELDS = ("description", "permissions", "context_loading", "delegation", "lifecycle")
"""Where the template of the frontmatter has placeholders that no other rule tells of."""
_ADVICE = "write what it stands for"


@rule(
    "AGT-057",
    "template not filled",
    Severity.WARNING,
    "no placeholder of the template is left",
    "Structure standard, File Structure: its templates have {words in braces} where a file has something of its own. "
    "In the frontmatter, in the title and in attributes any counts, in patterns and in the sections one that is all "
    "there is on its line or between its tags: a path such as specs/{number}_{slug} is meant so, and so is what "
    "<structure> shows of a return.",
)
def filled_in(file: AgentFile) -> Iterator[FileNote]:
    for field in _FIELDS:
        for value, found in _within(file.at(field), field == "permissions"):
            yield value.line, f"`{field}` holds {found}, a placeholder of the template", _ADVICE
    for line, text in enumerate(_lines(file), file.body_line):
        for found in _left(text):
            yield line, f"{found} is left from the template", _ADVICE


def _within(value: Value, is_pattern: bool) -> Iterator[tuple[Value, str]]:
    """The texts in a value of the frontmatter that hold a placeholder; of patterns, those that are one."""
    text = value.string()
    if text is not None and (found := (_ALL.fullmatch if is_pattern else _PLACEHOLDER.search)(text.strip())):
        yield value, found[0]
    for inner in (*value.mapping().values(), *(value.data if isinstance(value.data, tuple) else ())):
        yield from _within(inner, is_pattern)


def _lines(file: AgentFile) -> list[str]:
    """The lines of the body, of which only the title and the sections of the standard are left, without code."""
    text = masked(file.body)
    kept = [False] * len(text)
    for section in file.sections.outermost:
        structure = section.child("structure")
        if section.name in SECTIONS:
            start = text.rfind("<", 0, section.start)
            kept[start : section.end] = [True] * (section.end - start)
        if structure is not None:
            kept[structure.start : structure.end] = [False] * (structure.end - structure.start)
    title = re.match(r"\s*# [^\n]*", text)
    if title:
        kept[: title.end()] = [True] * title.end()
    return "".join(each if keep or each == "\n" else " " for each, keep in zip(text, kept, strict=True)).split("\n")


def _left(line: str) -> Iterator[str]:
    yield from _ATTRIBUTE.findall(line)
    words = _MARK.sub("", _TAG.sub("", line)).strip()
    if words.startswith("# "):
        yield from _PLACEHOLDER.findall(words)
    elif _ALL.fullmatch(words):
        yield words
