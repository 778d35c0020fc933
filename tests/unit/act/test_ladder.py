"""What can be done about a delegation, by program and by how its session runs, and why what cannot be cannot."""

from pathlib import Path

import pytest
from tests.unit.act.made_machine import CHILD, LOG, NOW, PID, SESSION, MadeMachine, planned, told

from delegtop.act.acting import Acting
from delegtop.act.plan_words import command, lines, steps
from delegtop.act.stop_plan import Rung, StopPlan
from delegtop.base.clock import Millis
from delegtop.base.origin import kernel
from delegtop.model.events import Ended, Ending, Event, Noted, Outcome, Started
from delegtop.model.notes import OUT_OF_SIGHT
from delegtop.model.session_manner import Manner

SES = ("ses_1root", "ses_2child")


def why(plan: StopPlan, rung: Rung) -> str:
    found = plan.rung(rung)
    assert found is not None
    return found.why_not


def does(plan: StopPlan, rung: Rung) -> str:
    found = plan.rung(rung)
    assert found is not None
    assert found.is_possible, found.why_not
    return steps(found)


def test_the_rungs_are_listed_mildest_first_possible_or_not() -> None:
    plan = planned(told("claude-code"), CHILD)
    assert [each.rung for each in plan.rungs] == [Rung.TOOL, Rung.CHILD, Rung.SESSION, Rung.PROCESS, Rung.KILL]
    assert all(each.is_possible != bool(each.why_not) for each in plan.rungs)
    assert all(bool(each.steps) == each.is_possible for each in plan.rungs)


@pytest.mark.parametrize("program", ["claude-code", "copilot", "gemini", "qwen"])
def test_a_sub_agent_of_most_programs_has_no_handle(program: str) -> None:
    plan = planned(told(program), CHILD)
    assert "gives no outside handle on a sub-agent" in why(plan, Rung.CHILD)
    assert does(plan, Rung.SESSION) == f"SIGINT to pid {PID}, `claude --model opus`"


def test_a_session_in_the_background_is_stopped_by_its_program_and_not_by_signals() -> None:
    plan = planned(told("claude-code", Manner.BACKGROUND), CHILD)
    assert does(plan, Rung.SESSION) == "claude stop b1c2"
    for rung in (Rung.PROCESS, Rung.KILL):
        assert why(plan, rung) == "Claude Code's supervisor would start it again"
    unfound = planned(told("claude-code", Manner.BACKGROUND), CHILD, MadeMachine(commands=()))
    assert why(unfound, Rung.SESSION) == "the command claude is not found here"


@pytest.mark.parametrize("program", ["opencode", "kilo"])
def test_a_program_with_a_server_is_asked_at_the_port_of_its_own_process(program: str) -> None:
    events = told(program, Manner.SERVER, ids=SES)
    plan = planned(events, SES[1], MadeMachine(name=program, ports={PID: [("127.0.0.1", 4096)]}))
    child, root = (f"POST http://127.0.0.1:4096/session/{id}/abort" for id in SES[::-1])
    assert does(plan, Rung.CHILD) == child
    assert does(plan, Rung.SESSION) == f"{child}; {root}", "children come first"
    mute = planned(events, SES[1], MadeMachine(name=program))
    assert "listens on no port of this machine" in why(mute, Rung.CHILD)
    assert "serves other sessions too" in why(mute, Rung.SESSION)
    alone = planned(told(program, Manner.HEADLESS, ids=SES), SES[1], MadeMachine(name=program))
    assert does(alone, Rung.SESSION).startswith("SIGINT")


def test_of_one_that_has_ended_that_is_said_and_not_where_its_process_may_be() -> None:
    over = Ended(CHILD, Millis(NOW + 2), LOG, Outcome.FAILED, Ending.RETURN)
    alone: list[Event] = [Started("a", NOW, LOG, agent="worker"), Ended("a", NOW, LOG, Outcome.FAILED, Ending.RETURN)]
    assert planned(alone, "a").refused == "it has ended (failed), and there is nothing left to stop"
    assert "Nothing can be done: it has ended (failed)" in "\n".join(lines(planned(alone, "a"), Acting()))
    plan = planned([*told("opencode", Manner.SERVER, ids=(SES[0], CHILD)), over], CHILD, MadeMachine(name="opencode"))
    assert plan.refused == "", "its session is there, and is another matter"
    assert why(plan, Rung.TOOL) == "it has ended"


def test_an_id_that_is_none_of_its_program_s_becomes_no_part_of_a_request() -> None:
    ids = ("ses_1root", "../../global/dispose?x=")
    plan = planned(told("opencode", ids=ids), ids[1], MadeMachine(ports={PID: [("127.0.0.1", 4096)]}))
    assert why(plan, Rung.CHILD) == "what OpenCode calls it is not known"


def test_a_thread_is_interrupted_by_way_of_the_socket_its_own_process_listens_at() -> None:
    socket = Path("/home/u/.codex/app-server-control/app-server-control.sock")
    plan = planned(told("codex", Manner.SERVER), CHILD, MadeMachine(socket=socket))
    assert does(plan, Rung.CHILD) == f"turn/interrupt of {CHILD} at {socket}"
    assert does(plan, Rung.SESSION) == f"{does(plan, Rung.CHILD)}; turn/interrupt of {SESSION} at {socket}"
    embedded = planned(told("codex"), CHILD, MadeMachine(socket=socket, listens=False))
    assert "is not the server that listens" in why(embedded, Rung.CHILD)
    assert does(embedded, Rung.SESSION).startswith("SIGINT")
    assert "no server of Codex CLI listens" in why(planned(told("codex"), CHILD), Rung.CHILD)


def test_what_goes_down_with_it_is_named() -> None:
    plan = planned(told("claude-code"), CHILD)
    session, process = plan.rung(Rung.SESSION), plan.rung(Rung.PROCESS)
    assert session is not None
    assert process is not None
    assert session.loses == ()
    assert process.loses == ("main",)
    above = planned(told("claude-code"), SESSION).rung(Rung.SESSION)
    assert above is not None
    assert above.loses == ("worker",)


def test_to_kill_its_name_must_be_typed_and_it_is_never_the_mildest() -> None:
    plan = planned(told("claude-code"), CHILD)
    kill = plan.rung(Rung.KILL)
    assert kill is not None
    assert kill.typed == "claude"
    assert plan.mildest is plan.rung(Rung.SESSION)
    assert command(plan, kill) == f"delegtop stop {CHILD} --act --kill claude"


def test_what_is_gone_elsewhere_or_out_of_sight_cannot_be_stopped_and_that_is_said() -> None:
    gone = [*told("claude-code"), Ended(SESSION, Millis(NOW + 1), kernel(PID), Outcome.LOST, Ending.GONE)]
    hidden = [*told("claude-code"), Noted(SESSION, NOW, kernel(PID), OUT_OF_SIGHT, "another container")]
    for events, words in (
        (gone, "its process is gone"),
        (hidden, "its processes cannot be seen from here: another container"),
        (told("claude-code", ticks="78"), "another one has its number"),
        (told("claude-code", host="build-7"), "it is on build-7"),
        (told(None, pid=None), "nothing tells which process it is"),
    ):
        plan = planned(events, CHILD)
        assert plan.mildest is None
        assert all(words in why(plan, rung) for rung in (Rung.TOOL, Rung.SESSION, Rung.PROCESS, Rung.KILL)), words


def test_a_process_of_another_user_or_one_that_runs_delegtop_is_left_alone() -> None:
    plan = planned(told("claude-code"), CHILD, MadeMachine(user=4))
    assert "another user" in why(plan, Rung.SESSION)
    assert plan.mildest is None


def test_what_is_no_agent_program_s_is_interrupted_as_a_process() -> None:
    plan = planned(told(None), SESSION)
    assert why(plan, Rung.CHILD) == "it is of no agent program that could be asked"
    assert does(plan, Rung.SESSION).startswith("SIGINT")


def test_who_ignores_an_interrupt_is_not_sent_one() -> None:
    plan = planned(told("claude-code"), CHILD, MadeMachine(ignores=True))
    assert "ignores SIGINT" in why(plan, Rung.SESSION)


def test_where_only_some_processes_may_be_stopped_nothing_else_is_possible() -> None:
    own = Acting(True, only=lambda pid: pid == PID)
    assert planned(told("claude-code"), CHILD, acting=own).mildest is not None
    others = Acting(True, only=lambda pid: pid != PID)
    plan = planned(told("claude-code"), CHILD, acting=others)
    assert plan.mildest is None
    assert why(plan, Rung.SESSION) == others.why_not_these
    machine = MadeMachine(name="opencode", ports={PID: [("127.0.0.1", 4096)]})
    served = planned(told("opencode", ids=SES), SES[1], machine, own)
    assert why(served, Rung.CHILD) == own.why_not_these, "a request could reach others"


def test_the_words_say_what_happens_to_whom_and_how_to_turn_it_on() -> None:
    shown = "\n".join(lines(planned(told("claude-code"), CHILD), Acting()))
    assert "worker" in shown
    assert f"SIGINT to pid {PID}, `claude --model opus`" in shown
    assert "– child    Claude Code gives no outside handle on a sub-agent" in shown
    assert "enabled = true below [act]" in shown
    assert f"delegtop stop {CHILD} --act" in shown


def test_secrets_and_hostile_text_do_not_reach_the_plan() -> None:
    events = told("claude-code", agent="main \x1b[2J")
    shown = "\n".join(lines(planned(events, SESSION), Acting()))
    assert "\x1b" not in shown


def test_what_is_refused_as_a_whole_has_no_rungs() -> None:
    plan = planned(told("claude-code"), CHILD, refused="this is a recording")
    assert plan.rungs == ()
    assert "Nothing can be done: this is a recording." in list(lines(plan, Acting(True)))
