"""A signal tells all who listen, and the one who tells knows nobody of them."""

from delegtop.app.state.board_signal import Signal


def test_everybody_is_told_in_the_order_in_which_they_came() -> None:
    signal: Signal[[str]] = Signal()
    heard: list[str] = []
    signal.subscribe(lambda word: heard.append(f"first {word}"))
    signal.subscribe(lambda word: heard.append(f"second {word}"))
    signal.publish("now")
    assert heard == ["first now", "second now"]


def test_who_leaves_is_told_no_more_and_the_others_are() -> None:
    signal: Signal[[int]] = Signal()
    leaves: list[int] = []
    stays: list[int] = []
    signal.subscribe(leaves.append)
    signal.subscribe(stays.append)
    signal.unsubscribe(leaves.append)
    signal.publish(1)
    assert (leaves, stays) == ([], [1])


def test_whoever_listens_twice_is_told_once_and_who_never_did_may_leave() -> None:
    signal: Signal[[int]] = Signal()
    heard: list[int] = []
    signal.subscribe(heard.append)
    signal.subscribe(heard.append)
    signal.unsubscribe(print)
    signal.publish(1)
    assert heard == [1]


def test_one_who_leaves_while_it_is_told_keeps_nobody_else_from_hearing() -> None:
    signal: Signal[[]] = Signal()
    heard: list[str] = []

    def once() -> None:
        signal.unsubscribe(once)
        heard.append("once")

    signal.subscribe(once)
    signal.subscribe(lambda: heard.append("always"))
    signal.publish()
    signal.publish()
    assert heard == ["once", "always", "always"]
