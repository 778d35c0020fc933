"""What `check` and `lint` share: which rules are asked, in what form findings are told, and what makes them fail."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

from delegtop.base.near_words import advice
from delegtop.cli.diagnostics import fail

if TYPE_CHECKING:
    from delegtop.diagnosis.finding import Severity
    from delegtop.diagnosis.rule import RuleText
    from delegtop.report.check_report import CheckResult

    Form = Callable[[CheckResult, Collection[RuleText], Severity | None], Iterable[str]]

FORMS = {
    "sarif": "print SARIF 2.1.0, for code viewers and code hosts",
    "junit": "print a JUnit report, for CI",
}
"""The forms that other programs read, each a module of `report.check_report`."""
LEVELS = ("error", "warning", "info", "never")

AnyRule = TypeVar("AnyRule", bound="RuleText")


def add(parser: ArgumentParser, json: str, codes: str) -> None:
    """The options; `json` explains --json, and `codes` is what the exit code can be."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help=json)
    for name, told in FORMS.items():
        forms.add_argument(f"--{name}", action="store_true", help=told)
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        metavar="LEVEL",
        help=f"exit {codes} if a finding is at least this grave: error (the default), warning, info or never",
    )
    parser.add_argument("--rule", action="append", default=[], metavar="ID", help="only this rule; may be repeated")
    parser.add_argument("--ignore", action="append", default=[], metavar="ID", help="not this rule; may be repeated")


def wanted(arguments: Namespace, table: Mapping[str, AnyRule], kind: str, listed: str) -> list[AnyRule]:
    """The rules to ask, by --rule and --ignore; one that is not in the table is a usage error."""
    for flag, ids in (("--rule", arguments.rule), ("--ignore", arguments.ignore)):
        for id in ids:
            if id.upper() not in table:
                fail(f"{flag} {id}: no such {kind}; {advice(id.upper(), table, listed)}")
    only = {id.upper() for id in arguments.rule} or set(table)
    return [rule for id, rule in table.items() if id in only - {id.upper() for id in arguments.ignore}]


def fail_on(arguments: Namespace) -> "Severity | None":
    """From which gravity on findings fail; None for never."""
    from delegtop.diagnosis.finding import Severity

    return None if arguments.fail_on == "never" else Severity(arguments.fail_on)


def form(arguments: Namespace) -> "Form | None":
    """How the form that is asked for is written; None if it is the command's own."""
    name = next((name for name in FORMS if getattr(arguments, name)), None)
    return None if name is None else cast("Form", import_module(f"delegtop.report.check_report.{name}").lines)
