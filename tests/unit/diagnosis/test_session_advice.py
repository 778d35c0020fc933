"""What is advised about a session, by whether its process is there and how it was started."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from tests.telling import at, ended, forest_at, handle_of, heard, place, started

from delegtop.base.clock import Millis
from delegtop.base.origin import kernel
from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.recovery import Step
from delegtop.diagnosis.verdicts import Kind, judge
from delegtop.diagnosis.verdicts.kinds import Need
from delegtop.dialects.products import products
from delegtop.model.events import (
    LOCALHOST,
    Described,
    Ended,
    Ending,
    Event,
    Outcome,
    Outlook,
    Phase,
    ProcessSeen,
    Started,
    WaitsFor,
)
from delegtop.model.session_manner import JOB, KERNEL, LISTENS, MANNER, PANE, SEEN, TTY, Manner

NOW = at(60)
FOLDER = Described("a", at(0), place(), cwd="/srv/garden")
GONE = Ended("a", at(50), kernel(4711), Outcome.LOST, Ending.GONE)
PROGRAMS = [each.name for each in products() if each.resume and each.is_session]
REACHED = {
    Manner.TERMINAL: ((TTY, "pts/3"),),
    Manner.BACKGROUND: ((JOB, "5e55"),),
    Manner.SERVER: ((LISTENS, "127.0.0.1:4096"),),
}


def session(runs_as: Manner = Manner.TERMINAL, *refs: tuple[str, str], product: str = "claude-code") -> Started:
    """Of a process that the system showed."""
    told = ((SEEN, KERNEL), (MANNER, runs_as.value), *REACHED.get(runs_as, ()), *refs)
    return started("a", 0, product=product, agent="main", depth=0, pid=4711, host=LOCALHOST, refs=told)


ASKS = heard("a", 1, phase=Phase.PERMISSION, tool="Bash")
MODEL = heard("a", 1, phase=Phase.MODEL)
UNTOLD: tuple[Event, ...] = (
    started("b", 1, parent="a", product="claude-code"),
    heard("a", 2, phase=Phase.CHILD),
    ended("b", 3, Outcome.COMPLETED),
)
"""A child that is done, and a parent that was not told."""


def steps(*events: Event, id: str = "a", now: Millis = NOW) -> list[Step]:
    forest = forest_at(now, events)
    return list(recovery.todo(Case(forest, handle_of(forest, id)), ()))


def kind(*events: Event, id: str = "a") -> Kind | None:
    forest = forest_at(NOW, events)
    verdict = judge(Case(forest, handle_of(forest, id)))
    return verdict.kind if verdict else None


def typed(told: Sequence[Step]) -> list[str]:
    return [step.command for step in told if step.command]


# -- in a terminal -------------------------------------------------------------------------------------------------


def test_in_a_terminal_it_is_answered_there_and_the_first_sentence_says_where() -> None:
    first, *_ = steps(session(), FOLDER, ASKS)
    words = "Answer it: allow it or deny it. Its terminal: pts/3, pid 4711, in /srv/garden."
    assert first == Step(recovery.By.DELEGTOP, words)


def test_in_tmux_the_command_goes_to_its_pane() -> None:
    first, *_ = steps(session(Manner.TERMINAL, (PANE, "%3")), FOLDER, ASKS)
    assert first.words.endswith("Its terminal: pts/3, tmux %3, pid 4711, in /srv/garden.")
    assert first.command == "tmux switch-client -t %3 || tmux attach -t %3"


def test_a_pane_with_a_hostile_name_stays_one_word() -> None:
    first, *_ = steps(session(Manner.TERMINAL, (PANE, "x; rm -rf ~:@1.%2")), ASKS)
    assert first.command == "tmux switch-client -t 'x; rm -rf ~:@1.%2' || tmux attach -t 'x; rm -rf ~:@1.%2'"


def test_a_parent_that_was_never_told_is_sent_a_message_where_it_is() -> None:
    assert kind(session(), *UNTOLD) is Kind.LOST_RETURN
    first, *_ = steps(session(), FOLDER, *UNTOLD)
    assert first.words == (
        "Send it any message: that makes it look again, and it finds that its child is done. "
        "Type it in its terminal: pts/3, pid 4711, in /srv/garden."
    )


@pytest.mark.parametrize(
    ("product", "key"),
    [("claude-code", "Esc"), ("opencode", "Esc twice"), ("grok", "Ctrl-C"), ("goose", "Ctrl-C")],
)
def test_in_a_terminal_the_key_of_its_program_interrupts_it(product: str, key: str) -> None:
    assert kind(session(product=product), MODEL) is Kind.NO_MODEL_ANSWER
    first, *_ = steps(session(product=product), MODEL)
    assert first.words == (
        "Interrupt it and send the prompt again. "
        f"In its terminal (pts/3, pid 4711) press {key}, which interrupts its turn."
    )


def test_a_program_whose_key_is_not_known_is_interrupted_and_no_key_is_made_up() -> None:
    first, *_ = steps(session(product="crush"), MODEL)
    assert first.words.endswith("Interrupt it in its terminal: pts/3, pid 4711.")


@pytest.mark.parametrize(
    ("product", "press"),
    [
        (
            "claude-code",
            "press ↓ until it is marked, then x, which stops this agent alone, "
            "or Esc, which interrupts the turn of its session, not only this agent.",
        ),
        ("codex", "press Esc, which interrupts the turn of its session, not only this agent."),
    ],
)
def test_an_agent_within_is_stopped_alone_where_its_program_can_and_else_the_advice_says_what_ends_too(
    product: str, press: str
) -> None:
    child = started("b", 1, parent="a", product=product), heard("b", 2, phase=Phase.MODEL)
    first, *_ = steps(session(product=product), heard("a", 1, phase=Phase.CHILD), *child, id="b")
    assert first.words.endswith(f"In its terminal (pts/3, pid 4711) {press}")


# -- without a terminal --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((ASKS,), "It runs without a terminal (pid 4711), where nobody can answer: "),
        (UNTOLD, "It runs without a terminal (pid 4711), where nobody can send it a message: "),
        (
            (MODEL,),
            "Interrupt it and send the prompt again. "
            "It runs without a terminal (pid 4711), so only a signal reaches it: ",
        ),
    ],
)
def test_without_a_terminal_only_a_signal_reaches_it(events: tuple[Event, ...], words: str) -> None:
    first, *_ = steps(session(Manner.HEADLESS), *events)
    assert first.words == (
        f"{words}this signal (SIGINT) ends it; its conversation is kept, and then it can be taken up again."
    )
    assert first.command == "kill -INT 4711"


def test_once_it_is_gone_it_goes_on_with_or_without_a_terminal() -> None:
    told = steps(session(Manner.HEADLESS), FOLDER, MODEL, GONE)
    assert typed(told) == [
        "cd /srv/garden && claude --resume a",
        "cd /srv/garden && claude -p --resume a 'Go on where you stopped.'",
    ]
    assert next(step.words for step in told if step.command) == "Its program is gone: this opens its session again."


def test_no_signal_is_advised_for_a_number_that_means_more_than_one_process() -> None:
    told = session(Manner.HEADLESS)
    assert typed(steps(Started(**{**_fields(told), "pid": 1}), MODEL)) == []


def _fields(event: Started) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


# -- in the background ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "commands"),
    [
        ((ASKS,), ["claude attach 5e55", "claude stop 5e55"]),
        (UNTOLD, ["claude attach 5e55", "claude stop 5e55"]),
        ((MODEL,), ["claude attach 5e55", "claude stop 5e55"]),
        ((heard("a", 1),), ["claude logs 5e55", "claude attach 5e55", "claude stop 5e55"]),
    ],
)
def test_in_the_background_its_programs_own_commands_are_typed_and_no_signal(
    events: tuple[Event, ...], commands: list[str]
) -> None:
    told = steps(session(Manner.BACKGROUND), FOLDER, *events)
    assert typed(told) == commands
    assert any("A signal would not: its supervisor would start it again." in step.words for step in told)


def test_what_is_past_its_deadline_in_the_background_is_stopped_first() -> None:
    late = Started(**{**_fields(session(Manner.BACKGROUND)), "timeout": Millis(60_000)})
    assert kind(late, heard("a", 59)) is Kind.OVERDUE
    assert typed(steps(late, heard("a", 59))) == ["claude stop 5e55", "claude attach 5e55"]


# -- in a server ---------------------------------------------------------------------------------------------------

CHILD = "ses_e178f81f9ffe56Au8638Aa7py9"
OPENCODE = session(Manner.SERVER, ("session_id", "ses_1"), product="opencode")
HUNG_CHILD: tuple[Event, ...] = (
    heard("a", 1, phase=Phase.CHILD),
    started(CHILD, 1, parent="a", product="opencode"),
    heard(CHILD, 2, phase=Phase.MODEL),
)


def test_a_server_aborts_the_child_alone_and_its_work_is_taken_up() -> None:
    told = steps(OPENCODE, *HUNG_CHILD, id=CHILD)
    assert typed(told) == [
        f"curl -X POST http://127.0.0.1:4096/session/{CHILD}/abort",
        f'task(task_id="{CHILD}")',
    ]
    assert "to abort this child alone" in told[0].words


def test_a_session_of_a_server_that_asks_is_opened_there() -> None:
    first, *_ = steps(OPENCODE, ASKS)
    assert first.words == "Answer it: allow it or deny it. A server has it (pid 4711): this opens it."
    assert first.command == "opencode attach http://127.0.0.1:4096 --session ses_1"


def test_a_server_that_cannot_be_asked_is_not() -> None:
    told = steps(session(Manner.SERVER, product="qwen"), MODEL)
    assert typed(told) == []
    assert "interrupt it in the program that shows it" in told[0].words


def test_a_program_whose_terminals_share_a_server_joins_the_session_there() -> None:
    first, *_ = steps(session(Manner.SERVER, product="codex"), FOLDER, MODEL)
    assert first.words == (
        "Interrupt it and send the prompt again. A server has it (pid 4711, in /srv/garden): this opens it there; "
        "press Esc, which interrupts its turn."
    )
    assert first.command == "cd /srv/garden && codex resume a"


def test_an_id_that_is_no_session_is_not_put_into_an_address() -> None:
    told = steps(session(Manner.SERVER, ("session_id", "../../x"), product="opencode"), MODEL)
    assert not any("curl" in command for command in typed(told))


def test_a_child_of_a_session_that_is_gone_is_taken_up_by_its_own_id() -> None:
    told = steps(session(Manner.TERMINAL, ("session_id", "ses_1"), product="opencode"), *HUNG_CHILD, GONE, id=CHILD)
    assert typed(told) == ["opencode -s ses_1", f'task(task_id="{CHILD}")']


# -- whoever it is -------------------------------------------------------------------------------------------------

TROUBLES = {"asks": (ASKS,), "model": (MODEL,), "untold": UNTOLD, "silent": (heard("a", 1),)}


@pytest.mark.parametrize("product", PROGRAMS)
def test_nothing_that_is_there_is_opened_again(product: str) -> None:
    program = next(each for each in products() if each.name == product)
    for runs_as, trouble in itertools.product(Manner, TROUBLES):
        case = runs_as, trouble
        told = steps(session(runs_as, product=product), FOLDER, *TROUBLES[trouble])
        assert told, (case, "there is something to do")
        joins = runs_as is Manner.SERVER and program.attach_server[:-1] == program.resume
        for words in (program.resume, program.resume_headless):
            line = " ".join(words)
            assert joins or not words or not any(line in f"{step.words} {step.command}" for step in told), case
        assert not any("--resume" in f"{step.words} {step.command}" for step in told), case
        assert "pid 4711" in told[0].words, (case, "it says that it is there, and where")


@pytest.mark.parametrize("product", PROGRAMS)
def test_whatever_is_gone_is_opened_again(product: str) -> None:
    program = next(each for each in products() if each.name == product)
    for runs_as, trouble in itertools.product(Manner, TROUBLES):
        case = runs_as, trouble
        told = steps(session(runs_as, product=product), FOLDER, *TROUBLES[trouble], GONE)
        assert typed(told)[0].startswith(f"cd /srv/garden && {' '.join(program.resume)} "), case
        opens = next(step.words for step in told if step.command)
        assert opens.startswith("Its program is gone: this opens its session again"), case
        assert ("as its documentation has it" in opens) == (not program.tried), case


def test_a_program_that_finds_sessions_by_their_folder_says_so_where_that_is_not_known() -> None:
    (opens,) = (step for step in steps(session(product="gemini"), MODEL, GONE) if step.command)
    assert opens.command == "gemini --resume a"
    assert opens.words.endswith("Type it in the folder of its project, it finds no others.")


def test_what_ran_without_a_terminal_and_has_ended_may_go_on_so() -> None:
    over = ended("a", 59, Outcome.FAILED)
    told = steps(session(Manner.HEADLESS, product="codex"), over)
    assert typed(told) == ["codex resume a", "codex exec resume a 'Go on where you stopped.'"]


def test_a_session_whose_name_is_not_known_is_asked_for_anew() -> None:
    told = steps(
        Started(**{**_fields(session()), "id": "-a"}),
        Ended("-a", at(50), kernel(4711), Outcome.LOST, Ending.GONE),
        id="-a",
    )
    assert (
        "Its program is gone, and what its session is called is not known: ask for the work anew, with what it left."
        in [step.words for step in told]
    )


def test_where_nobody_can_see_it_what_to_look_at_comes_before_the_command() -> None:
    unseen = started("a", 0, product="codex", depth=0, pid=4711, host=LOCALHOST)
    told = steps(unseen, MODEL)
    opens = next(step for step in told if step.command)
    assert opens.words == (
        "Look first whether its program is still open, which cannot be seen from here (nobody has looked at its "
        "process). If it is closed, this opens its session again."
    )


@pytest.mark.parametrize(
    ("runs_as", "words", "command"),
    [
        (Manner.TERMINAL, "Its session is open (pts/3, pid 4711): tell it there how to go on.", None),
        (Manner.BACKGROUND, "Its session is open (pid 4711): tell it there how to go on.", "claude attach 5e55"),
        (
            Manner.HEADLESS,
            "Its session still runs, without a terminal (pid 4711): wait for what it makes of this.",
            None,
        ),
    ],
)
def test_what_failed_in_a_session_that_is_there_is_told_to_it(runs_as: Manner, words: str, command: str | None) -> None:
    failed = started("b", 1, parent="a", product="claude-code"), ended("b", 59, Outcome.FAILED)
    (told,) = steps(session(runs_as), heard("a", 59.5), *failed, id="b")
    assert (told.words, told.command) == (words, command)


# -- the tool's own process --------------------------------------------------------------------------------------


def test_the_process_of_the_tool_comes_before_its_session() -> None:
    inside = heard("a", 1, phase=Phase.TOOL, tool="Bash", doing="apt-get install x")
    told = steps(session(), inside, looked(4800))
    assert typed(told)[0] == "kill 4800"
    assert told[1].words.startswith("If that does not free it: in its terminal (pts/3, pid 4711) press Esc, ")


def looked(pid: int) -> ProcessSeen:
    return ProcessSeen(
        "a",
        NOW,
        kernel(pid),
        pid,
        WaitsFor.INPUT,
        outlook=Outlook.ENDLESS,
        still_since=at(2),
        fits=("descendant", "started", "command"),
    )


def test_every_verdict_that_is_a_problem_says_what_its_session_needs() -> None:
    assert {each.row.needs for each in Kind} == set(Need)
