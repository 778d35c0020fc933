"""What is usual is a function of what is done, whatever was learned, corrected and forgotten on the way."""

from hypothesis import given
from hypothesis import strategies as st

from delegtop.model.habits import ENOUGH, Habits

KIND = ("codex", "explorer")
lessons = st.lists(st.tuples(st.integers(0, 20), st.one_of(st.none(), st.integers(0, 1000))), max_size=60)


@given(lessons)
def test_what_is_usual_depends_only_on_the_last_word_of_each(told: list[tuple[int, int | None]]) -> None:
    habits = Habits()
    for handle, duration in told:
        before = habits.usual(KIND)
        assert habits.learn(handle, KIND, duration) == (habits.usual(KIND) != before)
    left = sorted(duration for duration in dict(told).values() if duration is not None)
    if len(left) < ENOUGH:
        assert habits.usual(KIND) is None
    else:
        assert habits.usual(KIND) == (left[min(len(left) - 1, int(len(left) * 0.95))], len(left))
