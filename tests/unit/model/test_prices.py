"""What models cost: by their whole names, by the day, by the length of the prompts, and by the user's own word."""

from itertools import pairwise

import pytest

from delegtop.base.clock import Millis, parse_time
from delegtop.model.price_list import PRICES, READ_ON
from delegtop.model.prices import PriceBook, Rates, plain_name
from delegtop.model.usage import BANDS, NO_COUNTS, account_of, band

MILLION = 1_000_000
OWN = Rates(1, 2, 3, 4, 5)


def moment(text: str) -> Millis:
    found = parse_time(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-sonnet-4.6", "claude-sonnet-4-6"),
        ("us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("moonshot-ai/kimi-k2.7-code", "kimi-k2.7-code"),
        ("openrouter/openai/GPT-5.5", "gpt-5.5"),
        ("gpt-5-2025-08-07", "gpt-5"),
    ],
)
def test_a_model_goes_by_the_name_its_vendor_lists_whoever_passes_it_on_and_of_whatever_day(
    model: str, name: str
) -> None:
    assert plain_name(model) == name
    assert PriceBook().rates((model, 0, False), None) == PRICES[name][-1].rates


@pytest.mark.parametrize("model", ["claude-opus-9", "gpt-5.5-new", "opus", "", "claude-opus-5-5-preview", "mock-1"])
def test_a_model_without_a_published_price_has_none_whatever_its_siblings_cost(model: str) -> None:
    assert PriceBook().rates((model, 0, False), None) is None
    assert PriceBook().cost([((model, 0, False), (1, 1, 1, 1, 1))], None) is None


def test_every_kind_of_tokens_has_its_price() -> None:
    book = PriceBook({"mine": OWN})
    for kind, dollars in enumerate((1, 2, 3, 4, 5)):
        counts = tuple(MILLION if each == kind else 0 for each in range(5))
        assert book.cost([(("mine", 0, False), counts)], None) == dollars  # type: ignore[list-item]  # five


def test_where_one_of_several_models_has_no_price_the_whole_is_not_known() -> None:
    book, known, unknown = PriceBook({"mine": OWN}), ("mine", 0, False), ("other", 0, False)
    assert book.cost([(known, (MILLION, 0, 0, 0, 0)), (unknown, (1, 0, 0, 0, 0))], None) is None
    assert book.cost([(known, (MILLION, 0, 0, 0, 0)), (unknown, NO_COUNTS)], None) == 1, "of that nothing was used"
    assert book.cost([(unknown, NO_COUNTS)], None) is None
    assert book.cost([], None) is None


def test_the_users_own_price_goes_before_the_list_and_the_first_that_fits_counts() -> None:
    book = PriceBook({"claude-opus-*": OWN, "claude-*": Rates(9, 9, 9, 9, 9)})
    assert book.rates(("claude-opus-4-6", 0, False), None) is OWN
    assert book.rates(("anthropic/claude-opus-4-6", 300_000, True), None) is OWN, "for every kind of request"
    assert book.rates(("claude-sonnet-4-6", 0, False), None) == Rates(9, 9, 9, 9, 9)


def test_a_price_that_changed_is_that_of_the_day() -> None:
    def rates(at: Millis | None) -> Rates | None:
        return PriceBook().rates(("gpt-5.6-luna", 0, False), at)

    before, after = rates(moment("2026-07-29T23:59:59Z")), rates(moment("2026-07-30T00:00:00Z"))
    assert before is not None
    assert after is not None
    assert (before.input, after.input) == (1, 0.2)
    assert rates(None) == after, "who does not know the day takes the newest"
    assert rates(moment("2020-01-01T00:00:00Z")) == before


def test_long_prompts_and_a_faster_mode_have_prices_of_their_own() -> None:
    book = PriceBook()
    short, long = (book.rates(account_of("gemini-2.5-pro", (size, 0, 0, 0, 0)), None) for size in (200_000, 200_001))
    assert short is not None
    assert long is not None
    assert (short.input, long.input) == (1.25, 2.5)
    fast = book.rates(("claude-opus-5-5", 0, True), None)
    assert fast is not None
    assert fast.output == 40
    assert book.rates(("claude-sonnet-5-5", 0, True), None) is None, "nobody published one"


def test_the_band_of_a_prompt_counts_all_that_was_read_for_it() -> None:
    assert [band(size) for size in (0, 100_000, 100_001, 200_000, 200_001, 272_000, 272_001)] == [
        0, 0, 100_000, 100_000, 200_000, 200_000, 272_000,
    ]  # fmt: skip
    assert account_of("m", (1, 999_999, 100_000, 0, 0)) == ("m", 100_000, False)


@pytest.mark.parametrize("name", PRICES)
def test_the_list_says_where_each_price_was_read_and_is_in_order(name: str) -> None:
    prices = PRICES[name]
    assert plain_name(name) == name
    assert prices[0].since == 0
    assert all(one.since < other.since for one, other in pairwise(prices))
    for price in prices:
        assert price.source
        assert 0 < price.rates.cache_read <= price.rates.input <= price.rates.output
        assert {over for over, _ in price.over} <= set(BANDS)
        assert price.since <= moment(f"{READ_ON}T00:00:00Z")
