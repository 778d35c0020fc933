"""What to type, what to do in whose order, and what is worth saving."""

import shlex
from typing import Any

import pytest

from delegtop.clock import Millis
from delegtop.diagnosis import recovery
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.recovery import By, Step
from delegtop.diagnosis.verdicts import Kind
from delegtop.model.delegation import Delegation, Note
from delegtop.model.events import Artifact, Described, Ended, Ending, Event, Fault, Heard, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.origin import Origin

PLACE = Origin("log.jsonl", 1, 0)
NOON = Millis(1_700_000_000_000)


def forest(*events: Event) -> Forest:
    grown = Forest()
    grown.apply(events)
    grown.advance(NOON)
    return grown


def started(id: str = "a", **fields: Any) -> Started:
    return Started(id, NOON, PLACE, **fields)


def commands(grown: Forest, id: str = "a") -> list[str | None]:
    handle = grown.find(id)
    assert handle is not None
    return [step.command for step in recovery.resume(grown, handle)]


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
    steps = recovery.resume(forest(root, below), 1)
    assert steps == (Step(By.RESUME, "Opens the session it belongs to again", "claude --resume s"),)


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


def steps(grown: Forest, kind: Kind | None, *findings: Finding) -> list[tuple[By, str]]:
    found = recovery.steps(grown, 0, kind, findings, grown.delegation(0))
    return [(step.by, step.words) for step in found]


def test_the_agents_word_comes_before_the_protocols_and_that_before_the_rules_and_the_command() -> None:
    fault = Fault("no", recommendation="Clean the cache")
    ended = Ended("a", NOON, PLACE, Outcome.FAILED, Ending.RETURN, Report(errors=(fault,), next_steps="Try again"))
    grown = forest(started(command="implement", task="191"), ended)
    finding = Finding("VER-005", Severity.ERROR, "a", "It hangs.", advice="Look at the process.")
    told = steps(grown, Kind.HUNG_IN_TOOL, finding)
    assert [by for by, _ in told] == [By.AGENT, By.AGENT, By.PROTOCOL, By.RULE, By.RESUME]
    assert told[0] == (By.AGENT, "Clean the cache")
    assert told[3] == (By.RULE, "Look at the process.")


def test_the_guides_troubleshooting_is_only_for_who_follows_the_guide() -> None:
    assert By.PROTOCOL not in [by for by, _ in steps(forest(started(product="codex")), Kind.LOOPING)]
    assert By.PROTOCOL in [by for by, _ in steps(forest(started()), Kind.LOOPING)]


def test_a_broken_return_has_its_own_remedy() -> None:
    broken = Finding("RET-002", Severity.ERROR, "a", "No such status.")
    ((by, words),) = steps(forest(started()), None, broken)
    assert by is By.PROTOCOL
    assert "standard format" in words


def test_advice_that_is_given_twice_is_shown_once() -> None:
    twice = [Finding(rule, Severity.ERROR, "a", "x", advice="Stop it.") for rule in ("A-1", "A-2")]
    assert steps(forest(started(product="codex")), None, *twice).count((By.RULE, "Stop it.")) == 1


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


def test_the_rule_of_the_problem_speaks_first_and_minor_ones_not_at_all() -> None:
    found = tuple(
        Finding(rule, severity, "a", "x", advice=f"advice of {rule}")
        for rule, severity in (("B-1", Severity.ERROR), ("C-1", Severity.WARNING), ("A-1", Severity.WARNING))
    )
    grown = forest(started(product="codex", id="-"))
    told = recovery.steps(grown, 0, None, found, grown.delegation(0), "A-1")
    assert [step.words for step in told] == ["advice of A-1", "advice of B-1"]
