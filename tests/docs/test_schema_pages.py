"""The reference pages and JSON Schemas are made from the code, and their examples are read by it.

`pytest tests/docs/test_schema_pages.py --update-golden` writes them anew.
"""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Dialect
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Deviation
from delegtop.protocols.standard.contract.registry_model import RegistryEntry
from delegtop.protocols.standard.dialects.registry_snapshot import Registry
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.protocols.standard.dialects.session_log_lines import Entry as LogEntry
from delegtop.sources.records import Line, Unreadable

Json = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
COMMON = ("event", "at", "session_id", "schema_version")
_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def session_log_schema() -> Json:
    return {
        "$schema": DRAFT,
        "$id": "urn:delegtop:session-log:1",
        "title": "delegtop session log, version 1: one line",
        **msgspec.json.schema(LogEntry),
    }


def registry_schema() -> Json:
    entry = RegistryEntry.model_json_schema()
    return {
        "$schema": DRAFT,
        "$id": "urn:delegtop:registry:1",
        "title": "orchestrator registry snapshot, version 1",
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Entry"},
        "$defs": {"Entry": entry},
    }


def words(kind: Json) -> str:
    """A type of JSON Schema, for people."""
    if "$ref" in kind:
        name = str(kind["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(words(each) for each in kind["anyOf"] if each.get("type") != "null")
    if "enum" in kind or "const" in kind:
        return " or ".join(f"`{json.dumps(each)}`" for each in kind.get("enum", [kind.get("const")]))
    if kind["type"] == "array":
        return f"list of {words(kind['items'])}"
    if kind.get("format") == "date-time":
        return "time"
    return _WORDS[kind["type"]]


def table(definition: Json, leave_out: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> str:
    required = definition.get("required", [])
    names = only or [name for name in definition["properties"] if name not in leave_out]
    rows = ["| Field | Type | Required | Meaning |", "| --- | --- | --- | --- |"]
    for name in names:
        field = definition["properties"][name]
        need = "yes" if name in required else "no"
        rows.append(f"| `{name}` | {words(field)} | {need} | {field.get('description', 'What happened.')} |")
    return "\n".join(rows) + "\n"


def block(name: str, definitions: Json) -> str:
    if name == "common":
        heartbeat = definitions["Heartbeat"]
        events = {"event": {"type": "string", "description": "What happened: the heading of a section below."}}
        return table(heartbeat | {"properties": heartbeat["properties"] | events}, only=COMMON)
    definition = definitions[name]
    if "event" in definition["properties"]:
        return table(definition, leave_out=COMMON)
    heading = "" if name == "Entry" else f"### {name}\n\n{definition['description']}\n\n"
    return heading + table(definition)


def generated(page: str, definitions: Json) -> str:
    return _BLOCK.sub(lambda match: f"{match[1]}{block(match[2], definitions)}{match[3]}", page)


PAGES = pytest.mark.parametrize(
    ("name", "schema"),
    [("session-log", session_log_schema()), ("registry", registry_schema())],
    ids=["log", "registry"],
)


@PAGES
def test_the_schema_on_disk_is_that_of_the_code(name: str, schema: Json, project: Path, update_golden: bool) -> None:
    path = project / "docs" / "schema" / f"{name}.schema.json"
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if update_golden:
        path.write_text(text)
    assert path.read_text() == text


@PAGES
def test_the_tables_of_the_page_are_those_of_the_code(
    name: str, schema: Json, project: Path, update_golden: bool
) -> None:
    path = project / "docs" / f"{name}.md"
    page = generated(path.read_text(), schema["$defs"])
    if update_golden:
        path.write_text(page)
    assert path.read_text() == page
    shown = {match[2] for match in _BLOCK.finditer(page)}
    assert set(schema["$defs"]) <= shown, "every object of the schema has its table"


@PAGES
def test_every_field_says_what_it_means(name: str, schema: Json) -> None:
    for title, definition in schema["$defs"].items():
        for field, kind in definition["properties"].items():
            assert field == "event" or kind.get("description", "").endswith("."), f"{name}: {title}.{field}"


def examples(page: Path) -> list[str]:
    return re.findall(r"```json\n(.*?)```", page.read_text(), re.DOTALL)


def read(dialect: type[Dialect], text: str) -> list[Any]:
    return list(dialect().read(Line(Origin("example", 1, 0), text.strip().encode(), Millis(1))))


def test_the_examples_of_the_session_log_fit_and_show_every_event(project: Path) -> None:
    texts = examples(project / "docs" / "session-log.md")
    for text in texts:
        (event,) = read(SessionLog, text)
        assert not isinstance(event, Deviation | Unreadable), text
    mapping = session_log_schema()["discriminator"]["mapping"]
    assert {json.loads(text)["event"] for text in texts} == set(mapping)


def test_the_example_of_the_registry_fits(project: Path) -> None:
    (text,) = examples(project / "docs" / "registry.md")
    assert not [each for each in read(Registry, text) if isinstance(each, Deviation | Unreadable)]


def test_every_kind_of_deviation_is_explained(project: Path) -> None:
    page = (project / "docs" / "session-log.md").read_text()
    assert re.findall(r"^\| ([a-z][\w ]+) \| [A-Z]", page, re.MULTILINE) == [kind.value for kind in DeviationKind]


def test_the_example_format_of_the_page_is_the_one_that_is_tested(project: Path) -> None:
    page = (project / "docs" / "add-a-format.md").read_text()
    source = project / "tests" / "example_dialect"
    for language, name in (("python", "delegtop_relay.py"), ("toml", "pyproject.toml")):
        assert f"```{language}\n{(source / name).read_text()}```" in page
