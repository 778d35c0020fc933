"""Asking the allocator for something stops nothing where it cannot be asked."""

import ctypes

import pytest

from delegtop.model.store.column_growth import let_columns_grow


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_another_allocator_is_left_alone(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_name: str | None) -> None:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    let_columns_grow.__wrapped__()


def test_the_allocator_is_asked_once_however_many_columns_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, *what: int) -> None:
            asked.append((what[0], what[1]))

    monkeypatch.setattr(ctypes, "CDLL", lambda _name: Library())
    let_columns_grow.cache_clear()
    let_columns_grow()
    let_columns_grow()
    assert asked == [(-3, 512 * 1024)]
