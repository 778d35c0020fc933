"""The page of notifications tells the ways, the requests, the JSON and the variables as they are."""

import json
import re
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
import pytest
from msgspec import Meta, Struct
from tests.loopback_server import Asked, reply, serving
from tests.patience import PATIENCE

from delegtop.base.clock import MINUTE, Millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.model.states import State
from delegtop.notify.http_post import post
from delegtop.notify.notification import EVENTS, Notification, in_words, summary, trial
from delegtop.notify.outbox import Taken
from delegtop.notify.web_ways import WEB_WAYS
from delegtop.settings import WAYS

PAGE = Path(__file__).parents[2] / "docs" / "notifications.md"
SCHEMA = PAGE.parent / "schema" / "notification.schema.json"
NOW = Millis(1_790_000_000_000)
PATHS = {"ntfy": "/your-topic", "slack": "/services/T0/B0/key", "discord": "/api/webhooks/1/key", "webhook": "/alerts"}


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """What is told, as JSON. What is not known, or makes no sense for the event, is null."""

    schema_version: Annotated[Literal[1], Meta(description="1.")]
    delivery: Annotated[str, Meta(description="A word of its own for each message; the same if it is sent again.")]
    event: Annotated[
        Literal["overdue", "hung", "lost", "failed", "needs-person", "resolved", "done", "summary", "test"],
        Meta(description="Why: a row of the table of events."),
    ]
    at: Annotated[str, Meta(description="When it was noticed.")]
    headline: Annotated[str, Meta(description="Who, and what is the matter, in a few words.")]
    message: Annotated[str, Meta(description="The same in a sentence or two.")]
    todo: Annotated[str | None, Meta(description="What to do.")]
    id: Annotated[str | None, Meta(description="The id of the delegation.")]
    name: Annotated[str | None, Meta(description="What to call it.")]
    title: Annotated[str | None, Meta(description="The work in a few words.")]
    state: Annotated[str | None, Meta(description="Its state.")]
    project: Annotated[str | None, Meta(description="The last part of the folder it works in.")]
    host: Annotated[str | None, Meta(description="The machine it is on, where several are looked at.")]
    session: Annotated[str | None, Meta(description="The id of the delegation at the top of its tree.")]
    since: Annotated[str | None, Meta(description="Since when it is so; of what is over, since when it was.")]
    was: Annotated[str | None, Meta(description="Of `resolved`, the event that was told last.")]
    seconds: Annotated[int | None, Meta(description="Of `resolved`, how long it was so.")]
    still_open: Annotated[list[str] | None, Meta(description="Of `summary`, the ids of what is still so.")]
    held_back: Annotated[int, Meta(description="How many before it were not told, or did not arrive.")]


VARIABLES = {
    "DELEGTOP_EVENT": "the event",
    "DELEGTOP_ID": "the id of the delegation; empty for a summary or a test, as what follows",
    "DELEGTOP_STATE": "its state",
    "DELEGTOP_NAME": "what to call it",
    "DELEGTOP_TITLE": "the work in a few words; may be empty",
    "DELEGTOP_MESSAGE": "what there is to say, in a sentence; never empty",
    "DELEGTOP_TODO": "what to do; may be empty",
    "DELEGTOP_PROJECT": "the last part of the folder it works in; may be empty",
    "DELEGTOP_HOST": "the machine it is on, where several are looked at; else empty",
    "DELEGTOP_SESSION": "the id of the delegation at the top of its tree",
    "DELEGTOP_WAS": "of `resolved`, the event that was told last",
    "DELEGTOP_PROBLEM_SINCE": "since when it is so; of `resolved`, since when it was",
    "DELEGTOP_NOTICED_AT": "when it was noticed",
    "DELEGTOP_MORE": "how many alerts before it were held back",
}


def told(cause: Cause = Cause.HUNG) -> Notification:
    return in_words(
        Alert(
            cause,
            0,
            "toolu_01ABC",
            "implementer",
            "Make the parser faster",
            State.SILENT,
            "It has been inside Bash: make check for 12:00: make (pid 4711) waits for the lock held by pid 4702.",
            NOW,
            Millis(NOW - 12 * MINUTE),
            "55061391-9c10-4d23-b53b-5bcf255777e9",
            "/home/ada/webapp",
            todo="Stop only the process of the tool, make (pid 4711).",
            was=Cause.HUNG if cause is Cause.RESOLVED else None,
        )
    )


def asked(name: str) -> Asked:
    """What a server gets by that way."""
    with serving(reply("500 No")) as server:
        way = WEB_WAYS[name].make(server.url + PATHS[name])
        post(way.write(Taken(told(), 0)), way.accepts, PATIENCE)
    return server.asked[0]


def requests() -> str:
    parts = []
    for name in WEB_WAYS:
        got = asked(name)
        body = got.json | ({"delivery": "5f0c9a1e77d0b3c2"} if name == "webhook" else {})
        parts.append(f"`{name}`\n\n```http\n{got.line}\n\n{json.dumps(body, indent=2)}\n```\n")
    return "\n" + "\n".join(parts) + "\n"


def fields() -> str:
    properties = msgspec.json.schema(Message)["$defs"]["Message"]["properties"]
    rows = "".join(f"| `{name}` | {what['description']} |\n" for name, what in properties.items())
    return f"| field | what it is |\n| --- | --- |\n{rows}"


def environment() -> str:
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in VARIABLES.items())
    return f"| variable | what it is |\n| --- | --- |\n{rows}"


def schema() -> str:
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Message)}
    return json.dumps(made, indent=2) + "\n"


def test_what_the_page_shows_is_what_the_program_does(update_golden: bool) -> None:
    for part, made in (("requests", requests()), ("json", fields()), ("environment", environment())):
        begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
        if update_golden:
            before, rest = PAGE.read_text("utf-8").split(begin)
            PAGE.write_text(before + begin + made + end + rest.split(end)[1], "utf-8")
        assert PAGE.read_text("utf-8").split(begin)[1].split(end)[0] == made


def test_the_schema_on_file_is_that_of_what_is_sent(update_golden: bool) -> None:
    if update_golden:
        SCHEMA.write_text(schema(), "utf-8")
    assert SCHEMA.read_text("utf-8") == schema()


@pytest.mark.parametrize(
    "notice",
    [told(), told(Cause.RESOLVED), told(Cause.DONE), summary([told()], "22:00-07:00", NOW), trial(NOW)],
    ids=lambda notice: notice.event,
)
def test_what_is_sent_fits_the_contract(notice: Notification) -> None:
    message = msgspec.json.decode(json.dumps(notice.facts("5f0c9a1e77d0b3c2", 1)), type=Message)
    assert (message.event, message.held_back) == (notice.event, 1)
    assert notice.environment().keys() == VARIABLES.keys()


def rows(heading: str) -> list[str]:
    section = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)


def test_every_way_and_every_event_has_its_row() -> None:
    assert rows("Ways") == list(WAYS)
    assert set(rows("What is told")) == set(EVENTS)
    (events,) = (get_args(hint) for hint in get_args(Message.__annotations__["event"]) if get_args(hint))
    assert set(events) == set(EVENTS)
