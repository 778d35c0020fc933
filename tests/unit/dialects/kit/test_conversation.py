"""A conversation in any chat-like log: what its prompts, calls, turns, agents and tokens mean."""

import json
from typing import Any

import pytest
from tests.telling import handle_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.product import Basis, Product
from delegtop.dialects import Sample
from delegtop.dialects.kit.coerce import obj, word
from delegtop.dialects.kit.conversation import ENDS, Chat, Conversation
from delegtop.dialects.kit.loops import ENOUGH
from delegtop.model.delegation import Delegation
from delegtop.model.events import Described, Ended, Ending, Event, Fault, Heard, Outcome, Phase, Resumed
from delegtop.model.forest import Forest
from delegtop.model.notes import LOOP
from delegtop.model.states import State
from delegtop.sources.records import Line, Unreadable

T = 1_770_109_200


class Parley(Chat):
    """Each line names a verb of the kit and what it is given."""

    name = "parley"
    title = "parley"
    product = Product("parley", "Parley", Basis.DOCUMENTED)
    looking = frozenset({"watch"})
    phases = {"agent": Phase.CHILD, "ask": Phase.ANSWER}  # noqa: RUF012 - as a plain author writes it

    @classmethod
    def sniff(cls, sample: Sample) -> int:  # noqa: ARG003 - nobody asks
        return 0

    def tell(self, value: dict[str, Any]) -> None:
        is_child = "child" in self.origin.source
        agent = self.conversation("c" if is_child else "a", is_child=is_child)
        for verb, given in value.items():
            self._say(agent, verb, given)

    def _say(self, agent: Conversation, verb: str, given: Any) -> None:
        match verb:
            case "prompt":
                agent.prompt(word(given))
            case "call":
                agent.call(given.get("id"), given["tool"], obj(given.get("with")))
            case "calls":
                for each in given:
                    self._say(agent, "call", each)
            case "result":
                agent.result(given)
            case "rest":
                agent.rest(given)
            case "over":
                agent.turn_over(given)
            case "end":
                agent.end(ENDS[given], "Did what I could.")
            case "use":
                agent.use(given[1], given[0])
            case "retry":
                agent.retry(given)
            case "ask":
                agent.ask()
            case "permit":
                agent.permission(given, "shell")
            case "title":
                agent.describe(title=given)
            case "spawn":
                agent.spawn("c", call=given["call"], kind="scout", refs={"call_id": given["call"], "none": None})


class Revised(Parley):
    """The same in a program that writes a message again when a call of it has come back."""

    rewrites = True


class Log:
    """A log that grows, and what comes of it."""

    def __init__(self, path: str = "log.jsonl", kind: type[Parley] = Parley) -> None:
        self.dialect = kind()
        self.path = path
        self.forest = Forest()
        self.events: list[Event] = []
        self._lines = 0

    def line(self, *, at: int | None = None, path: str | None = None, **said: Any) -> Line:
        self._lines += 1
        stamp = {"timestamp": T + (self._lines if at is None else at)}
        return Line(Origin(path or self.path, self._lines, self._lines), json.dumps({**stamp, **said}).encode())

    def add(self, *, at: int | None = None, path: str | None = None, **said: Any) -> list[Event]:
        line = self.line(at=at, path=path, **said)
        events = [event for event in self.dialect.read(line) if not isinstance(event, Unreadable)]
        self.events += events
        self.forest.apply(events)
        self.forest.advance(Millis((T + self._lines) * 1000))
        return events

    def row(self, id: str = "a") -> Delegation:
        return self.forest.delegation(handle_of(self.forest, id))

    def doing(self, id: str = "a") -> tuple[Phase | None, str | None, str | None]:
        row = self.row(id)
        return row.phase, row.tool, row.doing

    def loops(self) -> list[str]:
        return [note.text for note in self.row().notes if note.kind == LOOP]


@pytest.fixture
def log() -> Log:
    return Log()


def shell(id: str, command: str = "make") -> dict[str, Any]:
    return {"id": id, "tool": "shell", "with": {"command": command}}


# -- prompts and titles ---------------------------------------------------------------------------------------------


def test_the_first_prompt_is_title_and_prompt_and_later_ones_are_neither(log: Log) -> None:
    log.add(prompt="Mend the mill\nall of it")
    log.add(prompt="And the wheel")
    assert (log.row().title, log.row().prompt) == ("Mend the mill", "Mend the mill\nall of it")
    assert log.doing() == (Phase.MODEL, None, None)


def test_a_title_that_was_told_before_stays(log: Log) -> None:
    log.add(title="The mill")
    log.add(prompt="Mend it")
    assert (log.row().title, log.row().prompt) == ("The mill", "Mend it")


def test_the_prompt_of_an_agent_is_a_weaker_title_than_any_that_is_told() -> None:
    log = Log("child.jsonl")
    log.add(prompt="A long story of what is to be done", at=1)
    log.forest.apply([Described("c", Millis((T + 50) * 1000), Origin("other", 1, 0), title="Mend")])
    assert log.row("c").title == "Mend"


def test_a_prompt_ends_what_had_not_come_back(log: Log) -> None:
    log.add(call=shell("1"))
    log.add(prompt="Stop that")
    assert log.doing() == (Phase.MODEL, None, None)


# -- calls ----------------------------------------------------------------------------------------------------------


def test_of_calls_made_together_the_last_is_shown_until_all_have_come_back(log: Log) -> None:
    log.add(calls=[shell("1", "one"), shell("2", "two")])
    assert log.doing() == (Phase.TOOL, "shell", "two")
    log.add(result="2")
    assert log.doing() == (Phase.TOOL, "shell", "one")
    log.add(result="1")
    assert log.doing() == (Phase.MODEL, None, None)


def test_one_record_tells_one_thing_of_what_goes_on(log: Log) -> None:
    events = log.add(calls=[shell("1"), shell("2")], result="1")
    assert [type(event) for event in events] == [Heard]


@pytest.mark.parametrize(("tool", "phase"), [("agent", Phase.CHILD), ("ask", Phase.ANSWER), ("shell", Phase.TOOL)])
def test_the_tool_says_what_is_waited_for(log: Log, tool: str, phase: Phase) -> None:
    log.add(call={"id": "1", "tool": tool})
    assert log.doing() == (phase, tool, None)


def test_an_answer_while_a_call_is_open_is_no_rest(log: Log) -> None:
    log.add(call=shell("1"))
    log.add(rest="Meanwhile")
    assert log.doing() == (Phase.TOOL, "shell", "make")


@pytest.mark.parametrize(("kind", "phase"), [(Parley, Phase.TOOL), (Revised, Phase.MODEL)])
def test_a_call_with_the_id_of_one_that_came_back_is_another_unless_the_log_is_rewritten(
    kind: type[Parley], phase: Phase
) -> None:
    log = Log(kind=kind)
    log.add(call=shell("1"))
    log.add(result="1")
    log.add(call=shell("1"))
    assert log.doing()[0] is phase


def test_a_person_must_allow_it(log: Log) -> None:
    log.add(call=shell("1"))
    log.add(permit="rm -r mill")
    assert log.doing() == (Phase.PERMISSION, "shell", "rm -r mill")


def test_a_model_that_does_not_answer_is_asked_again(log: Log) -> None:
    log.add(retry="503 overloaded\nrequest 7")
    assert log.doing() == (Phase.MODEL, None, "503 overloaded")


# -- loops ----------------------------------------------------------------------------------------------------------


def test_the_same_call_again_and_again_is_a_loop_and_another_one_ends_it(log: Log) -> None:
    for number in range(ENOUGH):
        assert not log.events or not log.loops()
        log.add(call=shell(str(number)))
        log.add(result=str(number))
    assert log.loops() == [f"the same call {ENOUGH} times in a row, shell: make"]
    log.add(call=shell("x", "ls"))
    assert log.loops() == []


@pytest.mark.parametrize(("kind", "loops"), [(Parley, 1), (Revised, 0)])
def test_a_call_that_is_written_again_is_not_made_again_unless_ids_are_used_again(
    kind: type[Parley], loops: int
) -> None:
    log = Log(kind=kind)
    for _ in range(2 * ENOUGH):
        log.add(call=shell("1"))
        log.add(result="1")
    assert len(log.loops()) == loops


@pytest.mark.parametrize("ending", [{"prompt": "Again"}, {"over": None}, {"rest": "Done"}, {"end": "completed"}])
def test_a_new_turn_or_the_end_of_one_ends_a_loop(log: Log, ending: dict[str, Any]) -> None:
    for number in range(ENOUGH):
        log.add(call=shell(str(number)))
        log.add(result=str(number))
    assert log.loops()
    log.add(**ending)
    assert log.loops() == []


def test_a_call_that_only_looks_how_something_goes_is_no_loop(log: Log) -> None:
    for number in range(2 * ENOUGH):
        log.add(call={"id": str(number), "tool": "watch"})
    assert log.loops() == []


def test_a_loop_that_is_over_within_one_record_is_none(log: Log) -> None:
    log.add(calls=[shell(str(number)) for number in range(ENOUGH)], over=None)
    assert log.loops() == []


# -- turns and ends -------------------------------------------------------------------------------------------------


def test_a_session_whose_turn_is_over_is_idle_whatever_had_not_come_back(log: Log) -> None:
    log.add(call=shell("1"))
    log.add(over="interrupted")
    assert log.doing() == (Phase.IDLE, None, "interrupted")


@pytest.mark.parametrize(
    ("word", "outcome", "by"),
    [
        ("completed", Outcome.COMPLETED, Ending.RETURN),
        ("failed", Outcome.FAILED, Ending.RETURN),
        ("cancelled", Outcome.INTERRUPTED, Ending.CANCEL),
    ],
)
def test_an_end_says_how_and_by_what(log: Log, word: str, outcome: Outcome, by: Ending) -> None:
    (ended,) = log.add(end=word)
    assert isinstance(ended, Ended)
    assert (ended.outcome, ended.by, ended.report.summary) == (outcome, by, "Did what I could.")
    assert ended.report.errors == ((Fault("Did what I could."),) if outcome is Outcome.FAILED else ())


def test_who_has_ended_and_is_prompted_again_is_given_work_again_once(log: Log) -> None:
    log.add(end="completed")
    again = log.add(prompt="One more thing")
    assert [type(event) for event in again if isinstance(event, Resumed)] == [Resumed]
    assert not [event for event in log.add(prompt="And another") if isinstance(event, Resumed)]
    assert log.row().outcome is None


# -- agents ---------------------------------------------------------------------------------------------------------


def test_a_spawned_agent_hangs_under_its_caller_who_waits_for_it(log: Log) -> None:
    log.add(prompt="Mend it")
    log.add(call=shell("1"))
    log.add(spawn={"call": "1"})
    child = log.row("c")
    assert (child.parent, child.agent, child.depth, child.product) == ("a", "scout", 1, "parley")
    assert child.refs == (("call_id", "1"),)
    assert log.doing()[0] is Phase.CHILD


def test_files_of_a_family_that_interleave_are_told_apart(log: Log) -> None:
    log.add(call=shell("1", "one"))
    log.add(path="child.jsonl", call=shell("1", "two"))
    log.add(result="1")
    assert log.doing() == (Phase.MODEL, None, None)
    assert log.doing("c") == (Phase.TOOL, "shell", "two")


# -- tokens ---------------------------------------------------------------------------------------------------------


def test_the_largest_usage_of_a_message_counts_not_the_last(log: Log) -> None:
    for used in (("m1", 10), ("m1", 40), ("m1", 25), ("m2", 5)):
        log.add(use=used)
    assert log.row().tokens == 45


def test_a_usage_that_names_no_message_adds_up(log: Log) -> None:
    log.add(use=(None, 10))
    log.add(use=(None, 10))
    assert log.row().tokens == 20


def test_tokens_alone_are_no_sign_of_life(log: Log) -> None:
    log.add(rest="Done", at=1)
    log.add(use=("m", 10), at=2)
    assert (log.row().heard_at, log.row().phase, log.row().tokens) == ((T + 1) * 1000, Phase.IDLE, 10)


# -- the same lines again -------------------------------------------------------------------------------------------


def test_a_line_is_told_once_more_as_it_was_meant_and_changes_nothing(log: Log) -> None:
    first, call = log.line(prompt="Mend it"), log.line(call=shell("1"))
    for line in (first, call):
        log.dialect.read(line)
    log.add(result="1")
    log.add(prompt="Now the wheel")
    told = [event for event in log.dialect.retell(first) if isinstance(event, Described)]
    assert [(event.title, event.prompt) for event in told] == [("Mend it", None), (None, "Mend it")]
    (heard,) = log.dialect.retell(call)
    assert isinstance(heard, Heard)
    assert (heard.phase, heard.tool) == (Phase.TOOL, "shell")
    log.add(rest="Done")
    assert log.doing() == (Phase.IDLE, None, "Done")


def test_a_file_that_is_read_again_from_its_top_counts_nothing_twice(log: Log) -> None:
    lines = [log.line(prompt="Mend it"), log.line(use=(None, 10))]
    lines = [Line(Origin("log.jsonl", number + 1, number * 50), line.data) for number, line in enumerate(lines)]
    for line in [*lines, *lines]:
        log.forest.apply(event for event in log.dialect.read(line) if not isinstance(event, Unreadable))
    assert log.row().tokens == 10


def test_a_lost_agent_is_found_in_the_lines_that_name_it_and_the_own_one_in_all(log: Log) -> None:
    log.add(prompt="Mend it")
    assert log.dialect.needle("a", "log.jsonl") == b""
    assert log.dialect.needle("a/c", "log.jsonl") == b"c"


def test_the_row_idles_when_its_turn_is_over(log: Log) -> None:
    log.add(prompt="Mend it")
    log.add(rest="Mended.")
    handle = handle_of(log.forest, "a")
    assert (log.forest.state(handle), log.row().doing) == (State.IDLE, "Mended.")


# -- since when, and how often ---------------------------------------------------------------------------------------


def test_a_model_that_is_asked_again_is_waited_for_since_it_was_first_asked(log: Log) -> None:
    log.add(at=1, prompt="go")
    log.add(at=2, ask=True)
    assert (log.row().phase_since, log.row().asked) == ((T + 1) * 1000, 1)
    log.add(at=300, ask=True)
    assert (log.row().phase_since, log.row().asked, log.row().heard_at) == ((T + 1) * 1000, 2, (T + 300) * 1000)
    log.add(at=301, call=shell("a"))
    log.add(at=400, result="a")
    assert (log.row().phase_since, log.row().asked) == ((T + 400) * 1000, None)


def test_a_retry_is_one_more_request_even_where_nothing_tells_of_the_first(log: Log) -> None:
    log.add(at=1, prompt="go")
    log.add(at=300, retry="overloaded")
    assert (log.row().phase_since, log.row().asked, log.row().doing) == ((T + 1) * 1000, 2, "overloaded")


def test_a_call_that_has_not_come_back_is_open_since_it_was_made(log: Log) -> None:
    log.add(at=1, calls=[shell("a"), {"id": "w", "tool": "watch"}])
    log.add(at=50, result="w")
    assert (log.row().tool, log.row().phase_since, log.row().asked) == ("shell", (T + 1) * 1000, None)
