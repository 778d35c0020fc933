"""Tokens are counted once, however often and in which pieces an answer tells of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegtop.agents.claude_code.wire import CacheWritten, WireUsage
from delegtop.dialects.kit.tokens import Tokens, charge_of
from delegtop.model.usage import NO_COUNTS, Account, Counts, account_of, usage_of

SMALL = st.integers(0, 3)
COUNTS = st.tuples(SMALL, SMALL, SMALL, SMALL, SMALL)
ACCOUNTS = st.sampled_from([("a", 0, False), ("b", 0, False), ("a", 200_000, False), ("a", 0, True)])


@given(st.lists(st.tuples(ACCOUNTS, COUNTS, st.booleans()), max_size=20))
def test_sums_are_kept_by_account_in_the_order_of_first_use(
    charges: Sequence[tuple[Account, Counts, bool]],
) -> None:
    """However they are mixed, and whenever somebody asks."""
    tokens, sums = Tokens(), dict[Account, Counts]()
    for account, counts, asks in charges:
        tokens.charge((account, counts))
        if counts != NO_COUNTS:
            before = sums.get(account, NO_COUNTS)
            sums[account] = tuple(map(int.__add__, before, counts))  # type: ignore[assignment]  # still five
        if asks:
            assert tokens.used == (tuple(map(usage_of, sums.keys(), sums.values())) or None)
    assert tokens.used == (tuple(map(usage_of, sums.keys(), sums.values())) or None)


@given(st.lists(st.tuples(st.sampled_from("12"), COUNTS), max_size=12))
def test_of_a_message_the_largest_word_of_each_kind_counts(told: Sequence[tuple[str, Counts]]) -> None:
    tokens, largest, most = Tokens(), dict[str, Counts](), dict[str, int]()
    for message, counts in told:
        new = tokens.add(message, sum(counts), charge_of("a", counts))
        assert new == max(sum(counts) - most.get(message, 0), 0)
        most[message] = max(sum(counts), most.get(message, 0))
        largest[message] = tuple(map(max, counts, largest.get(message, NO_COUNTS)))  # type: ignore[assignment]  # still five
    total = tuple(map(sum, zip(*largest.values(), strict=True))) if largest else NO_COUNTS
    assert tokens.total == (sum(most.values()) if told else None)
    assert tokens.used == (None if total == NO_COUNTS else (usage_of(account_of("a", NO_COUNTS), total),))  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize("model", [None, "", "<synthetic>"])
def test_what_no_model_used_is_charged_to_none(model: str | None) -> None:
    assert charge_of(model, (1, 2, 3, 4, 5)) is None


MOST = 10**15
ANY = st.sampled_from([None, -MOST, -1, 0, 1, 7, MOST - 1, MOST, 2**49, 2**50, 2**62])


@given(ANY, ANY, ANY, ANY, ANY)
def test_of_the_tokens_of_an_answer_only_what_can_be_true_counts(
    into: int | None, out: int | None, read: int | None, written: int | None, hour: int | None
) -> None:
    kept = None if hour is None else CacheWritten(ephemeral_1h_input_tokens=hour)
    usage = WireUsage(into, written, read, kept, out)
    into, out, read, written, hour = into or 0, out or 0, read or 0, written or 0, hour or 0
    counts = (into, out, read, written - hour, hour)
    fits = all(0 <= each < MOST for each in counts)
    new = sum(each for each in (into, written, out) if 0 < each < MOST)
    assert usage.spent() == (new, counts if fits else NO_COUNTS)
