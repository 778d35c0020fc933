"""Findings as JSON: a stable contract. Fields are added, never renamed or removed, while `schema_version` is 1.

The structs below are the contract; `docs/schema/check.schema.json` is made from them.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import iso
from delegtop.report.check_report import CheckResult
from delegtop.report.tree_json import Found, Source, Time, array, found_of, source_of, to_json

SCHEMA_VERSION = 1


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegtop check --json` prints."""

    schema_version: Literal[1]
    at: Annotated[Time, Meta(description="The moment the findings are for.")]
    sources: list[Source]
    findings: Annotated[list[Found], Meta(description="By subject, the one with the worst finding first.")]


def lines(verdict: CheckResult) -> Iterator[str]:
    """The document, one finding a line."""
    yield f'{{"schema_version": {SCHEMA_VERSION},'
    yield f' "at": {to_json(iso(verdict.at))},'
    yield from array("sources", (to_json(source_of(source)) for source in verdict.sources), ",")
    yield from array("findings", (to_json(found_of(finding)) for finding in verdict.findings), "}")


def schema() -> str:
    """The JSON Schema of the document."""
    made = msgspec.json.schema(Check)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"
