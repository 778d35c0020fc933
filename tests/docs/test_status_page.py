"""The page of the status line tells its fields, places and JSON as they are."""

import json
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct
from tests.homes import operators_home

from delegtop.base.clock import WallClock
from delegtop.cli import main
from delegtop.report.status import status_file
from delegtop.report.status.machine_status import URGENCIES
from delegtop.report.status.status_json import VERSION
from delegtop.report.status.status_places import PLACES
from delegtop.report.status.status_words import FIELDS

PAGE = Path(__file__).parents[2] / "docs" / "status.md"
SCHEMA = PAGE.parent / "schema" / "status.schema.json"


class Problem(Struct, frozen=True, forbid_unknown_fields=True):
    """What to look at first."""

    id: Annotated[str, Meta(description="The id of the delegation.")]
    name: Annotated[str, Meta(description="What to call it.")]
    project: Annotated[str, Meta(description="What its folder is called; may be empty.")]
    state: Annotated[str, Meta(description="Its state.")]
    urgency: Annotated[
        Literal["stuck", "person", "just ended", "suspicious"], Meta(description="How soon somebody should look.")
    ]
    kind: Annotated[str, Meta(description="What is the matter, in the words of the dashboard.")]
    short: Annotated[str, Meta(description="The same in at most 20 characters.")]
    tool: Annotated[str, Meta(description="The tool it stands still in; may be empty.")]
    sure: Annotated[bool, Meta(description="Whether that is at least likely.")]
    since: Annotated[str | None, Meta(description="Since when.")]
    holds_up: Annotated[int, Meta(description="How many wait for it.")]
    sentence: Annotated[str, Meta(description="What is the matter, in a sentence, as it read `at` that moment.")]
    host: Annotated[str, Meta(description="The machine it is on, where several are looked at; else empty.")]


class Count(Struct, frozen=True, forbid_unknown_fields=True):
    """Some delegations, counted."""

    states: Annotated[dict[str, int], Meta(description="How many are in which state, but for those that are done.")]
    quiet: Annotated[int, Meta(description="How many of the silent ones are no problem.")]
    problems: Annotated[int, Meta(description="How many problems there are now.")]
    exit_code: Annotated[Literal[0, 1, 3], Meta(description="What they mean to a script.")]
    first: Annotated[Problem | None, Meta(description="What to look at first.")]


class Session(Struct, frozen=True, forbid_unknown_fields=True):
    """One tree that is not all over."""

    id: Annotated[str, Meta(description="The id of the session.")]
    also: Annotated[list[str], Meta(description="Foreign ids by which it is known, too.")]
    product: Annotated[str, Meta(description="The program whose files tell of it; may be empty.")]
    name: Annotated[str, Meta(description="What to call it.")]
    folder: Annotated[str, Meta(description="Where it works; may be empty.")]
    project: Annotated[str, Meta(description="What that folder is called; may be empty.")]
    tally: Annotated[Count, Meta(description="It and all below it, counted; the fields are those of the whole.")]
    host: Annotated[str, Meta(description="The machine it is on, where several are looked at; else empty.")]


class Unread(Struct, frozen=True, forbid_unknown_fields=True):
    """A file or folder of logs that cannot be read: agents that it tells of may be missing, or seem silent."""

    path: Annotated[str, Meta(description="Which.")]
    why: Annotated[str, Meta(description="Why not, such as `permission denied`.")]


class Kept(Count, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file holds."""

    schema_version: Annotated[Literal[1], Meta(description="1.")]
    at: Annotated[str, Meta(description="When somebody looked.")]
    by: Annotated[str, Meta(description="What looked: `dashboard`, `watch` or `status`.")]
    cost_ms: Annotated[int, Meta(description="Milliseconds of the processor spent on reading the logs for this alone.")]
    sessions: Annotated[list[Session], Meta(description="Those that are not all over, the most pressing first.")]
    sessions_left_out: Annotated[int, Meta(description="Sessions that are counted and not listed.")]
    unread: Annotated[list[Unread], Meta(description="What of the logs cannot be read: `path` and `why`; 20 at most.")]


class Status(Kept, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `delegtop status --json` prints if anybody knows how things stand."""

    known: Annotated[Literal[True], Meta(description="True; false if nobody knows, and then the rest is missing.")]
    is_old: Annotated[bool, Meta(description="Whether that is too long ago to be taken for now.")]
    age_ms: Annotated[int, Meta(description="How long ago that is, in milliseconds.")]
    settings_error: Annotated[
        None, Meta(description="Why the settings will not do, and then nobody knows how things stand; else null.")
    ]


class Unknown(Struct, frozen=True, forbid_unknown_fields=True):
    """What it prints if nobody does."""

    schema_version: Literal[1]
    known: Literal[False]
    is_old: Literal[False]
    age_ms: None
    settings_error: Annotated[str | None, Meta(description="Why the settings will not do, if that is why.")]


def fields() -> str:
    rows = "".join(f"| `{{{name}}}` | {what} |\n" for name, what in FIELDS.items())
    return f"| field | what stands in its place |\n| --- | --- |\n{rows}"


def places() -> str:
    rows = "".join(f"| `{name}` | {place.what} |\n" for name, place in PLACES.items())
    return f"| PLACE | where |\n| --- | --- |\n{rows}"


def table(struct: type[Struct]) -> str:
    told = msgspec.json.schema(struct)["$defs"][struct.__name__]["properties"]
    rows = "".join(f"| `{name}` | {what.get('description', '')} |\n" for name, what in told.items())
    return f"| field | what it is |\n| --- | --- |\n{rows}"


def contract() -> str:
    parts = (("", Status), ("`first`:\n\n", Problem), ("Each of `sessions`:\n\n", Session))
    return "\n".join(f"{words}{table(struct)}" for words, struct in parts)


def schema() -> str:
    (one, two), parts = msgspec.json.schema_components([Status, Unknown])
    told = {"$schema": "https://json-schema.org/draft/2020-12/schema", "anyOf": [one, two], "$defs": parts}
    whole = json.dumps(told, indent=2)
    return whole.replace("#/components/schemas/", "#/$defs/") + "\n"


def test_the_tables_are_those_of_the_program(update_golden: bool) -> None:
    for part, made in (("fields", fields()), ("places", places()), ("json", contract())):
        begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
        before, rest = PAGE.read_text("utf-8").split(begin)
        if update_golden:
            PAGE.write_text(before + begin + made + end + rest.split(end)[1], "utf-8")
        assert PAGE.read_text("utf-8").split(begin)[1].split(end)[0] == made


def test_the_schema_on_file_is_that_of_what_is_printed(update_golden: bool) -> None:
    if update_golden:
        SCHEMA.write_text(schema(), "utf-8")
    assert SCHEMA.read_text("utf-8") == schema()
    assert VERSION == 1
    assert re.findall(r"Literal\[(.*?)\]", str(Problem.__annotations__["urgency"])) == [str(list(URGENCIES))[1:-1]]


def test_what_is_printed_is_what_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    operators_home(Path.home(), WallClock().now())
    main(["status", "--json"])
    told = msgspec.json.decode(capsys.readouterr().out, type=Status)
    assert (told.problems, told.exit_code, len(told.sessions)) == (1, 3, 4)
    msgspec.json.decode(status_file.place().read_bytes(), type=Kept)
    main(["status", "--json", "--session", "a0000001"])
    assert len(msgspec.json.decode(capsys.readouterr().out, type=Status).sessions) == 1
    main(["status", "--json", "--session", "0badcafe"])
    assert msgspec.json.decode(capsys.readouterr().out, type=Unknown).known is False
