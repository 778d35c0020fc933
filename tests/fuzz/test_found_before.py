"""Lines that were once too much for delegtop: each was found by breaking logs, and is read since."""

import gc
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

import msgspec
import pytest
from tests.patience import cost, growth
from tests.samples import MOMENTS, lay_out, moment, observed

from delegtop.agents.claude_code.notices import mates_who_left, notices, plain_prompt
from delegtop.agents.cursor.cursor_transcripts import _asked
from delegtop.agents.opencode.record_words import answer_in, task_told, title_of
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.dialects import load
from delegtop.model.call_names import program_of
from delegtop.protocols.proofchecker.nodes import text
from delegtop.protocols.standard.contract.sentence_count import sentences
from delegtop.sources.records import DEPTH_LIMIT, Line, Record, Unreadable, decoded, records

NOW = Millis(1_770_109_900_000)
TIME = "2026-02-03T09:00:00Z"
STREAM = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w", "uuid": "u"}
GROK = {"ts": TIME, "type": "turn_started", "session_id": "s", "turn_number": 0}


@pytest.mark.parametrize("odd", [{}, [], {"a": 1}])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (STREAM, lambda odd: {"type": odd, "session_id": "s"}),
        (STREAM, lambda odd: {"type": "user", "session_id": "s", "tool_use_result": {"status": odd}}),
        (GROK, lambda odd: {"ts": TIME, "type": "phase_changed", "phase": odd, "session_id": "s"}),
    ],
)
def test_a_word_that_is_an_object_or_a_list_stops_no_format(
    first: dict[str, object], second: Callable[[object], dict[str, object]], odd: object, tmp_path: Path
) -> None:
    log = tmp_path / "events.jsonl"
    log.write_text(f"{json.dumps(first)}\n{json.dumps(second(odd))}\n")
    with observed(log, clock=FrozenClock(NOW)) as seen:
        seen.read()
        (status,) = seen.feed.statuses()
    assert status.dialect is not None
    assert not [reason for reason in status.reasons if "failed" in reason]


def test_what_was_said_is_shown_though_a_tool_ended_in_an_odd_way() -> None:
    call = {"name": "shell", "id": "c", "args": {}, "status": {"code": 1}, "result": []}
    chat = {"sessionId": "s", "messages": [{"type": "gemini", "content": "on it", "toolCalls": [call]}]}
    told = load("gemini")().said([Record(Origin("x", 1, 0), chat)])
    assert "on it" in [each.text for each in told]


def test_what_was_said_in_codex_is_shown_though_an_item_is_of_no_kind() -> None:
    told = [
        {"type": "response_item", "payload": {"type": {}}},
        {"type": "compacted", "payload": {"message": "pressed"}},
    ]
    found = load("codex")().said([Record(Origin("x", number, 0), value) for number, value in enumerate(told)])
    assert "pressed" in [each.text for each in found]


def read(data: bytes) -> list[object]:
    return list(records(Line(Origin("x", 1, 0), data)))


@pytest.mark.parametrize("piece", [b"{", b"[", b"  ", b"if (x) { y } ", b'\\"{'])
def test_a_torn_line_costs_not_much_more_than_a_whole_one(piece: bytes) -> None:
    whole = json.dumps({"a": ["abcdefg"] * 20_000}).encode()
    torn = b'{"a":1,"b":"' + piece * (len(whole) // len(piece))
    assert cost(lambda: read(torn)) < 10 * cost(lambda: read(whole))


@pytest.mark.parametrize(("piece", "times"), [(b"../", 4), (b"word ", 4), (b"\xed\xa0\x80", 10)])
def test_a_torn_line_of_ordinary_text_costs_about_what_a_whole_one_does(piece: bytes, times: int) -> None:
    whole = json.dumps({"a": ["abcdefg"] * 20_000}).encode()
    torn = b'{"a":1,"b":"' + piece * (len(whole) // len(piece))
    assert cost(lambda: read(torn)) < times * cost(lambda: read(whole))


def test_a_record_glued_to_a_torn_one_is_found_behind_any_number_of_braces() -> None:
    torn = json.dumps({"code": "if (x) { y } " * 5_000}).encode()[:-3]
    found = read(torn + b'{"event":"return"}')
    assert any(isinstance(each, Record) and each.value == {"event": "return"} for each in found)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Without the collector of circles, which looks at everything now and then, in whatever line that is."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("deep", [150, 190, 300])
@pytest.mark.parametrize("piece", ["[%s]", '{"a":%s}'])
def test_a_line_both_wide_and_deep_costs_little_more_than_its_decoding(piece: str, deep: int) -> None:
    opening, closing = piece.split("%s")
    one = opening * deep + "1" + closing * deep
    data = ('{"a":[' + ",".join([one] * (150_000 // len(one))) + "]}").encode()
    assert cost(lambda: read(data)) < 4 * cost(lambda: msgspec.json.decode(data))


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("field", ["other", "key_findings", "linked_tasks", "file", "date"])
def test_an_entry_of_a_manifest_both_wide_and_deep_costs_little_more_than_its_record(field: str) -> None:
    entry: dict[str, object] = {"id": "a", "status": "complete", "key_findings": ["found"]}
    entry[field] = [json.loads("[" * 150 + "]" * 150)] * 130
    line = Line(Origin("MANIFEST.jsonl", 1, 0), json.dumps(entry, separators=(",", ":")).encode())
    told = cost(lambda: list(load("cleo-manifest")().read(line)), rounds=10)
    assert told < 6 * cost(lambda: read(line.data), rounds=10)  # up to 3 on a busy machine; lists were at 13 to 24


@pytest.mark.parametrize("deep", [150, 300])
def test_brackets_in_texts_hide_no_depth_and_pretend_none(deep: int) -> None:
    hidden = '["]\\\\","\\"",' * deep + "1" + ',"["]' * deep
    (found,) = read(f'{{"a":{hidden}}}'.encode())
    assert isinstance(found, Record) is (deep < DEPTH_LIMIT)
    pretended = json.dumps({"a": "[{" * deep, "b": '"[' * deep})
    assert isinstance(read(pretended.encode())[0], Record)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("empty", [[], {}, {"a": 1}])
def test_messages_of_nobody_cost_little_more_than_their_record(empty: object) -> None:
    chat = {"version": 1, "sessionId": "s", "origin": {"sessionId": "s"}, "messages": [empty] * 10_000}
    line = Line(Origin("s.messages.json", 1, 0), json.dumps(chat).encode())
    told = cost(lambda: list(load("cline-messages")().read(line)))
    assert told < 8 * cost(lambda: read(line.data))


@pytest.mark.parametrize("piece", ["../", "./ ", "A. ", "A../", "x. a ", "... "])
def test_sentences_of_a_text_full_of_stops_are_counted_in_one_walk(piece: str) -> None:
    assert growth(lambda size: sentences(piece * size + "x"), 1_000) < 30


def test_json_within_a_text_is_no_deeper_than_a_record() -> None:
    assert decoded("[" * 150 + "]" * 150) is not None
    assert decoded("[" * 300 + "]" * 300) is None


def test_a_path_of_ever_more_names_costs_what_reading_it_costs(tmp_path: Path) -> None:
    def tree(names: int) -> None:
        log = tmp_path / f"{names}.jsonl"
        path = [f"agent{number}" for number in range(names)]
        told = {"event": "register", "at": TIME, "session_id": "sess_1766743200_abc123", "delegation_path": path}
        log.write_text(json.dumps(told) + "\n")
        with observed(log, clock=FrozenClock(NOW)) as seen:
            seen.read()
            assert len(seen.forest) == 1

    tree(10)
    assert cost(lambda: tree(4_000)) < 12 * cost(lambda: tree(40))


def tell(format: str, source: str, value: object) -> int:
    """How many events a document tells of, in that format."""
    return len(list(load(format)().read(Line(Origin(source, 1, 0), json.dumps(value).encode(), NOW))))


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("noted", ["detected_defects", "defer_ledger", "notes"])
def test_a_batch_of_ever_more_tasks_costs_as_much_more(noted: str) -> None:
    def batch(tasks: int) -> None:
        value = {
            "updated": "2026-01-03T09:00:00Z",  # a copy, by its time: each row says so
            "session_id": "sess_1766743200_abc123",
            "task_numbers": [*range(tasks)],
            "waves": [[task] for task in range(tasks)],
            "current_statuses": {str(task): "planned" for task in range(tasks)},
            noted: [{"task": task, "detail": "x"} for task in range(tasks)],
        }
        assert tell("proofchecker", "/w/specs/.orchestrator-multi-state.json", value) > tasks

    assert growth(batch, 100) < 30


@pytest.mark.usefixtures("uncollected")
def test_an_entry_of_ever_more_findings_costs_little_more_than_its_decoding() -> None:
    value = {
        "id": "a",
        "title": "t",
        "status": "complete",
        **dict.fromkeys(("key_findings", "linked_tasks", "needs_followup", "topics"), [""] * 10_000),
    }
    tell("cleo-manifest", "/w/MANIFEST.jsonl", value)
    data = json.dumps(value).encode()
    assert cost(lambda: tell("cleo-manifest", "/w/MANIFEST.jsonl", value)) < 25 * cost(
        lambda: msgspec.json.decode(data)
    )


def read_sample(source: Path, name: str) -> list[str]:
    """What is the matter with its files, if it is read at all."""
    with observed(source, clock=FrozenClock(moment(MOMENTS[name]))) as seen:
        seen.read()
        return [f"{status.status} {status.detail}" for status in seen.feed.statuses()]


def test_a_row_of_a_database_with_a_number_below_zero_stops_nothing(tmp_path: Path) -> None:
    folder = lay_out("goose", tmp_path)
    with closing(sqlite3.connect(folder / "sessions" / "sessions.db")) as database:
        database.execute("UPDATE messages SET id = -id WHERE id < 4")
        database.execute("UPDATE sessions SET rowid = -rowid")
        database.commit()
    assert all(told.startswith("live") for told in read_sample(folder, "goose"))


def test_a_database_of_which_not_even_the_fault_can_be_told_as_text_stops_nothing(tmp_path: Path) -> None:
    folder = lay_out("goose", tmp_path)
    path = folder / "sessions" / "sessions.db"
    path.write_bytes(path.read_bytes().replace(b"sessions", b"\xa8essions").replace(b"CREATE TABLE", b"CREATE TABLX"))
    assert [told for told in read_sample(folder, "goose") if not told.startswith("live")]


def test_a_number_of_phases_past_all_use_stops_nothing() -> None:
    counted = {"phases_completed": 10**400, "phases_total": 10**400}
    value = {"status": "partial", "summary": "x", "metadata": {"session_id": "sess_1766743200_abc123", **counted}}
    assert tell("proofchecker", "/w/specs/7_x/.return-meta.json", value) > 1


@pytest.mark.parametrize("number", [2**63, -(10**30)])
def test_a_recording_that_names_a_place_past_all_files_is_called_unreadable(number: int) -> None:
    record = {"is": "told", "at": [1, 2, number], "seen": 1, "events": [{"is": "started", "id": "a", "at": 1}]}
    rest = b'",' + json.dumps(record, separators=(",", ":")).encode()[1:]
    line = b'{"crc":"%08x%b' % (crc32(rest), rest)
    (told,) = load("recording")().read(Line(Origin("x", 1, 0), line))
    assert isinstance(told, Unreadable)


UNCLOSED: dict[str, Callable[[str], object]] = {
    "<task_result>": answer_in,
    '<task id="x': task_told,
    "<task-notification>": lambda text: [*notices(text)],
    "<task-notification><result>": lambda text: [*notices(f"{text}</task-notification>")],
    "<task-notification><status>": lambda text: [*notices(f"{text}</task-notification>")],
    "<teammate-message ": lambda text: [*mates_who_left(text)],
    "<command-name>": plain_prompt,
    "<user_query>": lambda text: _asked({"message": {"content": [{"type": "text", "text": text}]}}),
    "\n": lambda text: title_of(f"a{text}b"),
    "cd ": lambda text: program_of(f"cd {text}"),
}


@pytest.mark.parametrize("opening", UNCLOSED)
def test_tags_that_nobody_closes_cost_as_much_as_their_text(opening: str) -> None:
    read_it = UNCLOSED[opening]
    assert growth(lambda times: read_it(opening * times), 400) < 35


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(("piece", "times"), [(b"{}", 25), (b"1e308,", 100), (b"[[]],", 25)])
def test_a_line_of_many_little_things_costs_little_more_than_one_of_text(piece: bytes, times: int) -> None:
    """Numbers that large take msgspec itself three hundred times as long, and us thirty."""
    text = json.dumps({"a": ["abcdefg"] * 6_000}).encode()
    inside = piece * (len(text) // len(piece))
    line = inside if piece == b"{}" else b'{"a":[' + inside + b"0]}"
    assert cost(lambda: read(line)) < times * cost(lambda: read(text))


def test_of_a_transcript_of_broken_lines_some_are_named_and_the_others_counted(tmp_path: Path) -> None:
    log = tmp_path / "projects" / "x" / "agent-transcripts" / "a" / "a.jsonl"
    log.parent.mkdir(parents=True)
    said = {"role": "user", "message": {"content": [{"type": "text", "text": "List files"}]}}
    text = json.dumps(said) + "\n" + "- x\n" * 5_000 + json.dumps(said) + "\n"
    told = list(load("cursor")().read(Line(Origin(str(log), 1, 0), text.encode(), NOW)))
    lost = [each for each in told if isinstance(each, Unreadable)]
    assert [each.origin.line for each in lost[:2]] == [2, 3]
    assert lost[-1].excerpt == "4900 more lines of it"
    assert len(lost) == 101


def test_a_batch_that_names_a_task_twice_tells_of_it_once() -> None:
    def batch(*tasks: int) -> int:
        value = {"updated": TIME, "session_id": "sess_1766743200_abc123", "task_numbers": [*tasks]}
        return tell("proofchecker", "/w/specs/.orchestrator-multi-state.json", value)

    assert batch(3, 4, 3, 3, 4) == batch(3, 4)


def test_of_a_text_that_is_a_tree_of_lists_no_more_is_looked_at_than_is_shown() -> None:
    assert growth(lambda size: text([[[]] * 10] * size), 500) < 5
    assert text(["a", {"b": ["c", 1]}, []]) == "a\nb: c\n1"
