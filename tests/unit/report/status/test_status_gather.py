"""What of a forest the status line counts, and who keeps its file fresh."""

import os

import pytest
from tests.telling import T0, at, ended, forest_at, heard, place, started

from delegtop.base.clock import HOUR, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.diagnosis.assessments import Assessments
from delegtop.feed.followed_file import SourceStatus
from delegtop.model.events import Described, Event, Outcome, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.report.status import status_file, status_keeper
from delegtop.report.status.machine_status import MachineStatus, UnreadPlace
from delegtop.report.status.status_gather import gather
from delegtop.report.status.status_json import SESSIONS, decode, encode
from delegtop.report.status.status_keeper import StatusKeeper

SECRET = "sk-ant-api03-" + "a1" * 30


def judged(*events: Event, minute: float = 1) -> Assessments:
    found = Assessments(forest_at(at(minute), events))
    found.update()
    return found


def stuck(id: str, minute: float = 0, **facts: object) -> list[Event]:
    """One that asks a person."""
    return [started(id, minute, **facts), heard(id, minute + 0.1, Phase.ANSWER)]


def told(*events: Event, minute: float = 1) -> MachineStatus:
    return gather(judged(*events, minute=minute), "test")


class TestWhatCannotBeRead:
    CLOSED = SourceStatus("/logs/0b9b1c2e/subagents", None, 0, 0, "unreadable", "permission denied")
    WELL = SourceStatus("/logs/0b9b1c2e.jsonl", "claude-code", 1, 0, "live")
    FAR = SourceStatus("ssh://gpu1", None, 0, 0, "unreadable", "refused")

    def test_it_is_kept_and_read_again(self) -> None:
        found = gather(judged(*stuck("a")), "test", statuses=[self.WELL, self.CLOSED, self.FAR])
        assert found.unread == (UnreadPlace(self.CLOSED.path, "permission denied"),)
        assert decode(encode(found).encode()).unread == found.unread

    def test_what_is_not_counted_elsewhere_is_not_told_here(self) -> None:
        assert gather(judged(), "test", statuses=[self.CLOSED], counted=lambda _: False).unread == ()

    def test_it_belongs_to_the_line_of_a_session_if_the_path_names_that(self) -> None:
        found = gather(judged(*stuck("0b9b1c2e"), *stuck("1c9b1c2e")), "test", statuses=[self.CLOSED])
        counts = [len(one.unread) for id in ("0b9b1c2e", "1c9b1c2e") if (one := found.of_session(id)) is not None]
        assert counts == [1, 0]


class TestCounting:
    def test_a_tree_is_one_session_with_all_below_it(self) -> None:
        events = [
            started("a"),
            Described("a", at(0), place(), cwd="/w/webapp"),
            started("b", 0.1, parent="a"),
            *stuck("c", 0.2, parent="b"),
            started("z"),
        ]
        found = told(*events)
        assert [session.id for session in found.sessions] == ["a", "z"]
        assert found.sessions[0].tally.problems == found.tally.problems == 1
        assert found.tally.first is not None
        assert (found.tally.first.id, found.tally.first.project, found.tally.first.urgency) == ("c", "webapp", "person")
        assert sum(found.tally.states.values()) == 4

    def test_the_exit_code_is_that_of_every_command(self) -> None:
        assert told(started()).tally.exit == 0
        assert told(started(), ended("a", 0.5, Outcome.FAILED)).tally.exit == 1
        assert told(*stuck("a")).tally.exit == 3

    def test_what_ended_badly_some_time_ago_is_counted_and_not_listed(self) -> None:
        found = told(started(), ended("a", 0.5, Outcome.FAILED), minute=600)
        assert (found.tally.problems, found.tally.exit, found.tally.states) == (0, 1, {"failed": 1})
        assert found.sessions == ()

    def test_what_is_done_is_not_counted(self) -> None:
        assert told(started(), ended("a", 0.5)).tally.states == {}

    def test_quiet_is_silent_and_no_problem(self) -> None:
        found = told(started(), heard("a", 0, Phase.TOOL, "Bash", "make"), minute=5)
        assert found.tally.states == {State.SILENT.value: 1}
        assert (found.tally.quiet, found.tally.problems) == (1, 0)

    def test_the_tool_is_named_only_where_it_stands_still_in_one(self) -> None:
        def first(*events: Event, minute: float) -> str:
            found = told(*events, minute=minute).tally.first
            assert found is not None
            return found.tool

        in_a_tool: list[Event] = [started("a", timeout=60), heard("a", 0.5, Phase.TOOL, "Bash", "make")]
        assert first(*in_a_tool, minute=30) == "Bash"
        assert first(started("a", timeout=60), heard("a", 0.5, Phase.MODEL, "Bash"), minute=120) == ""
        assert first(started("a"), heard("a", 0.5, Phase.PERMISSION, "Bash", "rm"), minute=1) == ""

    def test_their_order_is_the_same_in_whatever_order_they_were_read(self) -> None:
        events = [
            started("c"),
            *stuck("b"),
            *stuck("a"),
            started("d", 0.5),
            started("e"),
            ended("e", 0.5, Outcome.FAILED),
        ]
        found, again = told(*events), told(*reversed(events))
        assert again == found
        assert [*again.tally.states] == [*found.tally.states]
        assert [session.id for session in found.sessions] == ["a", "b", "e", "d", "c"]

    def test_more_sessions_than_are_listed_are_counted(self) -> None:
        found = told(*(started(f"s{number}") for number in range(SESSIONS + 7)), *stuck("worst"))
        assert (len(found.sessions), found.left_out) == (SESSIONS, 8)
        assert found.sessions[0].id == "worst"
        assert sum(found.tally.states.values()) == SESSIONS + 8

    def test_foreign_text_is_masked_and_on_one_line(self) -> None:
        found = told(*stuck("a", agent=f"x\x1b[31m\n{SECRET}"), Described("a", at(0), place(), cwd=f"/w/\x1b{SECRET}"))
        assert found.tally.first is not None
        session = found.sessions[0]._replace(folder="")  # a path stays as it is: sessions are found by it
        for text in (*map(str, found.tally.first), *map(str, session)):
            assert "\x1b" not in text
            assert "\n" not in text
            assert SECRET not in text

    def test_only_sources_that_count_are_counted(self) -> None:
        events = [*stuck("a"), Started("b", at(0), Origin("/here/run.jsonl", 1, 0), agent="worker")]
        found = gather(judged(*events), "test", counted=lambda source: not source.startswith("/here/"))
        assert [session.id for session in found.sessions] == ["a"]
        assert sum(found.tally.states.values()) == 1


class TestTheKeeper:
    @pytest.fixture(autouse=True)
    def _at_any_pace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(status_keeper, "_PACE", 0.0)
        monkeypatch.setattr(status_keeper, "_SHARE", 0)

    @pytest.fixture
    def writings(self, monkeypatch: pytest.MonkeyPatch) -> list[MachineStatus]:
        found: list[MachineStatus] = []
        write = status_file.write

        def noted(status: MachineStatus) -> None:
            found.append(status)
            write(status)

        monkeypatch.setattr(status_file, "write", noted)
        return found

    def test_it_writes_what_is_new_and_nothing_twice(self, writings: list[MachineStatus]) -> None:
        found = judged(started())
        keeper = StatusKeeper(found, "watch")
        keeper.look()
        keeper.look()
        assert [each.tally.states for each in writings] == [{"running": 1}]
        found.forest.apply([ended("a", 1.5, Outcome.FAILED)])
        found.touch({0}, found.forest.advance(at(2)) | {0})
        found.update()
        keeper.look()
        assert [each.tally.states for each in writings] == [{"running": 1}, {"failed": 1}]

    def test_it_writes_again_when_nobody_has_for_a_while(self, writings: list[MachineStatus]) -> None:
        keeper = StatusKeeper(judged(started()), "watch")
        keeper.look()
        long_ago = (WallClock().now() - status_file.BEAT - 1_000) / 1_000
        os.utime(status_file.place(), (long_ago, long_ago))
        keeper.look()
        keeper.look()
        assert len(writings) == 2

    def test_of_two_keepers_the_second_leaves_the_beat_to_the_first(self, writings: list[MachineStatus]) -> None:
        one, two = (StatusKeeper(judged(started()), by) for by in ("dashboard", "watch"))
        for _ in range(3):
            one.look()
            two.look()
        assert [each.by for each in writings] == ["dashboard", "watch"]

    def test_what_is_not_judged_yet_is_not_told(self, writings: list[MachineStatus]) -> None:
        found = judged(started())
        found.touch({0}, {0})
        StatusKeeper(found, "watch").look()
        assert writings == []

    def test_a_file_that_cannot_be_written_costs_nothing_else(self) -> None:
        status_file.place().mkdir(parents=True)
        keeper = StatusKeeper(judged(started()), "watch")
        keeper.look()
        status_file.place().rmdir()
        keeper.look()
        assert status_file.written_at() is not None

    def test_it_takes_only_its_share_of_the_processor(
        self, writings: list[MachineStatus], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(status_keeper, "_PACE", 1_000.0)
        found = judged(started())
        keeper = StatusKeeper(found, "watch")
        keeper.look()
        found.forest.apply([started("b")])
        found.forest.advance(at(2))
        found.update()
        keeper.look()
        assert len(writings) == 1


def test_what_is_counted_costs_no_more_for_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forest of a day has thousands that are done, and a keeper looks every second."""
    many = [each for number in range(2_000) for each in (started(f"d{number}"), ended(f"d{number}", 0.5))]
    found = judged(*many, started("a"))
    asked: list[Handle] = []
    parent = Forest.parent

    def counted(forest: Forest, handle: Handle) -> Handle | None:
        asked.append(handle)
        return parent(forest, handle)

    monkeypatch.setattr(Forest, "parent", counted)
    gather(found, "test")
    assert 0 < len(asked) < 50


def test_a_moment_of_a_forest_is_that_of_the_status() -> None:
    assert told(started(), minute=7).at == Millis(T0 + 7 * 60_000)
    assert HOUR > status_file.FRESH > 2 * status_file.BEAT
