"""A rule about agent definition files: one thing that can be wrong with one, and the function that looks for it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import RuleText
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.sections import Section

FileNote: TypeAlias = tuple[int, str, str]
"""What a rule has to say: the line it is about, what is wrong, and what to do."""
Check: TypeAlias = Callable[[AgentFile], Iterator[FileNote]]


class AgentRule(RuleText, frozen=True):
    """A rule on agent files, and of which kinds of them."""

    check: Check
    kinds: tuple[AgentFileKind, ...]

    def findings(self, file: AgentFile) -> Iterator[Finding]:
        last = max(file.lines, 1)  # what is missing after the last line is told at the last line
        for line, message, advice in self.check(file):
            place = Origin(file.path, min(line, last), 0)
            yield Finding(self.id, self.severity, file.path, sentence(message), (place,), sentence(advice))


def rule(
    id: str,
    name: str,
    severity: Severity,
    title: str,
    why: str,
    kinds: tuple[AgentFileKind, ...] = (AgentFileKind.SUBAGENT,),
) -> Callable[[Check], AgentRule]:
    """Make a rule of the function."""
    return lambda check: AgentRule(id, name, severity, title, why, check, kinds)


def frontmatter_rule(
    id: str,
    name: str,
    severity: Severity,
    title: str,
    why: str,
    advice: Mapping[str, str],
    kinds: tuple[AgentFileKind, ...] = (AgentFileKind.SUBAGENT,),
) -> AgentRule:
    """The rule that tells what the model of the frontmatter calls a breach of it; `advice` says by field what to do."""

    def check(file: AgentFile) -> Iterator[FileNote]:
        for field, what, breached in file.breaches:
            # Of a primary agent only what it does say is judged, besides its name and what it is for.
            spared = file.kind is AgentFileKind.PRIMARY and field not in ("name", "description")
            if breached == id and not (spared and field.split(".")[0] not in file.values):
                told = what.replace("an object", "a mapping")
                yield file.line_of(field), f"`{field}` {told}", _advice(advice, field).format(file=file)

    return rule(id, name, severity, title, why, kinds)(check)


def _advice(by_field: Mapping[str, str], field: str) -> str:
    """That of the field, or of the nearest one around it that has some."""
    inner = re.sub(r"\[\d+\]", "", field)
    while inner not in by_field and "." in inner:
        inner = inner.rpartition(".")[0]
    return by_field.get(inner, next(iter(by_field.values())))


OLDER_NAMES = {"return_format": "output_specification"}
"""What files from before the standard call a section."""


def section_rule(
    section: str, holds: str, id: str, name: str, severity: Severity, title: str, why: str
) -> Callable[[Callable[[Section], Iterator[FileNote]]], AgentRule]:
    """Make a rule of a function that judges a section, which must be there; `holds` is what belongs into it."""

    def made(check: Callable[[Section], Iterator[FileNote]]) -> AgentRule:
        def judge(file: AgentFile) -> Iterator[FileNote]:
            found = file.section(section)
            return check(found) if found else iter((missing(file, section, holds),))

        return rule(id, name, severity, title, why)(judge)

    return made


def lacks(section: Section, parts: Iterable[str]) -> Iterator[FileNote]:
    """The parts that a section of this name should have and has not, in one note, and those that say nothing."""
    absent = []
    for part in parts:
        given = list(section.named(part))
        if not given:
            absent.append(part)
        elif not any(each.text.strip() for each in given):
            yield given[0].line, f"{_label(section)}: <{part}> is empty", f"say in <{part}> what belongs there"
    if absent:
        tags = ", ".join(f"<{part}>" for part in absent)
        yield section.line, f"{_label(section)} has no {tags}", f"add {tags} to it"


def _label(section: Section) -> str:
    title = section.attributes.get("name") or section.attributes.get("type")
    return f"<{section.name}> {title}" if title else f"<{section.name}>"


def plain(text: str) -> str:
    """In small letters, with spaces for hyphens: prose says "status keeper"."""
    return text.lower().replace("-", " ")


def missing(file: AgentFile, name: str, holds: str) -> FileNote:
    """The section is not there, or not where it belongs, or under an older name."""
    for outer in file.sections.outermost:
        if inner := outer.child(name):
            return inner.line, f"<{name}> stands inside <{outer.name}>, not by itself", f"move it out of <{outer.name}>"
    if older := file.section(OLDER_NAMES.get(name, "")):
        message = f"there is no <{name}> section, but <{older.name}>"
        return older.line, message, f"call it <{name}> and give it {holds}"
    return file.body_line, f"there is no <{name}> section", f"add <{name}>…</{name}> with {holds}"


def sentence(words: str) -> str:
    """The words with a capital, unless they begin with a key or a tag, and a full stop."""
    first = words.split(maxsplit=1)[0] if words else ""
    if first.rstrip(",:").isalpha():
        words = words[0].upper() + words[1:]
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."
