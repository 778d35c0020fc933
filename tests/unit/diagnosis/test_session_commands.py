"""What opens a session, given whether its process is there and how it was started."""

from typing import Any

import pytest
from tests.telling import at, ended, forest_at, handle_of, place, started

from delegtop.base.origin import kernel
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.session_commands import Opening, opening
from delegtop.model.events import LOCALHOST, Described, Ended, Ending, Event, Outcome, Started
from delegtop.model.session_manner import JOB, KERNEL, LISTENS, MANNER, PANE, SEEN, TTY, Manner

SEEN_BY = (SEEN, KERNEL)
FOLDER = Described("a", at(0), place(), cwd="/srv/my garden")
GONE = Ended("a", at(20), kernel(4711), Outcome.LOST, Ending.GONE)


def session(*refs: tuple[str, str], product: str = "claude-code", **facts: Any) -> Started:
    about = {"product": product, "depth": 0, "pid": 4711, "host": LOCALHOST, "refs": refs} | facts
    return started("a", 0, **about)


def opens(*events: Event, id: str = "a") -> Opening:
    forest = forest_at(at(60), events)
    return opening(Case(forest, handle_of(forest, id)))


def test_a_session_whose_process_is_gone_is_opened_again_in_its_folder() -> None:
    assert opens(session(SEEN_BY), FOLDER, GONE) == Opening("cd '/srv/my garden' && claude --resume a")


def test_an_agent_is_opened_by_the_session_it_belongs_to() -> None:
    below = started("b", 1, parent="a", product="claude-code")
    assert opens(session(SEEN_BY), below, FOLDER, GONE, id="b").command == "cd '/srv/my garden' && claude --resume a"


def test_one_in_the_background_is_attached_to() -> None:
    told = opens(session(SEEN_BY, (MANNER, "background"), (JOB, "5e55")), FOLDER)
    assert told == Opening("claude attach 5e55")


@pytest.mark.parametrize(
    ("listens", "url"),
    [
        ("127.0.0.1:4096", "http://127.0.0.1:4096"),
        ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:80", "http://127.0.0.1:80"),
    ],
)
def test_one_in_a_server_is_opened_there(listens: str, url: str) -> None:
    refs = SEEN_BY, (MANNER, "server"), (LISTENS, listens), ("session_id", "ses_1")
    assert opens(session(*refs, product="opencode")) == Opening(f"opencode attach {url} --session ses_1")


@pytest.mark.parametrize("listens", ["evil.example:80", "127.0.0.1:80/x?", "127.0.0.1", ":80", "$(reboot):80"])
def test_what_is_no_address_is_not_asked(listens: str) -> None:
    refs = SEEN_BY, (MANNER, "server"), (LISTENS, listens), ("session_id", "ses_1")
    assert opens(session(*refs, product="opencode")).command is None


def test_one_in_the_background_whose_name_is_not_known_is_not_opened() -> None:
    told = opens(session(SEEN_BY, (MANNER, "background")))
    assert told == Opening(None, "it runs in the background (pid 4711), and what it is called there is not known")


@pytest.mark.parametrize(
    ("runs_as", "why"),
    [
        ("terminal", "it is open in a terminal (pts/3, tmux %3, pid 4711, in /srv/my garden): go there"),
        (
            "headless",
            "it runs without a terminal (pts/3, tmux %3, pid 4711, in /srv/my garden): "
            "there is nothing to open until it has ended",
        ),
        (
            "server",
            "a server has it (pts/3, tmux %3, pid 4711, in /srv/my garden): open it in the program that shows it",
        ),
        ("unknown", "it is open elsewhere (pts/3, tmux %3, pid 4711, in /srv/my garden): go there"),
    ],
)
def test_one_that_is_there_is_never_opened_a_second_time(runs_as: str, why: str) -> None:
    assert opens(session(SEEN_BY, (MANNER, runs_as), (PANE, "%3"), (TTY, "pts/3")), FOLDER) == Opening(None, why)


@pytest.mark.parametrize("runs_as", Manner)
@pytest.mark.parametrize("product", ["claude-code", "codex", "opencode", "crush", "goose"])
def test_no_program_is_opened_again_while_it_is_there(product: str, runs_as: Manner) -> None:
    command = opens(session(SEEN_BY, (MANNER, runs_as.value), (JOB, "5e55"), product=product)).command
    joined = "codex resume a" if (product, runs_as) == ("codex", Manner.SERVER) else None
    assert command in (None, joined, "claude attach 5e55")


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"pid": None, "host": None}, "nothing tells which process it is"),
        ({}, "nobody has looked at its process"),
        ({"host": "build-7"}, "it is on build-7"),
    ],
)
def test_where_nobody_can_see_its_process_the_command_says_what_to_see_to_first(
    facts: dict[str, Any], why: str
) -> None:
    told = opens(session(**facts))
    assert told == Opening("claude --resume a", f"whether its program is closed cannot be seen from here: {why}")


def test_one_that_ended_elsewhere_says_where() -> None:
    told = opens(session(host="build-7"), ended("a", 20, Outcome.FAILED))
    assert told.why.endswith("; it is on build-7")


def test_what_has_no_command_says_so() -> None:
    assert opens(session(SEEN_BY, product="otel"), GONE) == Opening(
        None, "OpenTelemetry has no command that opens a session again"
    )
    assert opens(session(SEEN_BY, product="proofchecker"), GONE) == Opening(
        None, "what its session is called is not known"
    )
    assert opens(started("a", 0, product=None)).command is None
