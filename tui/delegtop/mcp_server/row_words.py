"""One delegation as a row: what a model is told of each, in as few words as will do, and harmless."""

from collections.abc import Iterable

from delegtop.base.clock import SECOND, Millis, iso
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.mcp_server import untrusted_text
from delegtop.mcp_server.change_journal import status_of
from delegtop.mcp_server.followed_scope import FollowedScope, InScope, QuestionError
from delegtop.mcp_server.tool_contracts import DelegationRow
from delegtop.model import phases
from delegtop.model.forest import Forest
from delegtop.model.lookup import meant
from delegtop.model.measures import age, called, folder, left, quiet, title
from delegtop.model.states import OPEN
from delegtop.model.store.ledger import Handle
from delegtop.report.projects import Projects

MOST = 7_000
"""Characters of one answer, about 2,000 tokens."""
_NAME, _TEXT, _SENTENCE = 60, 120, 400
_SEVERAL = 5


class RowWords:
    """Words for the delegations of a scope that is followed."""

    def __init__(self, followed: FollowedScope) -> None:
        self._followed = followed
        self._projects = Projects()

    @property
    def forest(self) -> Forest:
        return self._followed.seen.forest

    @property
    def assessments(self) -> Assessments:
        return self._followed.seen.assessments

    @property
    def now(self) -> str:
        return iso(self.forest.shown_at)

    def row(self, found: Assessment) -> DelegationRow:
        forest, handle = self.forest, found.handle
        facts, parent = forest.delegation(handle), forest.parent(handle)
        is_open = found.state in OPEN
        return DelegationRow(
            id=self.id(handle),
            status=status_of(found),
            state=found.state.value,
            agent=untrusted_text.line(called(facts), _NAME),
            parent=None if parent is None else self.id(parent),
            title=untrusted_text.line(title(facts), _TEXT) or None,
            project=untrusted_text.line(self._projects.name(folder(forest, handle)), _NAME) or None,
            doing=(untrusted_text.line(phases.now(facts), _TEXT) or None) if is_open else None,
            problem=found.kind if found.problem else None,
            certainty=found.certainty.value if found.problem else None,
            problem_s=_seconds(None if found.since is None or not found.is_now else self.moment(handle) - found.since),
            age_s=_seconds(age(forest, handle, facts)),
            quiet_s=_seconds(quiet(forest, handle, facts)) if is_open else None,
            left_s=_seconds(left(forest, handle)),
            holds_up=len(found.blocks),
            waits_on=None if found.waits_on is None else self.id(found.waits_on),
        )

    def id(self, handle: Handle) -> str:
        return shown_id(self.forest.id(handle))

    def sentence(self, found: Assessment) -> str:
        return untrusted_text.line(found.sentence(self.moment(found.handle)), _SENTENCE)

    def agent(self, handle: Handle) -> str:
        return untrusted_text.line(called(self.forest.delegation(handle)), _NAME)

    def moment(self, handle: Handle) -> Millis:
        return self.forest.now_of(handle)

    def ranked(self, scope: InScope) -> list[Assessment]:
        """Those of a scope in the order of looking."""
        handles: Iterable[Handle] = range(len(self.forest)) if scope.handles is None else scope.handles
        return sorted((self.assessments.of(handle) for handle in handles), key=lambda each: each.key)

    def meant(self, id: str) -> Handle:
        """The one that is asked about."""
        found = self._followed.allowed(meant(self.forest, id))
        if len(found) == 1:
            return found[0]
        if not found:
            raise QuestionError(
                f"no delegation is known by {shown_id(id)!r}; list_delegations(scope='here') tells the ids"
            )
        several = ", ".join(shown_id(self.forest.full_id(handle)) for handle in found[:_SEVERAL])
        raise QuestionError(f"{shown_id(id)!r} may mean several: {several}")


def shown_id(id: str) -> str:
    return untrusted_text.line(id, _NAME)


def _seconds(span: int | None) -> int | None:
    return None if span is None else span // SECOND
