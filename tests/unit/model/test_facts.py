"""The table of facts is whole, and what it declares of a fact holds: how it merges, is written, filtered and masked."""

import json
from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import msgspec
import pytest
from tests.telling import forest_at

from delegtop.base.clock import HOUR, Millis, iso
from delegtop.base.origin import Origin
from delegtop.model.delegation import FACTS, WORDS, Delegation
from delegtop.model.events import (
    Described,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    ProcessSeen,
    Report,
    Started,
    Trust,
    WaitsFor,
)
from delegtop.model.facts import Fact, Form, Merge
from delegtop.model.forest import Forest
from delegtop.model.query import KEYS, FigureKey, QueryError, parse
from delegtop.model.usage import Usage
from delegtop.report import tree_json, tree_text
from delegtop.report.redaction import Redactor

NOW = Millis(1_766_743_200_000)
HIDDEN = "hunter2Winter77green"
LEAK = f"password={HIDDEN}"
TELLERS: dict[Merge, type[Started | Described | Heard]] = {
    "first": Started,
    "earliest": Described,
    "latest": Heard,
    "largest": Heard,
}
"""The event that tells a fact, by how it is merged."""
TOLD = [
    fact
    for fact in FACTS.values()
    if fact.merge in TELLERS and fact.told_as in TELLERS[fact.merge].__struct_fields__ and fact.name != "trust"
]
"""The facts that are one field of an event."""
FILTERED = [fact for fact in FACTS.values() if fact.filter]
MASKED = [fact for fact in FACTS.values() if fact.masked]
WRITTEN = [fact for fact in FACTS.values() if fact.form != "none"]


def of(facts: list[Fact]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("fact", facts, ids=lambda fact: fact.name)


def place(line: int = 1, source: str = "log") -> Origin:
    return Origin(source, line, line * 100)


def grown(*events: Event) -> Forest:
    return forest_at(NOW, events)


def some(fact: Fact, number: int) -> Any:
    """A value of the fact; a greater number gives a greater one."""
    kind = str(fact.type)
    if fact.name == "phase":
        return (Phase.CHILD, Phase.PERMISSION)[number]
    if fact.name == "usage":
        return (Usage("a model without a price", input=1_000 + number),)
    if fact.name == "path":
        return ("orchestrator", f"step{number}")
    if "Millis" in kind:
        return Millis(NOW - (2 - number) * HOUR)
    return (number + 1) * 1_000 if "int" in kind or "float" in kind else f"{fact.name}{number}"


def telling(fact: Fact, value: Any, line: int = 1, id: str = "a") -> Event:
    """The event that tells it. The lines of a log are an hour apart."""
    at = Millis(NOW - HOUR * (20 - line))
    told = {"at": at} | {fact.told_as: value}
    return TELLERS[fact.merge](id=id, origin=place(line), **told)


def test_every_field_of_a_delegation_has_a_row_that_says_what_it_means() -> None:
    assert tuple(FACTS) == Delegation.__struct_fields__
    for name, fact in FACTS.items():
        told = msgspec.structs.asdict(fact) | {"type": None}
        assert msgspec.convert(told, Fact).name == name, "every word of it is one of those there are"
        assert fact.meaning.endswith(".")
        assert len(fact.label) < 14, "it fits before the values of a page"


def test_a_delegation_has_an_id() -> None:
    with pytest.raises(TypeError, match="'id'"):
        Delegation()


def test_whatever_describes_a_delegation_is_a_fact_of_it() -> None:
    assert {fact.told_as for fact in WORDS} == set(Described.__struct_fields__) - {"id", "at", "origin"}


def test_whatever_a_start_tells_is_a_fact_but_how_sure_it_is() -> None:
    told = {fact.told_as for fact in FACTS.values()}
    assert set(Started.__struct_fields__) - told == {"origin", "listed", "guessed"}


@of(TOLD)
def test_what_an_event_tells_is_the_fact_and_no_other_is_another_by_it(fact: Fact) -> None:
    plain, value = msgspec.structs.asdict(grown(telling(fact, None)).delegation(0)), some(fact, 0)
    told = msgspec.structs.asdict(grown(telling(fact, value)).delegation(0))
    follow = {"started_at": "heard_at", "phase": "phase_since"}
    assert told.pop(fact.name) == value
    plain.pop(fact.name)
    if fact.name in follow:
        del told[follow[fact.name]], plain[follow[fact.name]]
    assert told == plain


@of([fact for fact in TOLD if fact.name != "started_at"])
def test_of_two_that_tell_it_the_one_that_the_table_says_counts_whatever_came_first(fact: Fact) -> None:
    less, more = some(fact, 0), some(fact, 1)
    told = telling(fact, more, 2), telling(fact, less, 5)
    counts = {"first": more, "earliest": more, "latest": less, "largest": more}[fact.merge]
    for events in permutations(told):
        assert getattr(grown(*events).delegation(0), fact.name) == counts


@of([fact for fact in TOLD if fact.merge in ("first", "earliest")])
def test_what_the_first_leaves_open_the_next_fills_in(fact: Fact) -> None:
    value = some(fact, 1)
    for events in permutations((telling(fact, None, 2), telling(fact, value, 5))):
        assert getattr(grown(*events).delegation(0), fact.name) == value


@of([fact for fact in TOLD if fact.merge == "first"])
def test_sources_that_differ_disagree_only_on_what_the_table_calls_contested(fact: Fact) -> None:
    facts = grown(telling(fact, some(fact, 0), 2), telling(fact, some(fact, 1), 2)).delegation(0)
    assert (fact.name in {claim.field for claim in facts.claims}) == fact.contested


def test_whoever_told_no_start_has_none_of_what_a_start_tells() -> None:
    facts = grown(Heard("a", NOW, place())).delegation(0)
    assert {getattr(facts, fact.name) for fact in TOLD if fact.merge == "first"} == {None}
    assert facts.trust is Trust.SCRIPT


# -- documents -----------------------------------------------------------------------------------------------------


def node(forest: Forest, **how: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("\n".join(tree_json.tree(forest, (), **how)))["delegations"][0]
    return found


@cache
def described() -> dict[str, dict[str, Any]]:
    """The facts in the schema."""
    fields: dict[str, dict[str, Any]] = json.loads(tree_json.schema())["$defs"]["Node"]["properties"]
    return fields


@of(WRITTEN)
def test_every_fact_is_in_the_schema_with_what_it_means(fact: Fact) -> None:
    assert described()[fact.json]["description"] == fact.description


@of([fact for fact in TOLD if fact.form not in ("own", "none")])
def test_a_fact_is_written_in_its_form(fact: Fact) -> None:
    value = some(fact, 0)
    forms: dict[Form, Callable[[Any], str]] = {
        "plain": str,
        "moment": iso,
        "seconds": lambda span: str(span / 1_000),
    }
    assert str(node(grown(telling(fact, value)), prompts=True)[fact.json]) == forms[fact.form](value)


# -- the filter ----------------------------------------------------------------------------------------------------


@of(FILTERED)
def test_a_key_finds_those_that_have_the_fact_and_no_other(fact: Fact) -> None:
    (key,) = (key for key in KEYS if key.example == fact.filter)
    other = Started("b", NOW, place(9))
    wanted: Event = Noted("a", NOW, place(), "review", "look") if fact.name == "notes" else Heard("a", NOW, place())
    value = {"notes": "review", "id": "a", "path": "orchestrator/step0"}.get(fact.name)
    if fact in TOLD:
        wanted = telling(fact, some(fact, 0))
        value = value or some(fact, 0)
    forest = grown(wanted, other)
    query = parse(f'{key.name}:"{value}"')
    assert [forest.id(handle) for handle in forest.walk() if query.matches(forest, handle)] == ["a"]


def test_only_a_number_is_compared_and_of_few_words_another_is_refused() -> None:
    for fact in FILTERED:
        (key,) = (key for key in KEYS if key.example == fact.filter)
        assert isinstance(key, FigureKey) == ("int" in str(fact.type) or "float" in str(fact.type))
    with pytest.raises(QueryError, match="there are tool, model, permission"):
        parse("phase:nothing")


# -- secrets -------------------------------------------------------------------------------------------------------


def leaking(fact: Fact) -> list[Event]:
    """A delegation that has a secret in that fact and in no other."""
    place_, at = place(), Millis(NOW - HOUR)
    structured: dict[str, list[Event]] = {
        "report": [Ended("a", at, place_, Outcome.FAILED, Ending.RETURN, Report("failed", LEAK, next_steps=LEAK))],
        "faults": [Erred("a", at, place_, Fault(LEAK, recommendation=LEAK))],
        "notes": [Noted("a", at, place_, "review", LEAK)],
        "process": [ProcessSeen("a", at, place_, 7, WaitsFor.INPUT, on=LEAK, command=LEAK)],
        "claims": [Started("a", at, place(n), command=words) for n, words in ((2, "plain"), (3, LEAK))],
    }
    return structured.get(fact.name) or [telling(fact, LEAK)]


@of(MASKED)
def test_a_masked_fact_is_masked_in_a_document(fact: Fact) -> None:
    assert HIDDEN in json.dumps(node(grown(*leaking(fact)), masked=False, prompts=True))
    assert HIDDEN not in json.dumps(node(grown(*leaking(fact)), prompts=True))


@of(MASKED)
def test_a_masked_fact_is_masked_in_print(fact: Fact) -> None:
    assert HIDDEN not in "\n".join(tree_text.tree(grown(*leaking(fact)), (), look=tree_text.Look(width=400)))


@of(MASKED)
def test_a_masked_fact_is_redacted_in_what_is_sent_away(fact: Fact) -> None:
    redactor = Redactor()
    for event in leaking(fact):
        redactor.learn(event)
    assert HIDDEN not in str([redactor.redact(event) for event in leaking(fact)])


@of([fact for fact in TOLD if not fact.masked and "str" in str(fact.type) and fact.form == "plain"])
def test_what_one_looks_a_thing_up_by_is_not_masked(fact: Fact) -> None:
    assert node(grown(telling(fact, LEAK)))[fact.json] == LEAK
