"""What is usual is a function of what is done, whatever was learned, corrected and forgotten on the way."""

from hypothesis import given
from hypothesis import strategies as st

from delegtop.model.policy import Kind
from delegtop.model.typical_durations import ENOUGH, TypicalDurations

KIND, OTHER = ("codex", "explorer"), ("codex", "worker")
durations = st.one_of(st.none(), st.integers(0, 1000))
lessons = st.lists(st.tuples(st.integers(0, 20), st.sampled_from([KIND, KIND, OTHER]), durations), max_size=60)


@given(lessons)
def test_what_is_usual_depends_only_on_the_last_word_of_each(told: list[tuple[int, Kind, int | None]]) -> None:
    habits = TypicalDurations()
    for handle, kind, duration in told:
        habits.learn(handle, kind, duration)
    last = {handle: (kind, duration) for handle, kind, duration in told}.values()
    left = sorted(duration for kind, duration in last if kind == KIND and duration is not None)
    if len(left) < ENOUGH:
        assert habits.usual(KIND) is None
    else:
        assert habits.usual(KIND) == (left[min(len(left) - 1, int(len(left) * 0.95))], len(left))
