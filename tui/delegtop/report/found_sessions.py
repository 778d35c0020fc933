"""What `delegtop find` has found.

The structs are also the contract of `--json`: fields are added, never renamed or removed, while `schema_version` is 1.
"""

import json
from collections.abc import Iterator
from datetime import tzinfo
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import moment, parse_time
from delegtop.base.text import line
from delegtop.report.figures import count, span
from delegtop.report.layout import cells, cut
from delegtop.report.tree_json import Time

SCHEMA_VERSION: Literal[1] = 1
Field = Literal["agent", "title", "prompt", "error", "files", "answer"]


class Match(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the words stand, and what stands there."""

    field: Annotated[Field, Meta(description="What of it the words were found in.")]
    text: Annotated[str, Meta(description="The words with what stands around them, on one line, masked.")]


class FoundSession(Struct, frozen=True, forbid_unknown_fields=True):
    """One delegation that has the words; a session of an agent program is one, too."""

    id: str
    session: Annotated[str, Meta(description="The id of the session that it belongs to; its own if it is one.")]
    started_at: Annotated[
        Time | None,
        Meta(description="When it started, else when it was last heard of; null if nothing says when it was."),
    ]
    last_heard_at: Time | None
    took_seconds: Annotated[float | None, Meta(description="From start to end; null if one of them is not known.")]
    state: Annotated[str, Meta(description="How it ended, or its state when it was read.")]
    agent: str
    product: Annotated[str | None, Meta(description="The program; null for the delegation protocol.")]
    project: Annotated[str | None, Meta(description="The folder it worked in.")]
    host: Annotated[str | None, Meta(description="The machine, if it is another than this one.")]
    title: Annotated[str | None, Meta(description="Its work in a few words, else the beginning of its prompt.")]
    matches: Annotated[list[Match], Meta(description="The most telling first; empty if only facts were asked for.")]
    source: Annotated[str | None, Meta(description="The file that tells of it; null if that is gone.")]
    replay: Annotated[str | None, Meta(description="What to type to look at it again; null if its log is gone.")]
    resume: Annotated[
        str | None,
        Meta(description="What opens its session again, if it is not open; null if nothing does, or it is at work."),
    ]


class FoundSessions(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop find --json` prints."""

    schema_version: Literal[1]
    at: Time
    words: Annotated[str, Meta(description="What was looked for.")]
    order: Annotated[Literal["newest", "relevance"], Meta(description="Which comes first.")]
    searched: Annotated[int, Meta(description="Delegations that were looked through.")]
    more: Annotated[bool, Meta(description="Whether there are more than the limit let through.")]
    found: list[FoundSession]


def as_json(found: FoundSessions) -> Iterator[str]:
    """ASCII, so that printing it to a terminal does nothing."""
    yield json.dumps(msgspec.to_builtins(found), indent=2).replace("\x7f", "\\u007f")


def schema() -> str:
    made = msgspec.json.schema(FoundSessions)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"


def lines(found: FoundSessions, width: int | None, zone: tzinfo | None, home: str) -> Iterator[str]:
    """For people: each with when, how it ended, who, where, what, the words, and what opens it."""
    for each in found.found:
        yield from (_cut(told, width) for told in _told(each, zone, home))
        yield ""
    more = ", and there are more (--limit)" if found.more else ""
    yield f"{count(len(found.found), 'delegation')} of {found.searched:,}{more}"


def _told(each: FoundSession, zone: tzinfo | None, home: str) -> Iterator[str]:
    at = parse_time(each.started_at or "")
    when = "–" if at is None else moment(at, zone)
    took = "" if each.took_seconds is None else f" in {span(each.took_seconds)}"
    where = " on ".join(filter(None, (short_path(each.project, home), each.host)))
    yield "  ".join(filter(None, (when, f"{each.state}{took}", line(each.agent, 80), line(where, 200))))
    if each.title:
        yield f"    {line(each.title)}"
    said = {each.title}
    for match in each.matches:
        if match.field != "title" and match.text not in said:
            said.add(match.text)
            yield f"    {match.field:7} {line(match.text)}"
    if each.source is None:
        yield "    its log is gone"
    for command in filter(None, (each.replay, each.resume)):
        yield f"    $ {line(command)}"


def short_path(path: str | None, home: str) -> str:
    """The same from the home folder on, if it lies there."""
    return f"~{path.removeprefix(home)}" if path and home and f"{path}/".startswith(f"{home}/") else path or ""


def _cut(told: str, width: int | None) -> str:
    """A command is never cut: it is there to be typed."""
    return told if width is None or told.startswith("    $ ") or cells(told) <= width else cut(told, width)
