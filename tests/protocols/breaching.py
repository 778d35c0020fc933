"""Breaking a good input as a row of the protocols says, and having it judged as a user would.

A row of `tests/protocols/*.toml` has `breaks`, a list of breaches, or `no_input`, the reason why no input can show it.
A breach is an inline table:

    { in = "return", set = { "metadata.delegation_depth" = 4 }, finds = "DEL-004" }

`in`       the good input that is broken, by its name in `good_inputs.py`
`set`      fields and what they become: `artifacts[0].path`; in a file of lines the first part is the line: `[1].at`
`drop`     fields that are taken out
`replace`  texts and what they become, each of which stands there once; also in JSON as it is written
`append`   a text at the end of the file
`file`     the file that is broken, if it is not the first; with `set = { "" = … }` or `drop = [""]` the whole of it
`options`  more that `delegtop check` or `lint` is told
`finds`    the rule that must tell it; the only one that the row names if none is said
`at`       the field on whose line the finding must stand: one of those that are set or within it, or the object that
           lacks what is dropped, if none is said; in a file of text, what stands on that line, where it first does;
           a number for that line
`told_in`  the file that the finding must stand in, if it is not the broken one
`says`     words that its message must have
`mild`     why it is only mentioned (info), though a document asks for it; a row may say it for all its breaches

Every breach says where its finding stands, and every one that is not mild is an error or a warning.
"""

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.protocols.good_inputs import GOOD, Content, GoodInput

from delegtop.cli import main

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_BEGIN, _END = "<!-- AGENT_OUTPUT_START -->\n```json\n", "\n```\n<!-- AGENT_OUTPUT_END -->\n"


@dataclass(frozen=True)
class Told:
    """A finding, as `--json` has it."""

    rule: str
    severity: str
    message: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Broken:
    """An input with a breach, and the lines on which a finding may stand."""

    files: dict[str, str]
    file: str
    """The one that the finding must stand in."""
    lines: tuple[int, ...]


def parts(field: str) -> list[int | str]:
    return [int(index) if index else name for index, name in _PART.findall(field)]


def value_at(content: Content, field: str) -> Any:
    found: Any = content
    for part in parts(field):
        found = found[part]
    return found


def changed(content: Content, field: str, value: Any = ...) -> Content:
    """The content with the field set, or taken out if no value is given."""
    if not field:
        return value  # type: ignore[no-any-return] # a whole file
    made: Content = json.loads(json.dumps(content))  # a copy in which no object stands at two places
    *above, last = parts(field)
    inner: Any = made
    for part in above:
        inner = inner[part]
    if value is ...:
        del inner[last]
    elif isinstance(last, int) and last == len(inner):
        inner.append(value)
    else:
        inner[last] = value
    return made


def written(name: str, content: Content) -> str:
    """The text of a file."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(each if isinstance(each, str) else json.dumps(each) + "\n" for each in content)
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return f"{_BEGIN}{text}{_END}" if name.endswith(".md") else f"{text}\n"


def lines_of(name: str, content: Content) -> dict[str, int]:
    """The line that each field stands on."""
    if isinstance(content, str):
        return {}
    if isinstance(content, list):
        inner = {f"[{index}]{field}": index + 1 for index, each in enumerate(content) for field in _fields(each)}
        return inner | {"": 1}
    found: dict[str, int] = {}
    _walk(content, "", 1 + _BEGIN.count("\n") * name.endswith(".md"), found)
    return found


def _fields(value: Any) -> Iterator[str]:
    found: dict[str, int] = {}
    _walk(value, "", 1, found)
    return (field if not field or field.startswith("[") else f".{field}" for field in found)


def _walk(value: Any, field: str, line: int, found: dict[str, int]) -> int:
    """Notes the lines of a value as `json.dumps(indent=2)` writes it; gives its last line."""
    found[field] = line
    inner = (
        [(f"{field}.{key}" if field else key, each) for key, each in value.items()]
        if isinstance(value, dict)
        else [(f"{field}[{index}]", each) for index, each in enumerate(value)]
        if isinstance(value, list)
        else []
    )
    for name, each in inner:
        line = _walk(each, name, line + 1, found)
    return line + 1 if inner else line


def above(field: str) -> str:
    """The object or list around a field."""
    return field[: max(field.rfind("."), field.rfind("["), 0)]


def broken(breach: dict[str, Any]) -> Broken:
    """The files of the input, with the breach."""
    good = GOOD[breach["in"]]
    first = next(iter(good.files))
    file = breach.get("file", first)
    contents: dict[str, Content] = {file: good.files.get(file, ""), **good.files}
    contents = {file: contents.pop(file), **contents}
    if breach.get("drop") == [""]:
        del contents[file]
    else:
        for field, value in breach.get("set", {}).items():
            contents[file] = changed(contents[file], field, value)
        for field in breach.get("drop", ()):
            contents[file] = changed(contents[file], field)
    texts = {name: written(name, content) for name, content in contents.items()}
    line = None
    for old, new in breach.get("replace", {}).items():
        text = texts[file]
        assert text.count(old) == 1, f"{old!r} stands in {file} {text.count(old)} times"
        line = 1 + text.count("\n", 0, text.index(old))
        texts[file] = text.replace(old, new)
    if "append" in breach:
        texts[file] += breach["append"]
    told_in = breach.get("told_in", file)
    return Broken(texts, told_in, _expected(breach, contents[told_in], told_in, texts[told_in], line))


def _expected(breach: dict[str, Any], content: Content, file: str, text: str, replaced: int | None) -> tuple[int, ...]:
    """The lines that a finding may stand on."""
    at, lines = breach.get("at"), lines_of(file, content)
    if isinstance(at, int):
        return (at,)
    if at is not None and isinstance(content, str):
        assert at in text, f"{at!r} does not stand in {file}"
        return (1 + text.count("\n", 0, text.index(at)),)
    fields = [at] if at is not None else list(breach.get("set", ())) or [above(each) for each in breach.get("drop", ())]
    if not fields:
        assert replaced is not None, "it is not said where the finding stands"
        return (replaced,)
    assert lines, "it is not said where the finding stands"
    within = {name for name in lines for field in breach.get("set", ()) if name.startswith((f"{field}.", f"{field}["))}
    return tuple(line for field in (*fields, *(within if at is None else ())) for line in accepted_lines(field, lines))


def accepted_lines(field: str, lines: dict[str, int]) -> tuple[int, ...]:
    """The lines that a finding on a field may stand on: its own, or that of the object that lacks it; for an item of a
    list also the list's."""
    while field not in lines:  # an item that was put at the end, or a key that is no name
        field = above(field)
    return (lines[field], lines[above(field)]) if field.endswith("]") and above(field) else (lines[field],)


def judged(folder: Path, good: GoodInput, files: dict[str, str], options: tuple[str, ...] = ()) -> list[Told]:
    """What `delegtop check` or `lint` says of the files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    said, complaints = io.StringIO(), io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaints):
            main([good.command, *good.named, "--json", *good.options, *options])
    finally:
        os.chdir(here)
    assert said.getvalue(), complaints.getvalue()
    told = json.loads(said.getvalue())
    return [
        Told(
            each["rule"],
            each["severity"],
            each["message"],
            tuple((place["source"], place["line"]) for place in each["evidence"]),
        )
        for each in told["findings"]
    ]


def told_of(breach: dict[str, Any], folder: Path) -> tuple[Broken, list[Told]]:
    made, good = broken(breach), GOOD[breach["in"]]
    return made, judged(folder, good, made.files, tuple(breach.get("options", ())))


def fits(breach: dict[str, Any], rule: str, made: Broken, told: Told) -> bool:
    """Whether the finding is the one that the breach asks for."""
    if told.rule != rule or breach.get("says", "") not in told.message:
        return False
    return any(file == made.file and line in made.lines for file, line in told.places)
