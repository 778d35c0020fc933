"""What to type, what to do in whose order, and what is worth saving."""

import shlex
from typing import Any

import pytest
from tests.telling import forest_at, handle_of

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis import recovery
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.recovery import By, Step
from delegtop.diagnosis.verdicts import Kind
from delegtop.model import notes
from delegtop.model.delegation import Delegation, Note
from delegtop.model.events import (
    LOCALHOST,
    Artifact,
    Described,
    Ended,
    Ending,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Started,
)
from delegtop.model.forest import Forest
from delegtop.model.session_manner import KERNEL, MANNER, SEEN
from delegtop.model.states import State
from delegtop.protocols.standard.contract import own_words

PLACE = Origin("log.jsonl", 1, 0)
NOON = Millis(1_700_000_000_000)


def forest(*events: Event) -> Forest:
    return forest_at(NOON, events)


def started(id: str = "a", *, at: int = 0, **fields: Any) -> Started:
    return Started(id, Millis(NOON + at * MINUTE), PLACE, **fields)


def commands(grown: Forest, id: str = "a") -> list[str | None]:
    handle = handle_of(grown, id)
    return [step.command for step in recovery.resume(Case(grown, handle))]


@pytest.mark.parametrize(
    ("product", "refs", "command"),
    [
        ("claude-code", (("session_id", "7f3c"),), "claude --resume 7f3c"),
        ("opencode", (("session_id", "ses_1"),), "opencode -s ses_1"),
        ("codex", (("session_id", "other"), ("thread_id", "019d")), "codex resume 019d"),
        ("copilot", (("session_id", "c1"),), "copilot --resume c1"),
        ("gemini", (("session_id", "g1"),), "gemini --resume g1"),
        ("qwen", (("session_id", "q1"),), "qwen --resume q1"),
        ("kimi", (("session_id", "k1"),), "kimi --session k1"),
        ("kilo", (("session_id", "ses_2"),), "kilo --session ses_2"),
        ("cline", (), "cline --id a"),
        ("grok", (("session_id", "g2"),), "grok --resume g2"),
        ("crush", (("session_id", "c2"),), "crush --session c2"),
        ("cursor", (("session_id", "u1"),), "cursor-agent --resume u1"),
        ("droid", (("session_id", "d1"),), "droid --resume d1"),
        ("goose", (), "goose session --resume --session-id a"),
        ("opencode", (), "opencode -s a"),
        ("proofchecker", (("session_id", "7f3c"),), "claude --resume 7f3c"),
    ],
)
def test_every_program_has_its_command(product: str, refs: tuple[tuple[str, str], ...], command: str) -> None:
    assert commands(forest(started(product=product, refs=refs))) == [command]


@pytest.mark.parametrize("product", ["hyper", "otel", "proofchecker", None])
def test_without_a_program_or_a_session_there_is_none(product: str | None) -> None:
    assert commands(forest(started(product=product))) == []


def test_the_command_of_the_protocol_is_its_own_or_that_above_it() -> None:
    grown = forest(started(command="implement", task="191"), started("b", parent="a", agent="implementer"))
    assert commands(grown) == commands(grown, "b") == ["/implement 191"]


def test_an_agent_is_resumed_by_the_session_it_belongs_to() -> None:
    root = started(product="claude-code", refs=(("session_id", "s"),))
    below = started("b", product="claude-code", parent="a", refs=(("session_id", "s"), ("agent_id", "x")))
    steps = recovery.resume(Case(forest(root, below), 1))
    words = (
        "Look first whether its program is still open, which cannot be seen from here (nothing tells which process it "
        "is). If it is closed, this opens the session it belongs to again."
        " Type it in the folder of its project, it finds no others."
    )
    assert steps == (Step(By.RESUME, words, "claude --resume s"),)


def test_it_is_resumed_where_it_worked() -> None:
    told = Described("a", NOON, PLACE, cwd="/srv/my garden")
    assert commands(forest(started(product="claude-code"), told)) == ["cd '/srv/my garden' && claude --resume a"]


@pytest.mark.parametrize("nasty", ["x; rm -rf ~", "$(reboot)", "a'b", "`id`", "a b", "a\nb", "x|y", "&& z", "#"])
def test_whatever_an_id_or_a_folder_is_called_it_stays_one_word(nasty: str) -> None:
    grown = forest(started(nasty, product="claude-code"), Described(nasty, NOON, PLACE, cwd=f"-{nasty}"))
    (command,) = commands(grown, nasty)
    assert command is not None
    assert shlex.split(command) == ["cd", "--", f"-{nasty}", "&&", "claude", "--resume", nasty]


def test_an_id_that_would_be_an_option_makes_no_command() -> None:
    assert commands(forest(started("--dangerously", product="claude-code")), "--dangerously") == []


def steps(grown: Forest, *findings: Finding) -> list[tuple[By, str]]:
    return [(step.by, step.words) for step in recovery.todo(Case(grown, 0), findings)]


HUNG = (
    started(command="implement", task="191", timeout=10 * MINUTE, at=-60),
    Heard("a", Millis(NOON - 50 * MINUTE), PLACE, "lake build", "bash", phase=Phase.TOOL),
)


def test_what_frees_the_path_comes_first_then_the_command_then_what_to_look_at_then_the_protocol() -> None:
    told = steps(forest(*HUNG))
    assert [by for by, _ in told] == [By.DELEGTOP, By.RESUME, By.DELEGTOP, By.PROTOCOL]
    assert told[0][1].startswith("Stop the process of the tool")
    assert told[1][1].startswith("Once it is stopped: ")
    assert told[2][1].startswith("Its use of the processor")


@pytest.mark.parametrize(
    ("process", "words"),
    [
        ({}, "Stop it if its process is still there"),
        ({"pid": 901, "host": LOCALHOST}, "Stop it if its process (pid 901) is still there"),
        ({"pid": 901, "host": "forge-2"}, "Stop it if its process (pid 901 on forge-2) is still there"),
    ],
)
def test_a_process_that_is_known_is_named(process: dict[str, Any], words: str) -> None:
    late = started(timeout=10 * MINUTE, at=-60, **process)
    assert steps(forest(late))[0][1].startswith(words)


def test_a_parent_that_was_never_told_is_sent_a_message_before_all_else() -> None:
    waits = Heard("a", NOON, PLACE, phase=Phase.CHILD)
    done = Ended("b", Millis(NOON + 60_000), PLACE, Outcome.COMPLETED, Ending.RETURN)
    grown = forest(started(product="codex"), started("b", parent="a", product="codex"), waits, done)
    grown.advance(Millis(NOON + 3_600_000))
    first, *_ = steps(grown)
    assert first == (By.DELEGTOP, Kind.LOST_RETURN.row.frees)
    assert first[1].startswith("Send it any message")


def test_how_it_ended_is_best_known_to_the_agent_so_its_word_comes_first() -> None:
    fault = Fault("no", recommendation="Clean the cache")
    ended = Ended("a", NOON, PLACE, Outcome.FAILED, Ending.RETURN, Report(errors=(fault,), next_steps="Try again"))
    finding = Finding("END-001", Severity.ERROR, "a", "It failed.", advice="See its last records.")
    told = steps(forest(started(command="implement", task="191"), ended), finding)
    assert told == [
        (By.AGENT, "Clean the cache"),
        (By.AGENT, "Try again"),
        (By.RESUME, "Typed to the orchestrator, it takes the task up again"),
        (By.DELEGTOP, "See its last records."),
    ]


def test_what_delegtop_wrote_itself_is_never_the_agents_word() -> None:
    fault = Fault("no", recommendation=own_words.RUN_AGAIN)
    ended = Ended("a", NOON, PLACE, Outcome.FAILED, Ending.RETURN, Report(errors=(fault,)))
    assert steps(forest(started(), ended)) == [(By.DELEGTOP, own_words.RUN_AGAIN)]


def test_an_error_that_delegtop_signed_is_never_the_agents_word_whatever_it_says() -> None:
    fault = Fault("depth 4", recommendation="Shorten the chain.", made_by="delegtop")
    ended = Ended("a", NOON, PLACE, Outcome.FAILED, Ending.RETURN, Report(errors=(fault,)))
    assert steps(forest(started(), ended)) == [(By.DELEGTOP, "Shorten the chain.")]


def test_the_guides_troubleshooting_is_only_for_who_follows_the_guide() -> None:
    loop = Noted("a", NOON, PLACE, "loop", "cycle 5 of 5")
    assert By.PROTOCOL not in [by for by, _ in steps(forest(started(product="codex"), loop))]
    assert By.PROTOCOL in [by for by, _ in steps(forest(started(), loop))]


def test_a_broken_return_has_its_own_remedy() -> None:
    broken = Finding("RET-002", Severity.ERROR, "a", "No such status.")
    ((by, words),) = steps(forest(started()), broken)
    assert by is By.PROTOCOL
    assert "standard format" in words


def test_advice_that_is_given_twice_is_shown_once() -> None:
    twice = [Finding(rule, Severity.ERROR, "a", "x", advice="Stop it.") for rule in ("A-1", "A-2")]
    assert steps(forest(started(product="hyper")), *twice) == [(By.DELEGTOP, "Stop it.")]


def test_what_is_the_matter_speaks_first_and_minor_rules_not_at_all() -> None:
    found = tuple(
        Finding(rule, severity, "a", "x", advice=f"advice of {rule}")
        for rule, severity in (("B-1", Severity.ERROR), ("C-1", Severity.WARNING), ("VER-005", Severity.ERROR))
    )
    told = [words for by, words in steps(forest(*HUNG), *found) if by is By.DELEGTOP]
    assert told[0] == Kind.HUNG_IN_TOOL.row.frees
    assert told[-1] == "advice of B-1"
    assert not {"advice of C-1", "advice of VER-005"} & set(told)


# Whether the program that a session runs in is still there

LIVE = started(
    product="claude-code", pid=4711, host=LOCALHOST, refs=((SEEN, KERNEL), (MANNER, "terminal")), depth=0, at=-60
)
ASKS = Heard("a", NOON, PLACE, "rm -r build", "bash", phase=Phase.PERMISSION)


def test_a_session_whose_process_is_there_is_not_opened_a_second_time() -> None:
    grown = forest(LIVE, Described("a", NOON, PLACE, cwd="/srv/garden"), ASKS)
    assert recovery.resume(Case(grown, 0)) == ()
    first, *others = recovery.todo(Case(grown, 0), ())
    assert first.words == "Answer it: allow it or deny it. Its terminal: pid 4711, in /srv/garden."
    assert "two would write one transcript" in others[0].words
    assert not any(step.command for step in (first, *others))


def test_what_is_well_needs_nobody_at_its_terminal() -> None:
    assert recovery.todo(Case(forest(LIVE, Heard("a", NOON, PLACE)), 0), ()) == ()


def test_a_session_whose_process_is_gone_is_opened_again() -> None:
    gone = Ended("a", NOON, PLACE, Outcome.LOST, Ending.GONE)
    (step,) = recovery.resume(Case(forest(LIVE, Described("a", NOON, PLACE, cwd="/srv/garden"), gone), 0))
    words = "Its program is gone: this opens its session again."
    assert step == Step(By.RESUME, words, "cd /srv/garden && claude --resume a")


def test_where_no_process_is_seen_the_command_says_on_what_condition() -> None:
    elsewhere = started(product="codex", pid=4711, host="build-7")
    (step,) = recovery.resume(Case(forest(elsewhere), 0))
    assert step.words == (
        "Look first whether its program is still open, which cannot be seen from here (it is on build-7). If it is "
        "closed, this opens its session again, on build-7."
    )


def test_files_results_notes_and_last_words_are_worth_saving() -> None:
    facts = Delegation(
        "a",
        tool="bash",
        doing="lake build",
        notes=(
            Note("handoff", "specs/7/handoff.md", PLACE),
            Note("salvage", "phase 2 done", PLACE),
            Note("progress", "2 of 4 phases", PLACE),
            Note("review", "decide", PLACE),
        ),
        report=Report(summary="Half of it", artifacts=(Artifact("plans/1.md"),)),
    )
    told = [(each.what, each.text, each.path) for each in recovery.salvage(facts)]
    assert told == [
        ("artifact", "plans/1.md", "plans/1.md"),
        ("handoff", "specs/7/handoff.md", "specs/7/handoff.md"),
        ("on disk", "phase 2 done", None),
        ("progress", "2 of 4 phases", None),
        ("result", "Half of it", None),
        ("last words", "bash: lake build", None),
    ]


def test_nothing_is_saved_of_who_said_nothing() -> None:
    heard = Heard("a", NOON, PLACE)
    assert recovery.salvage(forest(started(), heard).delegation(0)) == ()


def test_where_the_kernel_cannot_be_asked_about_one_that_is_silent_the_advice_says_so() -> None:
    session = started(at=-90, product="claude-code", depth=0)
    below = started("b", at=-80, product="claude-code", parent="a")
    why = Noted("a", NOON, Origin("kernel:processes", 0, 0), notes.OUT_OF_SIGHT, "they are those of another user")
    words = "Its processes cannot be seen from here: they are those of another user."
    blind, asked = forest(session, below, why), forest(session, below)
    silent, waiting = Case(blind, handle_of(blind, "b")), Case(blind, handle_of(blind, "a"))
    assert (silent.state, waiting.state) == (State.SILENT, State.WAITING)
    assert words in [step.words for step in recovery.todo(silent, ())]
    assert words not in [step.words for step in recovery.todo(waiting, ())]
    assert words not in [step.words for step in recovery.todo(Case(asked, handle_of(asked, "b")), ())]
