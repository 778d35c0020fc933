"""Which problems the operator has seen to or put off: they are told calmly, until they are others."""

from delegtop.app.state.problem_marks import Marks, Problem
from delegtop.base.clock import SECOND
from delegtop.diagnosis.assessment import PRESSING, Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.store.ledger import Handle
from delegtop.report.table.cells import UnseenBelow


class SeenTo:
    """Looks problems up in the operator's marks."""

    def __init__(self, assessments: Assessments, marks: Marks) -> None:
        self._assessments, self._forest, self.marks = assessments, assessments.forest, marks
        self._unseen: tuple[object, list[Assessment], dict[Handle, UnseenBelow]] = None, [], {}

    def __bool__(self) -> bool:
        """Whether there may be any."""
        return bool(len(self.marks))

    def holds(self, found: Assessment) -> bool:
        """Whether this one is."""
        return bool(self) and self.marks.is_settled(Problem.of(self._forest, found), self._forest.shown_at)

    def unseen(self) -> list[Assessment]:
        """The problems of this moment that nobody has seen to, in the order of looking."""
        return self._look()[1]

    def pressing(self) -> tuple[Assessment | None, int, int]:
        """What presses most of all that nobody has seen to, how many of these press, and how many others do."""
        count = self._assessments.pressing()
        if not self or not count:
            return (self._assessments.first() if count else None), count, 0
        unseen = [each for each in self.unseen() if each.urgency in PRESSING]
        first = unseen[0] if unseen else self._assessments.first()
        return first, len(unseen), count - len(unseen)

    def unseen_below(self, handle: Handle) -> UnseenBelow:
        """Of those below it, how many nobody has seen to, and what presses most of them."""
        return self._look()[2].get(handle, UnseenBelow())

    def _look(self) -> tuple[object, list[Assessment], dict[Handle, UnseenBelow]]:
        forest = self._forest
        made_from = forest.epoch, self._assessments.version, self.marks.version, forest.shown_at // SECOND
        if made_from != self._unseen[0]:
            unseen = [each for each in self._assessments.now() if not self.holds(each)]
            self._unseen = made_from, unseen, self._above(unseen)
        return self._unseen

    def _above(self, unseen: list[Assessment]) -> dict[Handle, UnseenBelow]:
        """Those above them; the first that is told of is the one that presses most."""
        told: dict[Handle, UnseenBelow] = {}
        for each in unseen:
            above = self._forest.parent(each.handle)
            while above is not None:
                count, first = told.get(above, UnseenBelow(0, each))
                told[above] = UnseenBelow(count + 1, first)
                above = self._forest.parent(above)
        return told
