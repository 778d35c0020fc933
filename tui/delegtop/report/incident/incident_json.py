"""The incident as JSON, and the schema of it."""

import json
from collections.abc import Iterator

import msgspec

from delegtop.report.incident.incident_report import Incident


def lines(incident: Incident) -> Iterator[str]:
    """The document. Everything but ASCII is escaped, so that printing it to a terminal does nothing."""
    yield json.dumps(msgspec.to_builtins(incident), indent=2).replace("\x7f", "\\u007f")


def schema() -> str:
    made = msgspec.json.schema(Incident)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(made, indent=2) + "\n"
