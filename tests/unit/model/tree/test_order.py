"""The orders: who only has to know which there are knows all of them."""

from delegtop.model.tree.order import SORTS
from delegtop.model.tree.order_names import ORDERS


def test_every_order_has_a_name_and_every_name_an_order() -> None:
    assert list(SORTS) == list(ORDERS)
