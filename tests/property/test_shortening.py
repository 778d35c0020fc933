"""A forest without the trees that are over tells the same of all others, and of those that are heard of again."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.property.histories import distinct, events, moment, origins, some_moment
from tests.property.test_assessments import Step, Watched, plain, steps
from tests.property.test_ledger_order import picture

from delegtop.app.state.finished_rows import FinishedRows
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin, of_host
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import OF_NONE, Ended, Ending, Event, Heard, HostMet, Outcome, Report, Started, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.shortening import Shortening
from delegtop.model.states import ENDED_BADLY, OPEN

MIDDLE, LATER = moment(22), moment(29)
IDS = ("sess_a", "sess_b", "sess_c", "sess_d", "sess_e", "sess_f", "sess_g", "sess_h")
ids = st.sampled_from(IDS)
over: st.SearchStrategy[list[Event]] = st.tuples(
    st.builds(
        Started,
        ids,
        some_moment,
        origins,
        agent=st.just("executor"),
        parent=st.one_of(st.none(), ids),
        product=st.sampled_from([None, "codex"]),
    ),
    st.builds(
        Ended,
        ids,
        some_moment,
        origins,
        st.just(Outcome.COMPLETED),
        st.just(Ending.RETURN),
        st.builds(Report, summary=st.sampled_from([None, "done"])),
    ),
).map(lambda both: [both[0], replace(both[1], id=both[0].id, origin=replace(both[1].origin, host=both[0].origin.host))])


def pathless(event: Event) -> Event:
    """What names no parent has none: by its path none is looked for among those that have no row."""
    return replace(event, path=None) if isinstance(event, Started) else event


def mentioned(batch: list[Event]) -> set[tuple[str, str]]:
    """By host and id."""
    found: set[tuple[str, str]] = set()
    for event in batch:
        ids = event.ids if isinstance(event, Surveyed) else () if isinstance(event, OF_NONE) else (event.id,)
        found.update((event.origin.host, id) for id in ids)
    return found


@settings(max_examples=200)
@given(
    st.lists(over, max_size=8),
    st.lists(events.map(pathless), max_size=8),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_nobody_notices_that_trees_have_no_rows(
    finished: list[list[Event]], others: list[Event], again: bool, random: Any
) -> None:
    hosts: list[Event] = [HostMet(MIDDLE, of_host("dev")), Heard("here", MIDDLE, Origin("log", 1, 0))]
    together = distinct([*(event for each in finished for event in each), *others])
    if random.random() < 0.5:
        random.shuffle(together)
    first, second = sorted(random.choices(range(len(together) + 1), k=2))
    before, meanwhile, after = [*hosts, *together[:first]], together[first:second], together[second:]
    if again:
        after = [*after, *random.sample(before, len(before) // 3)]
    whole, short = Forest(), Forest()
    for forest in (whole, short):
        forest.apply(before)
        forest.advance(MIDDLE)
    shortening = Shortening(short, random.choice([0, 0, 2]), Millis(0))
    while not shortening.work(1):
        pass
    whole.apply(meanwhile)
    shortening.follow(short.apply(meanwhile))
    for forest in (whole, short):
        forest.advance(MIDDLE)
    short.become(shortening.finish())
    assert short.counts == whole.counts
    for forest in (whole, short):
        forest.apply(after)
        forest.advance(LATER)
    assert short.counts == whole.counts
    assert short.learned() == whole.learned()
    assert dict(short.spans()) == dict(whole.spans())
    everything, left = picture(whole), picture(short)
    assert {name: everything[name] for name in left} == left
    gone = everything.keys() - left.keys()
    assert not gone & mentioned(after)
    assert not {everything[name][1] for name in gone} & (OPEN | ENDED_BADLY)
    assert short.finished is not None
    assert len(short.finished) == len(gone)
    rows = short.unlearn(short.finished.take_newest(len(gone)))
    short.apply([event for row in rows for event in row.events()])
    short.advance(LATER)
    assert picture(short) == everything
    assert short.counts == whole.counts


@settings(max_examples=100, deadline=None)
@given(steps, st.randoms(use_true_random=False))
def test_what_was_judged_holds_when_others_have_no_rows_any_more(steps: list[Step], random: Any) -> None:
    watched = Watched()
    for step in steps:
        watched.take(step)
        if random.random() < 0.6:
            told = FinishedRows(watched.assessments, Millis(0))
            earlier = told.earlier()
            shorten(watched, told)
            assert told.earlier() == earlier
        found = Assessments(watched.forest)
        found.update()
        kept = watched.assessments
        assert [plain(each) for each in kept.problems()] == [plain(each) for each in found.problems()]
        assert kept.earlier() == found.earlier()
        handles = range(len(watched.forest))
        assert [plain(kept.of(handle)) for handle in handles] == [plain(found.of(handle)) for handle in handles]
        pressing = Pressing(found)
        assert [*map(watched.pressing.key, handles)] == [*map(pressing.key, handles)]


def shorten(watched: Watched, told: FinishedRows) -> None:
    """As the board does it."""
    shorter = Shortening(watched.forest, 0, Millis(0), trouble=told._trouble).finish()
    judged = watched.assessments.judged()
    before = watched.forest.leave()
    watched.forest.become(shorter)
    watched.assessments.renumber(before, judged)
    watched.pressing.begin_again()
