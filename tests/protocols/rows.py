"""The rows of the protocols: what each sentence of the documents asks for, and where it is kept and shown."""

import re
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ORDER = ("return_format", "structure", "delegation", "hyper", "cleo")
DOCUMENTS: dict[str, dict[str, Any]] = {
    name: tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")) for name in ORDER
}
CONTRADICTIONS: list[dict[str, Any]] = tomllib.loads((FOLDER / "contradictions.toml").read_text("utf-8"))[
    "contradiction"
]
ROWS = [(name, row) for name, document in DOCUMENTS.items() for row in document["row"]]
RULE = re.compile(r"[A-Z]{3}-\d{3}")
BREACHES = [(name, row, breach) for name, row in ROWS for breach in row.get("breaks", ())]


def sentence(row: dict[str, Any]) -> str:
    """Where it stands in its document, and how it begins."""
    return f"{row['lines']} {row['asks'][:40]}"


def rules(row: dict[str, Any]) -> list[str]:
    """The rules that a row names; all else that it names is a behaviour."""
    return [place for place in row["where"] if RULE.fullmatch(place)]


def rule_of(row: dict[str, Any], breach: dict[str, Any]) -> str:
    """The rule that must tell of the breach."""
    if "finds" in breach:
        return str(breach["finds"])
    (rule,) = rules(row)
    return rule
