"""The model of an entry and the rules on entries say the same: each field is spoilt in every way, and `check` asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.protocols.cleo.manifest_contract import FIELDS, FIRST
from delegtop.protocols.cleo.manifest_model import ManifestEntryModel
from delegtop.protocols.contract_model import breaches

ENTRY: dict[str, Any] = {
    "id": "cache-layers-2026-02-03",
    "file": "2026-02-03_cache-layers.md",
    "title": "Cache layers",
    "date": "2026-02-03",
    "status": "complete",
    "topics": ["cache"],
    "key_findings": ["Two caches overlap.", "The outer one is never hit.", "Its size is not bounded."],
    "actionable": True,
    "needs_followup": [],
    "linked_tasks": ["T200", "T201"],
}
OTHER_TYPES: list[Any] = [
    *(None, 5, 1.5, True, "", "  ", "text"),
    *([], ["x"], ["x"] * 9, [1, 2, 3], ["", "a", "b"], [None, "a", "b"], [[]] * 3, ["It is so. It is not."] * 3),
    *({}, {"a": 1}),
]
OTHER_VALUES: dict[str, list[Any]] = {
    "id": ["x", "cache layers-2026-02-03", "cache-2026-02-04", "ä-2026-02-03"],
    "file": ["cache.md", "/x/2026-02-03_cache-layers.md", "2026-02-03_other.md", "2026-02-04_cache-layers.md"],
    "date": ["2026-13-40", "2026-02-30", "3 Feb", "2026-02-03T10:00:00Z"],
    "status": ["completed", "failed", "COMPLETE", "partial", "blocked"],
    "key_findings": [["a", "b"], ["a"] * 8, ["It uses HTTP. Replace it.", "b", "c"]],
    "linked_tasks": [[], [""]],
}
ASIDE = {"OUT-001", "OUT-121", "OUT-131"}
"""What the model says nothing of: files, other entries, and what is left to do."""


def broken() -> list[dict[str, Any]]:
    """The entry without each of its fields, and with each of them spoilt."""
    spoilt = [{name: value for name, value in ENTRY.items() if name != field} for field in FIELDS]
    spoilt += [{**ENTRY, field: value} for field in FIELDS for value in (*OTHER_TYPES, *OTHER_VALUES.get(field, ()))]
    return list({json.dumps(entry): entry for entry in spoilt if entry != ENTRY}.values())


def test_a_good_entry_keeps_to_the_model() -> None:
    assert tuple(ENTRY) == tuple(ManifestEntryModel.model_fields) == FIRST.required
    assert not breaches(ManifestEntryModel, ENTRY)


def test_the_rules_tell_every_breach_of_the_model_at_its_line_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = broken()
    path = tmp_path / "MANIFEST.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [ENTRY, *entries]))
    main(["check", str(path), "--json"])
    told: dict[int, set[str]] = {}
    for finding in json.loads(capsys.readouterr().out)["findings"]:
        for place in finding["evidence"]:
            told.setdefault(place["line"], set()).add(finding["rule"])
    apart = []
    for line, entry in enumerate(entries, start=2):
        rules = {rule for rule in told.get(line, set()) if rule.startswith("OUT-")} - ASIDE
        asked = {breach.rule for breach in breaches(ManifestEntryModel, entry)}
        if not asked <= rules or bool(rules) != bool(asked):
            apart.append((entry, sorted(rules), sorted(map(str, asked))))
    assert len(entries) > 180
    assert not apart
