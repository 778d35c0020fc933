"""Dollars that programs tell against those that their tokens cost by list prices, of logs that have both.

`python -m tests.logs.told_and_estimated FOLDER…` prints the table; docs/cost.md says what is in it and why.
"""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from delegtop.base.clock import parse_time
from delegtop.cli import main
from delegtop.model.prices import PriceBook

_WHOLE = "claude-code"
"""Tells the dollars of a session with all its agents."""


class Told(NamedTuple):
    """One delegation whose dollars are told, and whose tokens are."""

    source: str
    product: str
    models: tuple[str, ...]
    told: float
    estimated: float


def both(folder: str) -> Iterator[Told]:
    """All of a folder that have both."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["tree", folder, "--json"])
    nodes = json.loads(out.getvalue())["delegations"]
    children: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        children.setdefault(node["parent"] or "", []).append(node)
    for node in nodes:
        if not node["cost"] or node["cost_estimated"]:
            continue
        parts = [node, *_below(node, children)] if node["product"] == _WHOLE else [node]
        sums = [_priced(part) for part in parts if part["usage"]]
        if sums and None not in sums:
            models = tuple(sorted({used["model"] for part in parts for used in part["usage"]}))
            yield Told(node["source"], node["product"], models, node["cost"], sum(filter(None, sums)))


def _below(node: dict[str, Any], children: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for child in children.get(node["id"], ()):
        yield child
        yield from _below(child, children)


def _priced(node: dict[str, Any]) -> float | None:
    at = parse_time(node["started_at"]) if node["started_at"] else None
    return PriceBook().cost((_account(used) for used in node["usage"]), at)


def _account(used: dict[str, Any]) -> Any:
    counts = (used[name] for name in ("input", "output", "cache_read", "cache_write", "cache_write_1h"))
    return (used["model"], used["over"], used["fast"]), tuple(counts)


def table(found: list[Told]) -> Iterator[str]:
    for each in sorted(found, key=lambda each: (each.product, each.estimated / each.told)):
        name = each.source[-70:]
        ratio = each.estimated / each.told
        models = ", ".join(each.models)
        yield f"{each.product:<12} {each.told:10.4f} {each.estimated:10.4f} {ratio:7.3f}  {models}  {name}"


if __name__ == "__main__":
    sys.stdout.write("program            told  estimated   ratio  models, source\n")
    sys.stdout.write("".join(f"{line}\n" for line in table([told for folder in sys.argv[1:] for told in both(folder)])))
