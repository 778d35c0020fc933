"""Claude Code's sessions that are put away: nothing of them is kept, and read again they tell the same."""

from typing import Any

import pytest
from tests.unit.agents.claude_code.test_transcript_dialect import (
    FOLDER,
    LATER,
    SESSION,
    TRUNK,
    answer,
    at,
    child_path,
    events,
    launched,
    notice,
    one,
    over,
    result,
    said,
    spawn,
    use,
)

from delegtop.agents.claude_code.transcript_dialect import ClaudeCode
from delegtop.model.events import Event, Heard, Outcome, Started
from delegtop.model.forest import Forest

OTHER = "0a1b2c3d-0000-4000-8000-00000000000b"
BESIDE = f"{FOLDER}/{OTHER}.jsonl"
Files = list[tuple[str, list[dict[str, Any]]]]


def used(second: float, tokens: int, agent: str | None = None) -> dict[str, Any]:
    told = answer(second, {"type": "text", "text": "hm"}, agent=agent)
    told["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 1}
    return told


WITH_SIDECAR: Files = [
    (child_path("abc", "meta.json"), [{"agentType": "Explore", "toolUseId": "c", "finished": True}]),
    (child_path("abc"), [said(2, "look", agent="abc"), used(3, 70, agent="abc"), over(4, "found", agent="abc")]),
    (TRUNK, [said(0, "go"), used(1, 5), answer(1, spawn("c")), result(5, "c", toolUseResult={"agentId": "abc"})]),
]
BY_PROMPT: Files = [
    (child_path("abc"), [said(2, "look", agent="abc"), answer(3, use("t", "Bash", command="ls"), agent="abc")]),
    (TRUNK, [said(0, "go"), answer(1, spawn("c", name="ann")), said(8, notice("abc", "completed"))]),
]
WITHIN: Files = [
    (
        TRUNK,
        [
            said(0, "go"),
            answer(1, spawn("c")),
            said(2, "look") | {"isSidechain": True, "uuid": "s1"},
            over(3, "found") | {"isSidechain": True, "parentUuid": "s1", "uuid": "s2"},
        ],
    )
]
ORPHANS: Files = [
    (child_path("abc", "meta.json"), [{"agentType": "Explore", "toolUseId": "nobody"}]),
    (TRUNK, [said(0, "go"), answer(1, use("p", "TaskOutput", task_id="stranger", timeout=500))]),
]
WORKFLOW: Files = [
    (f"{FOLDER}/{SESSION}/subagents/workflows/wf1/journal.jsonl", [{"type": "started", "agentId": "w1", "label": "x"}]),
    (f"{FOLDER}/{SESSION}/subagents/workflows/wf1/agent-w1.jsonl", [said(3, "look", agent="w1")]),
    (
        TRUNK,
        [said(0, "go"), answer(1, use("w", "Workflow", name="all")), result(2, "w", toolUseResult={"runId": "wf1"})],
    ),
]
SESSIONS = {
    "with a sidecar": WITH_SIDECAR,
    "known by its prompt": BY_PROMPT,
    "within its parent's file": WITHIN,
    "that nobody ever explained": ORPHANS,
    "with a workflow": WORKFLOW,
}


def put_away(dialect: ClaudeCode, files: Files) -> None:
    for path, _ in files:
        dialect.forget(path)


def grown(told: list[Event]) -> Forest:
    forest = Forest()
    forest.apply(told)
    assert LATER is not None
    forest.advance(LATER)
    return forest


@pytest.mark.parametrize("files", SESSIONS.values(), ids=SESSIONS)
def test_a_session_that_is_put_away_leaves_nothing_behind(files: Files) -> None:
    dialect = ClaudeCode()
    events(*files, dialect=dialect)
    family = dialect._family
    assert family.sessions
    put_away(dialect, files)
    assert (family.files, family.rows, family.sessions, family._unknown) == ({}, {}, {}, {})


@pytest.mark.parametrize("files", SESSIONS.values(), ids=SESSIONS)
def test_a_session_that_is_read_again_tells_the_same(files: Files) -> None:
    dialect = ClaudeCode()
    first = events(*files, dialect=dialect)
    put_away(dialect, files)
    assert events(*files, dialect=dialect) == first


@pytest.mark.parametrize("files", SESSIONS.values(), ids=SESSIONS)
def test_what_refers_to_each_other_is_taken_apart(files: Files) -> None:
    """What is read stays out of the collection of garbage, so a circle would stay for good."""
    dialect = ClaudeCode()
    events(*files, dialect=dialect)
    rows = [*dialect._family.rows.values()]
    transcripts = [transcript for row in rows for transcript in row.transcripts]
    assert transcripts
    put_away(dialect, files)
    assert [row.transcripts for row in rows] == [[]] * len(rows)
    assert [transcript.row for transcript in transcripts] == [None] * len(transcripts)


def test_a_file_that_was_never_read_is_put_away_without_a_word() -> None:
    dialect = ClaudeCode()
    dialect.forget(TRUNK)
    assert not dialect._family.sessions


def test_a_session_is_known_as_long_as_one_of_its_files_is_read() -> None:
    """Early versions keep an agent's file beside the session's, where no path tells whose it is."""
    dialect = ClaudeCode()
    flat = f"{FOLDER}/agent-abc.jsonl"
    told = events(
        (TRUNK, [said(0, "go"), answer(1, spawn("c")), launched(2, "c", "abc")]),
        (flat, [said(3, "look", agent="abc")]),
        dialect=dialect,
    )
    dialect.forget(TRUNK)
    told += events((flat, [answer(9, use("t", "Bash", command="ls"), agent="abc")]), dialect=dialect)
    assert one(grown(told), "c").doing == "ls"
    dialect.forget(flat)
    assert not dialect._family.sessions


def test_what_compacted_a_session_counts_anew_though_another_of_its_files_is_read() -> None:
    dialect = ClaudeCode()
    files: Files = [
        (child_path("acompact-1"), [used(1, 40, agent="acompact-1")]),
        (TRUNK, [said(0, "go"), used(2, 4)]),
    ]
    events((f"{FOLDER}/agent-abc.jsonl", [said(3, "look", agent="abc")]), dialect=dialect)
    first = events(*files, dialect=dialect)
    put_away(dialect, files)
    assert events(*files, dialect=dialect) == first
    assert [event.tokens for event in first if isinstance(event, Heard)][-1] == 46


def test_other_sessions_of_the_project_are_not_touched() -> None:
    dialect = ClaudeCode()
    beside: Files = [(BESIDE, [said(0, "go") | {"sessionId": OTHER}, answer(1, spawn("d")) | {"sessionId": OTHER}])]
    told = events(*WITH_SIDECAR, *beside, dialect=dialect)
    put_away(dialect, WITH_SIDECAR)
    assert {*dialect._family.rows} == {OTHER, "d"}
    told += events((BESIDE, [result(7, "d", "well") | {"sessionId": OTHER}]), dialect=dialect)
    assert one(grown(told), "d").outcome is Outcome.COMPLETED


# -- what another session may refer to ------------------------------------------------------------------------------

LEAD: Files = [
    (
        TRUNK,
        [
            said(0, "go"),
            answer(1, spawn("m", name="ann")),
            result(2, "m", toolUseResult={"status": "teammate_spawned", "agent_id": "ann@crew"}),
        ],
    )
]


def mates(*records: dict[str, Any]) -> Files:
    own = {"sessionId": OTHER, "teamName": "crew", "agentName": "ann"}
    return [(BESIDE, [each | own for each in records])]


def test_a_mate_goes_on_when_the_session_that_started_it_is_put_away() -> None:
    dialect = ClaudeCode()
    told = events(*LEAD, *mates(said(3, "look")), dialect=dialect)
    put_away(dialect, LEAD)
    told += events(*mates(answer(9, use("t", "Bash", command="ls"))), dialect=dialect)
    assert one(grown(told), "m").doing == "ls"


def test_a_mate_is_known_whose_session_comes_after_the_other_is_put_away() -> None:
    dialect = ClaudeCode()
    told = events(*LEAD, dialect=dialect)
    put_away(dialect, LEAD)
    told += events(*mates(answer(9, use("t", "Bash", command="ls"))), dialect=dialect)
    assert one(grown(told), "m").doing == "ls"


def test_a_mate_that_is_read_again_tells_the_same_and_counts_its_tokens_anew() -> None:
    dialect = ClaudeCode()
    files = mates(said(3, "look"), used(4, 41), answer(9, spawn("d")))
    events(*LEAD, dialect=dialect)
    first = events(*files, dialect=dialect)
    put_away(dialect, files)
    assert events(*files, dialect=dialect) == first
    assert [event.tokens for event in first if isinstance(event, Heard)][-1] == 42


def test_what_a_mate_starts_is_of_its_own_session() -> None:
    told = events(*LEAD, *mates(said(3, "look"), answer(9, spawn("d"))))
    [started] = [event for event in told if isinstance(event, Started) and event.id == "d"]
    assert (started.parent, started.refs) == ("m", (("session_id", OTHER), ("tool_use_id", "d")))


def test_the_copy_of_a_session_goes_on_when_the_first_is_put_away() -> None:
    dialect = ClaudeCode()
    began = [said(0, "go"), answer(1, spawn("c"))]
    copy = [each | {"sessionId": OTHER} for each in began]
    told = events((TRUNK, began), (BESIDE, copy), dialect=dialect)
    dialect.forget(TRUNK)
    told += events((BESIDE, [result(9, "c") | {"sessionId": OTHER}]), dialect=dialect)
    assert (one(grown(told), "c").outcome, one(grown(told), "c").ended_at) == (Outcome.COMPLETED, at(9))
    dialect.forget(BESIDE)
    assert not dialect._family.rows
