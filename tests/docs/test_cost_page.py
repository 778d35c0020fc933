"""The page on cost has the list of prices that the program has, and where each was read."""

from collections.abc import Iterator
from pathlib import Path

from delegtop.base.clock import iso
from delegtop.model.price_list import PRICES, READ_ON
from delegtop.model.prices import ListPrice, Rates

BEGIN, END = "<!-- prices: begin -->\n", "<!-- prices: end -->"


def table() -> str:
    return "\n".join((f"As of {READ_ON}, in dollars for a million tokens.", "", *_rows())) + "\n"


def _rows() -> Iterator[str]:
    yield "| model | input | output | cache read | cache write | for an hour | read at |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for model, prices in PRICES.items():
        for price in prices:
            since = f", from {iso(price.since)[:10]}" if price.since else ""
            yield _row(f"`{model}`{since}", price.rates, price)
            for least, rates in price.over:
                yield _row(f"`{model}`{since}, prompts over {least:,}", rates, price)
            if price.fast:
                yield _row(f"`{model}`{since}, fast", price.fast, price)


def _row(name: str, rates: Rates, price: ListPrice) -> str:
    dollars = (rates.input, rates.output, rates.cache_read, rates.cache_write, rates.cache_write_1h)
    return f"| {name} | {' | '.join(f'{each:g}' for each in dollars)} | {price.source} |"


def test_the_page_has_the_prices_that_the_program_has(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "cost.md"
    before, rest = page.read_text("utf-8").split(BEGIN)
    written, after = rest.split(END)
    if update_golden:
        page.write_text(before + BEGIN + table() + END + after, "utf-8")
        written = table()
    assert written == table()
