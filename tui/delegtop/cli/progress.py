"""A bar on stderr while long work runs: only on a terminal, and only if it takes long enough to wonder."""

from collections.abc import Callable
from types import TracebackType

from delegtop.base.clock import monotonic
from delegtop.cli import diagnostics

_PATIENCE = 0.3
_PACE = 0.1
_WIDTH = 30


class Progress:
    """`with Progress("reading") as progress: … progress.update(measure)`. It leaves no trace."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._wanted = diagnostics.is_terminal()
        self._shown = False
        self._next = monotonic() + _PATIENCE

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._shown:
            diagnostics.status("")

    def update(self, measure: Callable[[], tuple[int, int]]) -> None:
        """`measure` gives what is done and what there is in all; it is asked only when that is shown."""
        if not self._wanted or monotonic() < self._next:
            return
        self._next = monotonic() + _PACE
        self._shown = True
        diagnostics.status(bar(self._verb, *measure()))


def bar(verb: str, done: int, total: int) -> str:
    """`reading ######........  21 %  4.2 of 20.0 MB`; without a known total, only how much is done."""
    amount = f"{done / 1e6:.1f}"
    if total <= 0:
        return f"{verb}  {amount} MB"
    share = min(done / total, 1)
    filled = round(share * _WIDTH)
    return f"{verb} {'#' * filled}{'.' * (_WIDTH - filled)} {share:4.0%}  {amount} of {total / 1e6:.1f} MB"
