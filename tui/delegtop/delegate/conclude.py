"""The end of a command that was a delegation, as it is recorded: the return it printed, or one made for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delegtop.delegate.artifact_search import ArtifactSearch
from delegtop.delegate.child_ends import ids_in
from delegtop.delegate.command_end import CommandEnd
from delegtop.delegate.made_returns import failure, return_of_command
from delegtop.delegate.prepare import DelegationContext
from delegtop.delegate.registry import DelegationRegistry
from delegtop.delegate.return_objects import made_return
from delegtop.delegate.return_validation import ReturnInvalid, return_breaches, session_id_of
from delegtop.protocols.standard.contract.return_contract import STATUSES
from delegtop.protocols.standard.contract.return_search import returns_in

if TYPE_CHECKING:
    from delegtop.protocols.standard.contract.return_model import Return

_GAPS = frozenset(
    {
        *("RET-003", "RET-006", "RET-008", "RET-010", "RET-020"),
        *("RET-031", "RET-032", "RET-033", "RET-034", "RET-035"),
        *("DEL-004", "DEL-007", "LOG-002"),
    }
)
"""Rules whose breach leaves a return that one can go on with. `check` tells them; the return stays what it says."""


class Conclusion:
    """What is recorded of a command when it has ended: `record` for somebody who only stands beside it, `take` for a
    caller who asked for a valid return. `made_by` is who speaks for a command that printed none."""

    def __init__(
        self, context: DelegationContext, registry: DelegationRegistry, search: ArtifactSearch, made_by: str
    ) -> None:
        self._context = context
        self._registry = registry
        self._search = search
        self._made_by = made_by

    def record(self, ended: CommandEnd) -> tuple[str, ...]:
        """Write it down; what is wrong with the return it printed, if something is."""
        printed = self._printed(ended.output)
        if ended.timed_out:
            self._give_up(printed)
        if ended.timed_out or ended.interrupted:
            self._take_late(printed)
            return ()
        if printed is None:
            self._make(ended)
            return ()
        self._note_code(ended, printed)
        return self._take_as_it_is(printed)

    def take(self, ended: CommandEnd, root: Path | None) -> "Return":
        """The return that its caller gets, recorded: a valid one, or one that delegtop made."""
        printed = self._printed(ended.output)
        if ended.timed_out:
            partial = self._give_up(printed)
            self._take_late(printed)
            return partial
        if printed is None:
            return made_return(self._make(ended))
        self._note_code(ended, printed)
        return self._registry.complete(self._context.session_id, printed, root=root)

    def _give_up(self, printed: object) -> "Return":
        named = printed.get("artifacts") if isinstance(printed, Mapping) else None
        return self._registry.handle_timeout(self._context.session_id, self._search.found(named))

    def _take_late(self, printed: object) -> None:
        """After a timeout or a cancel only a good return says more than that."""
        if printed is not None and not self._troubles(printed):
            self._registry.record(self._context.session_id, printed)

    def _note_code(self, ended: CommandEnd, printed: object) -> None:
        if ended.code and isinstance(printed, Mapping) and printed.get("status") == "completed":
            message = f"it ended with exit code {ended.code}, although its return says completed"
            self._registry.error(self._context.session_id, failure(message))

    def _take_as_it_is(self, printed: Mapping[str, Any] | str) -> tuple[str, ...]:
        """A return that says how it ended is recorded as it was printed: a wrapper knows no better. One that does not
        is a failed one, as the documents have it."""
        problems = self._troubles(printed)
        invalid = ReturnInvalid(problems, printed)
        if isinstance(printed, str) or printed.get("status") not in STATUSES:
            self._registry.refuse(self._context.session_id, invalid)
            return problems
        self._registry.record(self._context.session_id, printed)
        if problems:
            self._registry.error(self._context.session_id, invalid.fields())
        return problems

    def _troubles(self, printed: object) -> tuple[str, ...]:
        """What is wrong with a return, but for gaps."""
        found = return_breaches(printed, self._context.session_id)
        return tuple(str(each) for each in found if each.rule not in _GAPS and not each.field.startswith("errors["))

    def _make(self, ended: CommandEnd) -> dict[str, Any]:
        id = self._context.session_id
        made = return_of_command(
            self._context, ended, self._registry.undone(id), self._search.matching(), self._made_by
        )
        if ended.code:
            self._registry.error(id, made["errors"][0])
        self._registry.record(id, made)
        return made

    def _printed(self, output: str) -> dict[str, Any] | str | None:
        """The last return in the output that is not one of a delegation inside of this one, which may have been printed
        through it: the log tells which there are."""
        own, inside = (None, self._context.session_id), None
        for found in returns_in(output):
            id = session_id_of(found) if isinstance(found, dict) else None
            if id in own:
                return found
            if inside is None:
                inside = ids_in(self._registry.written_since(self._context.session_id))
            if id not in inside:
                return found
        return None
