"""Messages are sent beside: a server that fails, hangs or lies holds up nobody, and is told of once."""

import threading
from collections.abc import Callable

import pytest
from tests.loopback_server import Reply, byte_by_byte, free_port, never, reply, serving
from tests.patience import PATIENCE, until

from delegtop.base.clock import Millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.model.states import State
from delegtop.notify.courier import PAUSES, Courier
from delegtop.notify.http_post import Accepts, HttpAnswer, Letter
from delegtop.notify.letter_thread import LONGEST
from delegtop.notify.notification import Notification, in_words
from delegtop.notify.outbox import Outbox
from delegtop.notify.webhook import webhook

OK = reply("200 OK")


def told(cause: Cause = Cause.HUNG, id: str = "a") -> Notification:
    return in_words(Alert(cause, 0, id, "worker", None, State.SILENT, "It hangs.", Millis(0)))


class Desk:
    """A courier with what it said and how long it paused."""

    def __init__(self, url: str, *, timeout: float = PATIENCE, per_minute: int = 600, **more: object) -> None:
        self.said: list[str] = []
        self.pauses: list[float] = []
        given = {"pause": self.pauses.append, **more}
        self.courier = Courier(
            webhook(f"{url}/s3cr3t"),
            self.said.append,
            Outbox(per_minute),
            timeout=timeout,
            **given,  # type: ignore[arg-type]  # what a test gives fits
        )

    def tell(self, *notices: Notification) -> None:
        self.courier.tell(notices)

    def until_said(self) -> str:
        def is_said() -> bool:
            self.courier.tend()
            return bool(self.said)

        until(is_said)
        assert "s3cr3t" not in str(self.said)
        return self.said[0]

    def close(self, seconds: float = PATIENCE) -> None:
        self.courier.close(seconds)


def test_each_message_arrives_once() -> None:
    with serving(OK) as server:
        desk = Desk(server.url)
        desk.tell(told(id="a"), told(id="b"))
        desk.tell(told(Cause.DONE, id="c"))
        until(lambda: len(server.asked) == 3)
        desk.close()
        assert [asked.json["id"] for asked in server.asked] == ["a", "b", "c"]
    assert (desk.said, desk.pauses) == ([], [])


def test_a_server_that_fails_for_a_while_gets_the_same_message_in_the_end() -> None:
    with serving(reply("500 Oops"), reply("503 Busy"), OK) as server:
        desk = Desk(server.url)
        desk.tell(told())
        until(lambda: len(server.asked) == 3)
        desk.close()
        assert len({asked.body for asked in server.asked}) == 1
    assert desk.pauses == [*PAUSES[:2]]
    assert desk.said == []


def test_one_that_always_fails_is_asked_a_few_times_and_told_of_once() -> None:
    with serving(reply("500 Oops")) as server:
        desk = Desk(server.url)
        desk.tell(told(id="a"), told(id="b"))
        assert desk.until_said() == f"webhook: {server.url}/[masked] answered 500 Oops"
        until(lambda: len(server.asked) == 2 * (1 + len(PAUSES)))
        desk.close()
    assert len([line for line in desk.said if "500" in line]) == 1


@pytest.mark.parametrize(("wanted", "kept"), [("7", 7.0), ("1", PAUSES[0]), ("86400", LONGEST)])
def test_one_that_wants_to_be_left_alone_is_within_limits(wanted: str, kept: float) -> None:
    with serving(reply("429 Too Many Requests", b"", f"Retry-After: {wanted}"), OK) as server:
        desk = Desk(server.url)
        desk.tell(told())
        until(lambda: len(server.asked) == 2)
        desk.close()
    assert desk.pauses == [kept]


def test_one_that_will_never_take_it_is_not_asked_again() -> None:
    with serving(reply("404 Not Found")) as server:
        desk = Desk(server.url)
        desk.tell(told())
        assert "answered 404 Not Found" in desk.until_said()
        desk.close()
        assert len(server.asked) == 1
    assert desk.pauses == []


def test_where_nobody_listens_that_is_said() -> None:
    desk = Desk(f"http://127.0.0.1:{free_port()}")
    desk.tell(told())
    assert "cannot be reached: Connection refused" in desk.until_said()
    assert desk.pauses == [*PAUSES]
    desk.close()


@pytest.mark.parametrize("how", [never, byte_by_byte], ids=["never answers", "answers byte by byte"])
def test_one_that_hangs_holds_up_nobody_and_is_told_of(how: Reply) -> None:
    with serving(how) as server:
        desk = Desk(server.url, timeout=0.3)
        desk.tell(told())
        assert "did not answer within 0.3 s" in desk.until_said()
        desk.close()


def test_telling_does_not_wait_for_a_server() -> None:
    """It comes back while the message is under way, which it is until the test says otherwise."""
    under_way, may_end = threading.Event(), threading.Event()

    def send(_letter: Letter, _accepts: Accepts, _timeout: float) -> HttpAnswer:
        under_way.set()
        may_end.wait(PATIENCE)
        return HttpAnswer(True, "taken")

    desk = Desk("http://127.0.0.1:1", send=send)
    desk.tell(told())
    assert under_way.wait(PATIENCE)
    for _ in range(1000):
        desk.courier.tend()
    may_end.set()
    desk.close()
    assert desk.said == []


def test_what_did_not_arrive_is_counted_and_told_with_the_next_that_does() -> None:
    with serving(reply("404 Not Found"), OK) as server:
        desk = Desk(server.url)
        desk.tell(told(id="a"))
        desk.until_said()
        desk.tell(told(id="b"))
        until(lambda: len(server.asked) == 2)
        assert server.asked[1].json["held_back"] == 1
        desk.close()


class TestTheEnd:
    def test_what_waits_is_sent_before_the_end(self) -> None:
        with serving(OK) as server:
            desk = Desk(server.url)
            desk.tell(*(told(id=str(number)) for number in range(5)))
            desk.close()
            assert len(server.asked) == 5
        assert desk.said == []

    def test_a_pause_is_cut_short_for_one_last_try(self) -> None:
        with serving(reply("500 Oops"), OK) as server:
            desk = Desk(server.url, pause=None, pauses=(PATIENCE * 10,))
            desk.tell(told())
            until(lambda: len(server.asked) == 1)
            desk.close()
            assert len(server.asked) == 2
        assert desk.said == []

    def test_nobody_waits_for_one_that_hangs_and_that_is_said(self) -> None:
        with serving(never) as server:
            desk = Desk(server.url, timeout=PATIENCE * 10)
            desk.tell(told(), told(id="b"))
            until(lambda: len(server.asked) == 1)
            desk.close(0.0)
        assert desk.said == ["webhook: 2 messages did not arrive, or may not have, when it ended"]

    def test_where_nothing_was_told_nothing_is_started(self) -> None:
        before = threading.active_count()
        desk = Desk("http://127.0.0.1:1")
        desk.courier.tend()
        assert threading.active_count() == before
        desk.close()
        assert desk.said == []


class TestOutbox:
    def box(self, now: Callable[[], float] = lambda: 0.0, per_minute: int = 2) -> Outbox:
        return Outbox(per_minute, now)

    def test_so_many_a_minute_and_no_more(self) -> None:
        clock = [0.0]
        box = self.box(lambda: clock[0])
        box.put(told(id=str(number)) for number in range(3))
        assert [box.take() is not None for _ in range(3)] == [True, True, False]
        assert box.delay() == 60.0
        clock[0] = 59.0
        assert (box.take(), box.delay()) == (None, 1.0)
        clock[0] = 60.0
        assert box.take() is not None

    def test_that_something_is_over_is_told_only_where_it_was_told(self) -> None:
        box = self.box(per_minute=10)
        box.put([told(Cause.RESOLVED)])
        assert len(box) == 0
        box.put([told()])
        box.take()
        box.put([told(Cause.RESOLVED), told(Cause.RESOLVED)])
        assert len(box) == 1

    def test_what_was_over_before_it_could_be_told_is_counted_and_not_told(self) -> None:
        box = self.box()
        box.put([told(id="a"), told(id="b"), told(id="c")])
        box.take()
        box.put([told(Cause.RESOLVED, "b"), told(Cause.RESOLVED, "c")])
        box.put([told(id="d")])
        taken = box.take()
        assert taken is not None
        assert (taken.notice.id, taken.more) == ("d", 2)

    def test_of_what_did_not_arrive_nobody_is_told_that_it_is_over(self) -> None:
        box = self.box()
        box.put([told()])
        taken = box.take()
        assert taken is not None
        box.failed(taken)
        box.put([told(Cause.RESOLVED)])
        assert len(box) == 0
