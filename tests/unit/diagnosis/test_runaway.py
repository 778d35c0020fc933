"""A tree that grows beyond all measure is told while it does, at its root, for the price of a few looks."""

import msgspec
import pytest
from tests import judging
from tests.telling import at, forest_at, handle_of, heard, place, started

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import say
from delegtop.diagnosis.verdicts import Kind, Verdict, judge
from delegtop.model.events import Event, Heard, Phase
from delegtop.model.policy import Policy
from delegtop.model.prices import PriceBook, Rates
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.usage import Spent, Usage


def burst(count: int, minute: float = 0, parent: str = "top") -> list[Event]:
    return [started(f"{parent}-{n}", minute + n / 100, parent=parent) for n in range(count)]


def judged(*events: Event, look: float, policy: Policy | None = None, id: str = "top") -> Verdict | None:
    forest = forest_at(at(look), events, policy)
    return judging.verdict(forest, handle_of(forest, id))


def sentence(*events: Event, look: float, policy: Policy | None = None) -> str:
    found = judged(*events, look=look, policy=policy)
    assert found is not None
    assert found.kind is Kind.RUNAWAY
    return say(found.sentence, at(look))


def test_it_says_what_is_beyond_which_limit() -> None:
    told = sentence(started("top"), *burst(31), look=1)
    assert told == "It is running away: 31 agents were started within a minute (limit 30)."


def test_dollars_that_are_estimated_count_too_and_say_so() -> None:
    policy = Policy(prices=PriceBook({"m": Rates(1, 1, 1, 1, 1)}), runaway_dollars=2)
    used = Heard("top", at(0.5), place(), phase=Phase.TOOL, tool="Bash", used=(Usage("m", 3_000_000),))
    told = sentence(started("top"), used, look=1, policy=policy)
    assert told == "It is running away: ~3.00 dollars were spent (limit 2)."
    told = sentence(started("top"), used, Heard("top", at(0.6), place(), cost=4.0), look=1, policy=policy)
    assert told == "It is running away: 4.00 dollars were spent (limit 2)."


def test_it_names_who_starts_them_if_that_is_not_the_root() -> None:
    told = sentence(started("top"), started("mid", parent="top", agent="spawner"), *burst(31, parent="mid"), look=1)
    assert told.endswith("; most were started by spawner.")


def test_it_is_told_at_the_root_alone() -> None:
    events = started("top"), started("mid", parent="top"), *burst(31, parent="mid")
    assert judged(*events, look=1, id="mid") != judged(*events, look=1)
    found = judged(*events, look=1, id="mid")
    assert found is None or found.kind is not Kind.RUNAWAY


def test_a_burst_is_spoken_of_for_ten_minutes() -> None:
    events = started("top"), *burst(31)
    assert "within a minute" in sentence(*events, look=10)
    found = judged(*events, look=11)
    assert found is None or found.kind is not Kind.RUNAWAY


@pytest.mark.parametrize("limit", ["runaway_spawns", "runaway_agents", "runaway_depth", "runaway_tokens"])
def test_a_limit_of_nothing_is_none(limit: str) -> None:
    used = Heard("top", at(0.5), place(), tokens=10, phase=Phase.TOOL, tool="Bash")
    events = started("top"), *burst(5), started("deep", 0.5, parent="top-1"), used
    tight = {"runaway_spawns": 3, "runaway_agents": 3, "runaway_depth": 1, "runaway_tokens": 5}
    others = dict.fromkeys(tight, 0)
    none = msgspec.structs.replace(Policy(), **others)
    assert sentence(*events, look=1, policy=msgspec.structs.replace(none, **{limit: tight[limit]}))
    found = judged(*events, look=1, policy=none)
    assert found is None or found.kind is not Kind.RUNAWAY


def test_what_is_used_by_all_together_counts() -> None:
    used = [Heard(f"top-{n}", at(1), place(), tokens=8_000_000, cost=40.0) for n in range(3)]
    told = sentence(started("top"), *burst(3), *used, look=2)
    assert told == (
        "It is running away: 24,000,000 tokens were used (limit 20,000,000); 120.00 dollars were spent (limit 100)."
    )


def test_who_is_at_work_is_looked_at_again_within_a_minute() -> None:
    case = Case(forest_at(at(2), [started("top"), heard("top", 2, Phase.TOOL, "Bash")]), 0)
    assert judge(case) is None
    assert case.turns is not None
    assert case.turns <= at(3)


def test_of_a_hundred_thousand_only_some_hundred_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    forest = forest_at(at(1), [started("top"), *burst(100_000)])
    asked = 0
    used = Ledger.used

    def counted(self: Ledger, handle: Handle) -> Spent:
        nonlocal asked
        asked += 1
        return used(self, handle)

    monkeypatch.setattr(Ledger, "used", counted)
    assert len(forest.growth(0, 500, at(0)).below) == 501
    assert asked == 502
