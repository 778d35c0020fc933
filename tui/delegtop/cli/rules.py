"""`delegtop rules [ID]`: every rule there is, or one of them explained."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from delegtop.base.near_words import advice
from delegtop.cli import output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.diagnosis.rule import RuleText

DESCRIPTION = "List the rules that findings come from, or explain one of them (docs/rules.md has them all)."
PAGE = "docs/rules.md"
EXAMPLES = {
    "delegtop rules": "all of them",
    "delegtop rules DEL-020": "one explained",
}
_SCHEMA_VERSION = 1
_WIDTH = 100


def add(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="the rule to explain, such as RET-011")
    parser.add_argument("--json", action="store_true", help="print JSON: schema_version and rules[]")


def run(arguments: Namespace) -> int:
    from delegtop.protocols.rule_catalogue import CATALOGUE, CHAPTERS, chapter

    wanted = arguments.id
    if wanted is not None and wanted.upper() not in CATALOGUE:
        fail(f"there is no rule {wanted}; {advice(wanted.upper(), CATALOGUE, '`delegtop rules` lists them')}")
    rules = [each for name in CHAPTERS for each in chapter(name)] if wanted is None else [CATALOGUE[wanted.upper()]]
    if arguments.json:
        output.emit(_json(rules))
    else:
        output.emit(_table(rules) if wanted is None else _explained(rules[0]))
    return Exit.OK


def _table(rules: "list[RuleText]") -> Iterator[str]:
    for rule in rules:
        yield f"{rule.id:<9}{rule.severity:<9}{rule.name:<22}{rule.title}"


def _explained(rule: "RuleText") -> Iterator[str]:
    import textwrap

    yield f"{rule.id}  {rule.severity}  {rule.name}"
    yield f"What must hold: {rule.title}."
    yield ""
    yield from textwrap.wrap(rule.why, _WIDTH, break_on_hyphens=False)


def _json(rules: "list[RuleText]") -> Iterator[str]:
    import json

    told = [
        {
            "id": each.id,
            "name": each.name,
            "severity": each.severity.value,
            "title": each.title,
            "why": each.why,
        }
        for each in rules
    ]
    yield json.dumps({"schema_version": _SCHEMA_VERSION, "rules": told}, indent=2)
