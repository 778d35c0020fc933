"""Changes of verdicts: each once, with what was before, and none where only a sentence counts the minutes."""

from tests.telling import at, ended, heard, started

from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.verdict_changes import VerdictChange, VerdictChanges
from delegtop.model.events import Event, Outcome, Phase
from delegtop.model.forest import Forest


class Followed:
    """A forest whose verdicts are followed, in minutes."""

    def __init__(self, *events: Event, minute: float = 0) -> None:
        self.forest = Forest()
        self.assessments = Assessments(self.forest)
        self.changes = VerdictChanges(self.assessments)
        self._take_in(*events, minute=minute)
        self.present = self.changes.begin()

    def _take_in(self, *events: Event, minute: float) -> set[int]:
        change = self.forest.apply(events)
        lives = {*change.lives, *change.added, *self.forest.advance(at(minute))}
        self.assessments.touch(change.touched, lives)
        return self.assessments.update()

    def tell(self, *events: Event, minute: float) -> list[VerdictChange]:
        return self.changes.look(self._take_in(*events, minute=minute))


def words(changes: list[VerdictChange]) -> list[tuple[str, str, str]]:
    return [(each.id, each.was, each.verdict) for each in changes]


def test_what_is_the_matter_is_told_when_it_begins_and_when_it_is_over() -> None:
    followed = Followed(started("a", 0), minute=0)
    (asks,) = followed.tell(heard("a", 1, Phase.PERMISSION, "Bash", "rm -r build"), minute=1)
    assert (asks.was, asks.verdict, asks.certainty.value) == ("", "awaiting a permission", "certain")
    assert (asks.root, asks.since, asks.at, asks.present) == ("a", at(1), at(1), False)
    assert "rm -r build" in asks.sentence
    assert asks.todo
    (over,) = followed.tell(heard("a", 2, Phase.MODEL), minute=2)
    assert (over.was, over.verdict, over.state.value) == ("awaiting a permission", "", "running")


def test_nothing_is_told_twice_and_time_alone_tells_nothing() -> None:
    followed = Followed(started("a", 0), minute=0)
    followed.tell(heard("a", 1, Phase.PERMISSION), minute=1)
    assert followed.tell(minute=1.2) == []
    assert followed.changes.look(range(len(followed.forest))) == []


def test_what_was_so_at_the_beginning_is_told_as_present_and_what_was_earlier_is_not() -> None:
    followed = Followed(
        started("old", 0),
        ended("old", 1, Outcome.FAILED),
        started("a", 100),
        heard("a", 119, Phase.PERMISSION),
        minute=120,
    )
    assert [(each.id, each.verdict, each.present) for each in followed.present] == [
        ("a", "awaiting a permission", True)
    ]
    assert followed.changes.look(range(len(followed.forest))) == []


def test_a_bad_end_is_told_with_what_was_before() -> None:
    followed = Followed(started("a", 0), heard("a", 1, Phase.PERMISSION), minute=1)
    assert words(followed.tell(ended("a", 2, Outcome.FAILED), minute=2)) == [("a", "awaiting a permission", "failed")]
    assert words(followed.tell(minute=60)) == [("a", "failed", "failed")], "after a while it is earlier trouble"


def test_a_good_end_of_what_was_plainly_at_work_is_no_change_of_a_verdict() -> None:
    followed = Followed(started("a", 0), minute=0)
    assert followed.tell(ended("a", 1), minute=1) == []


def test_who_waits_for_a_child_has_a_verdict_too() -> None:
    followed = Followed(started("a", 0, agent="lead"), minute=0)
    told = followed.tell(started("b", 1, parent="a", host="gpu1"), heard("b", 1, Phase.PERMISSION), minute=1)
    assert words(told) == [("a", "", "waiting on a child"), ("b", "", "awaiting a permission")]
    assert [(each.root, each.host, each.holds_up) for each in told] == [("a", "", 0), ("a", "gpu1", 1)]
