"""What makes up a store is listed once, and room is made in all of it alike."""

from collections.abc import Iterator

import pytest

from delegtop.model.store.accounts import Accounts
from delegtop.model.store.column_store import ColumnStore
from delegtop.model.store.ledger import Ledger

FOUND_OUT_AGAIN = {
    "Ledger": {"handles", "_prices"},
    "Archive": {"_loose", "_opened", "_bases", "_presser"},
    "Ends": {"logs"},
    "Accounts": {"_numbers"},
    "OriginColumn": {"numbers"},  # the ledger's
}


def stores(store: ColumnStore) -> Iterator[ColumnStore]:
    yield store
    for name in store.STORES:
        yield from stores(getattr(store, name))


def apart(store: ColumnStore) -> Iterator[ColumnStore]:
    for name in store.APART:
        yield from stores(getattr(store, name))
        yield from apart(getattr(store, name))


@pytest.mark.parametrize(
    "store", [*stores(Ledger()), *apart(Ledger()), Accounts()], ids=lambda store: type(store).__name__
)
def test_everything_that_cannot_be_found_out_again_is_listed(store: ColumnStore) -> None:
    listed = [name for name, _ in store.parts()]
    assert len(set(listed)) == len(listed)
    assert set(listed) | FOUND_OUT_AGAIN.get(type(store).__name__, set()) == vars(store).keys()


def test_all_columns_of_all_stores_grow_together() -> None:
    ledger = Ledger()
    ledger.grow(3)
    ledger.grow(2)
    for store in stores(ledger):
        for name, blank in store.COLUMNS.items():
            assert list(getattr(store, name)) == [blank] * 5
