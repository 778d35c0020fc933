"""The session log: what each kind of line tells, and what is made of lines that do not fit."""

import json
from datetime import timedelta, timezone
from typing import Any

import pytest

from delegtop.base.clock import HOUR, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import (
    Artifact,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Outcome,
    Report,
    Started,
    Trust,
)
from delegtop.protocols.standard.dialects import session_log as module
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.sources.records import Line, Record, Unreadable

ID = "sess_1770109200_a1b2c3"
AT = "2026-02-03T09:00:00.250Z"
NOTHING = ("artifacts", "metadata", "metadata.session_id")
"""What a return lacks that has none of it."""
ORIGIN = Origin("logs/run.jsonl", 7, 1234)


def millis(text: str) -> Millis:
    at = parse_time(text)
    assert at is not None
    return at


def entry(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": event, "at": AT, "session_id": ID, **fields}


def register(**fields: Any) -> dict[str, Any]:
    return entry("register", **{"delegation_depth": 1, "delegation_path": ["orchestrator", "plan"], **fields})


def returned(**fields: Any) -> dict[str, Any]:
    whole = {"status": "completed", "summary": "Done.", "artifacts": [], "metadata": {"session_id": ID}, **fields}
    return entry("return", **{"return": whole})


def read(value: object, dialect: SessionLog | None = None) -> list[Event | Unreadable]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return list((dialect or SessionLog()).read(Line(ORIGIN, data)))


def event_of(value: object) -> Event | Unreadable:
    """The one event of a line that departs in no way."""
    (event,) = read(value)
    return event


def split(value: object) -> tuple[list[Event | Unreadable], list[tuple[str, str]]]:
    """The events of a line, and its deviations as (kind, detail)."""
    found = read(value)
    noted = [(each.kind, each.detail) for each in found if isinstance(each, Deviation)]
    return [each for each in found if not isinstance(each, Deviation)], noted


def report_of(**fields: Any) -> tuple[Report, list[str]]:
    (ended,), noted = split(returned(**fields))
    assert isinstance(ended, Ended)
    return ended.report, [kind for kind, _ in noted]


class TestLinesThatFit:
    def test_a_register_tells_everything_it_holds(self) -> None:
        value = register(
            parent_session_id="sess_1770109100_parent",
            command="implement",
            subagent="task-executor",
            caller="implement",
            task_number=191,
            task_context={"task_number": 7, "language": "lean"},
            timeout=90.5,
            deadline="2026-02-03T10:00:00+01:00",
            delegation_path=["orchestrator", "implement", "task-executor"],
            pid=4242,
            host="build-3",
            schema_version=1,
        )
        assert event_of(value) == Started(
            ID,
            millis(AT),
            ORIGIN,
            agent="task-executor",
            command="implement",
            caller="implement",
            task="191",
            path=("orchestrator", "implement", "task-executor"),
            depth=1,
            timeout=90_500,
            deadline=millis("2026-02-03T09:00:00Z"),
            parent="sess_1770109100_parent",
            pid=4242,
            host="build-3",
            trust=Trust.SCRIPT,
        )

    def test_a_task_number_may_be_a_text_or_stand_in_the_context(self) -> None:
        named, in_context = event_of(register(task_number="T-9")), event_of(register(task_context={"task_number": 195}))
        assert isinstance(named, Started)
        assert isinstance(in_context, Started)
        assert (named.task, in_context.task) == ("T-9", "195")

    def test_a_heartbeat_is_a_sign_of_life(self) -> None:
        value = entry("heartbeat", activity="building", tool="bash", tokens=1200, cost=0.5)
        assert event_of(value) == Heard(ID, millis(AT), ORIGIN, doing="building", tool="bash", tokens=1200, cost=0.5)

    def test_a_return_becomes_a_report_in_the_words_of_the_agent(self) -> None:
        value = returned(
            status="partial",
            summary="Two of three phases.",
            artifacts=[{"type": "plan", "path": "specs/plan.md", "summary": "The plan"}, {"path": "b.md"}],
            metadata={
                "session_id": ID,
                "duration_seconds": 12.5,
                "agent_type": "planner",
                "delegation_depth": 1,
                "delegation_path": ["orchestrator", "plan", "planner"],
                "phase_count": 3,
            },
            errors=[
                {
                    "type": "timeout",
                    "message": "Too slow",
                    "code": "TIMEOUT",
                    "recoverable": True,
                    "recommendation": "Again",
                }
            ],
            next_steps="Run /plan 191 again",
        )
        assert event_of(value) == Ended(
            ID,
            millis(AT),
            ORIGIN,
            Outcome.PARTIAL,
            Ending.RETURN,
            Report(
                status="partial",
                summary="Two of three phases.",
                artifacts=(Artifact("specs/plan.md", "plan", "The plan"), Artifact("b.md")),
                errors=(Fault("Too slow", "timeout", "TIMEOUT", True, "Again"),),
                next_steps="Run /plan 191 again",
                session_id=ID,
                agent="planner",
                depth=1,
                path=("orchestrator", "plan", "planner"),
                duration=12_500,
            ),
        )

    @pytest.mark.parametrize("status", ["completed", "failed", "partial", "blocked"])
    def test_each_status_of_the_standard_is_an_outcome(self, status: str) -> None:
        event = event_of(returned(status=status))
        assert isinstance(event, Ended)
        assert event.outcome == Outcome(status)

    def test_a_return_may_name_its_session_beside_the_metadata(self) -> None:
        event = event_of(returned(session_id=ID, metadata={"phase_count": 2}))
        assert isinstance(event, Ended)
        assert event.report.session_id == ID

    def test_a_timeout_ends_it_and_keeps_what_was_found(self) -> None:
        assert event_of(entry("timeout", artifacts=[{"path": "half.md"}])) == Ended(
            ID, millis(AT), ORIGIN, Outcome.TIMEOUT, Ending.TIMEOUT, Report(artifacts=(Artifact("half.md"),))
        )

    @pytest.mark.parametrize("recoverable", [True, False])
    def test_an_error_is_told_whether_or_not_it_ends_the_delegation(self, recoverable: bool) -> None:
        error = {"message": "no such tool", "recoverable": recoverable}
        fault = Fault("no such tool", recoverable=recoverable)
        assert event_of(entry("error", error=error)) == Erred(ID, millis(AT), ORIGIN, fault)

    def test_a_cancel_interrupts(self) -> None:
        assert event_of(entry("cancel", reason="asked to stop")) == Ended(
            ID, millis(AT), ORIGIN, Outcome.INTERRUPTED, Ending.CANCEL, Report(summary="asked to stop")
        )

    def test_a_good_line_is_never_read_twice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "records", lambda _: pytest.fail("took the careful way"))
        good = [
            register(deadline="2026-02-03T10:00:00Z"),
            entry("heartbeat"),
            returned(),
            entry("timeout"),
            entry("error", error={"message": "x"}),
            entry("cancel"),
        ]
        assert len([event for value in good for event in read(value)]) == len(good)

    def test_both_ways_of_reading_tell_the_same(self) -> None:
        values = [
            register(timeout=3600, deadline="2026-02-03T10:00:00Z", task_number=5, task_context={"language": "lean"}),
            entry("heartbeat", activity="x", tokens=3, cost=1),
            returned(artifacts=[{"path": "a"}], errors=[{"message": "m"}]),
            entry("timeout", artifacts=[{"path": "a"}]),
            entry("error", error={"message": "x"}),
            entry("cancel", reason="r"),
        ]
        for value in values:
            assert SessionLog().translate(Record(ORIGIN, value)) == read(value)


class TestTimes:
    def test_a_time_without_a_zone_is_read_in_the_zone_given_and_noted(self) -> None:
        east = SessionLog(timezone(timedelta(hours=2)))
        heard, note = read(entry("heartbeat") | {"at": "2026-02-03T09:00:00"}, east)
        assert isinstance(heard, Heard)
        assert heard.at == millis("2026-02-03T09:00:00Z") - 2 * HOUR
        assert note == Deviation(ORIGIN, "time without zone", "at: '2026-02-03T09:00:00'")

    def test_a_deadline_without_a_zone_is_noted_too(self) -> None:
        (started,), noted = split(register(deadline="2026-02-03T10:00:00"))
        assert isinstance(started, Started)
        assert started.deadline == millis("2026-02-03T10:00:00Z")
        assert noted == [("time without zone", "deadline: '2026-02-03T10:00:00'")]

    @pytest.mark.parametrize("at", ["soon", "", 1770109200, True, ["2026"], "2026-13-01T00:00:00Z"])
    def test_a_garbled_time_leaves_the_event_without_one(self, at: object) -> None:
        (heard,), noted = split(entry("heartbeat") | {"at": at})
        assert isinstance(heard, Heard)
        assert heard.at is None
        assert [kind for kind, _ in noted] == ["garbled time"]

    @pytest.mark.parametrize("value", [{"event": "heartbeat", "session_id": ID}, entry("heartbeat") | {"at": None}])
    def test_a_missing_time_is_noted(self, value: dict[str, Any]) -> None:
        assert split(value) == ([Heard(ID, None, ORIGIN)], [("missing time", "at")])


class TestIdentity:
    def test_a_record_without_an_id_is_named_after_its_place(self) -> None:
        (heard,), noted = split({"event": "heartbeat", "at": AT})
        assert isinstance(heard, Heard)
        assert heard.id == "no-session-id@run.jsonl:7"
        assert noted == [("missing session_id", "session_id")]

    def test_a_return_without_an_id_belongs_to_the_session_it_names(self) -> None:
        value = returned()
        del value["session_id"]
        (ended,), noted = split(value)
        assert isinstance(ended, Ended)
        assert ended.id == ID
        assert noted == [("missing session_id", "session_id")]

    def test_an_empty_id_is_a_missing_one(self) -> None:
        (heard,), noted = split(entry("heartbeat") | {"session_id": ""})
        assert isinstance(heard, Heard)
        assert heard.id.startswith("no-session-id@")
        assert [kind for kind, _ in noted] == ["missing session_id"]

    @pytest.mark.parametrize("value", [register(), entry("timeout"), entry("cancel")])
    def test_a_malformed_id_is_kept_and_noted(self, value: dict[str, Any]) -> None:
        (event,), noted = split(value | {"session_id": "task-9"})
        assert isinstance(event, Started | Ended)
        assert event.id == "task-9"
        assert noted == [("malformed session id", "task-9")]

    def test_a_heartbeat_is_not_judged_by_its_id(self) -> None:
        assert split(entry("heartbeat") | {"session_id": "task-9"}) == ([Heard("task-9", millis(AT), ORIGIN)], [])

    def test_a_return_of_another_session_is_noted_and_stays_with_its_record(self) -> None:
        (ended,), noted = split(returned(metadata={"session_id": "sess_1770100000_others"}))
        assert isinstance(ended, Ended)
        assert ended.id == ID
        assert ended.report.session_id == "sess_1770100000_others"
        assert noted == [("another session id", f"the return is of sess_1770100000_others, the record of {ID}")]


class TestLinesThatDoNotFit:
    @pytest.mark.parametrize("event", ["promoted", "Register", 5, None, ["register"]])
    def test_an_unknown_event_is_noted_and_nothing_else(self, event: object) -> None:
        events, noted = split(entry("x") | {"event": event})
        assert events == []
        assert [kind for kind, _ in noted] == ["unknown event"]

    def test_a_record_that_names_no_event_says_so(self) -> None:
        assert split({"at": AT, "session_id": ID}) == ([], [("unknown event", "no event is named")])

    def test_every_unknown_key_is_noted_and_the_rest_is_read(self) -> None:
        (heard,), noted = split(entry("heartbeat", activity="x", mood="good", weather="fair"))
        assert isinstance(heard, Heard)
        assert heard.doing == "x"
        assert noted == [("unknown key", "mood"), ("unknown key", "weather")]

    def test_unknown_keys_are_noticed_inside_the_return_but_not_in_its_metadata(self) -> None:
        value = returned(
            key_findings=[], artifacts=[{"path": "a", "lines": 3}], metadata={"session_id": ID, "phase_count": 1}
        )
        assert split(value)[1] == [
            ("unknown key", "return.key_findings"),
            ("unknown key", "return.artifacts[0].lines"),
        ]

    def test_another_schema_version_is_read_as_this_one_and_noted(self) -> None:
        events, noted = split(entry("heartbeat", schema_version=2))
        assert len(events) == 1
        assert noted == [("unknown schema_version", "schema_version: 2; read as version 1")]

    def test_each_field_of_a_wrong_type_is_left_out_alone(self) -> None:
        (started,), noted = split(
            register(command=["plan"], timeout="1h", delegation_depth="deep", host="build-3", pid=-1)
        )
        assert isinstance(started, Started)
        assert (started.command, started.timeout, started.depth, started.pid) == (None, None, None, None)
        assert (started.host, started.path) == ("build-3", ("orchestrator", "plan"))
        assert [(kind, detail.split(":")[0]) for kind, detail in noted] == [
            ("wrong type", "delegation_depth"),
            ("wrong type", "command"),
            ("wrong type", "timeout"),
            ("wrong value", "pid"),
        ]

    def test_missing_fields_are_noted(self) -> None:
        assert split(entry("register"))[1] == [
            ("missing field", "delegation_depth"),
            ("missing field", "delegation_path"),
        ]
        (erred,), noted = split(entry("error"))
        assert (erred, noted) == (Erred(ID, millis(AT), ORIGIN, Fault()), [("missing field", "error")])
        (ended,), noted = split(entry("return"))
        assert isinstance(ended, Ended)
        assert (ended.outcome, ended.report) == (Outcome.UNKNOWN, Report(absent=NOTHING))
        assert noted == [("missing field", "return")]

    @pytest.mark.parametrize("cost", [b"NaN", b"Infinity", b"1e999", b"-1", b"1e300"])
    def test_a_number_that_is_no_amount_is_refused_and_said(self, cost: bytes) -> None:
        found = read(
            json.dumps(entry("heartbeat", tokens=5, cost=0)).encode().replace(b'"cost": 0', b'"cost": ' + cost)
        )
        heard = next(each for each in found if isinstance(each, Heard))
        assert (heard.tokens, heard.cost) == (5, None)
        assert len(found) == 2  # the other says why, as a deviation or as something unreadable

    @pytest.mark.parametrize("noise", [b"\xef\xbb\xbf", b"\0\0\0\0", b"  "])
    def test_noise_before_a_record_costs_nothing(self, noise: bytes) -> None:
        found = read(noise + json.dumps(entry("heartbeat", activity="x")).encode())
        assert [type(each) for each in found if not isinstance(each, Unreadable)] == [Heard]

    def test_two_records_on_one_line_are_both_read(self) -> None:
        found = read(json.dumps(register()).encode() + json.dumps(entry("heartbeat")).encode())
        assert [type(each) for each in found] == [Started, Heard]

    @pytest.mark.parametrize("data", [b"42", b"[]", b'"register"', b"{", b"nonsense", b"[" * 100_000])
    def test_what_is_no_record_is_unreadable(self, data: bytes) -> None:
        assert all(isinstance(each, Unreadable) for each in read(data))
        assert read(data)

    def test_a_record_of_nothing_but_oddities_is_told_in_brief(self) -> None:
        events, noted = split(entry("heartbeat", **{f"k{n}": n for n in range(1000)}, activity="x"))
        assert len(events) == 1
        assert len(noted) == 33
        assert noted[-1] == ("unknown key", "and 968 more on the same line")

    def test_a_detail_is_never_longer_than_a_line_can_show(self) -> None:
        (_, detail), *_ = split(entry("heartbeat") | {"at": "x" * 100_000})[1]
        assert len(detail) < 250


class TestReturnsThatDoNotFit:
    def test_an_unknown_status_is_kept_as_a_word_and_counts_as_unknown(self) -> None:
        (ended,), noted = split(returned(status="Done"))
        assert isinstance(ended, Ended)
        assert (ended.outcome, ended.report.status) == (Outcome.UNKNOWN, "Done")
        assert noted == [("unknown status", "return.status: 'Done'")]

    def test_a_status_of_an_ending_that_no_agent_can_return_is_unknown_too(self) -> None:
        (ended,), _ = split(returned(status="timeout"))
        assert isinstance(ended, Ended)
        assert ended.outcome == Outcome.UNKNOWN

    def test_bare_paths_are_artifacts(self) -> None:
        report, kinds = report_of(artifacts=["a.md", {"path": "b.md", "type": 3}, 7, {"type": "plan"}])
        assert report.artifacts == (Artifact("a.md"), Artifact("b.md"), Artifact(""), Artifact("", "plan"))
        assert kinds == ["wrong type", "wrong type", "wrong type", "missing field"]

    def test_one_artifact_without_its_list_is_taken(self) -> None:
        assert report_of(artifacts={"path": "a.md"})[0].artifacts == (Artifact("a.md"),)
        assert report_of(artifacts="a.md")[0].artifacts == (Artifact("a.md"),)

    def test_errors_are_understood_as_one_object_or_as_texts(self) -> None:
        report, kinds = report_of(errors={"message": "m", "code": 4})
        assert (report.errors, kinds) == ((Fault("m"),), ["wrong type", "wrong type"])
        assert report_of(errors=["broke", {"message": "m"}])[0].errors == (Fault("broke"), Fault("m"))

    def test_null_where_a_list_belongs_is_noted(self) -> None:
        report, kinds = report_of(errors=None, next_steps=None)
        assert (report.errors, kinds) == ((), ["wrong type"])

    def test_next_steps_as_a_list_become_lines(self) -> None:
        report, kinds = report_of(next_steps=["one", "two", 3])
        assert report.next_steps == "one\ntwo"
        assert kinds == ["wrong type"]

    def test_a_summary_that_is_no_text_is_left_out(self) -> None:
        report, kinds = report_of(summary={"text": "x"})
        assert (report.status, report.summary, kinds) == ("completed", None, ["wrong type"])

    def test_metadata_is_read_field_by_field(self) -> None:
        report, kinds = report_of(metadata={"session_id": ID, "duration_seconds": -1, "agent_type": "planner"})
        assert (report.duration, report.agent, kinds) == (None, "planner", ["wrong value"])
        report, kinds = report_of(metadata="none")
        assert (report.session_id, kinds) == (None, ["wrong type"])

    def test_a_return_that_is_mere_prose_is_its_summary(self) -> None:
        (ended,), noted = split(entry("return", **{"return": "All done!"}))
        assert isinstance(ended, Ended)
        assert (ended.outcome, ended.report) == (Outcome.UNKNOWN, Report(summary="All done!", absent=NOTHING))
        assert noted == [("wrong type", "return: Expected `object`, got `str`")]

    def test_an_error_that_is_a_text_is_its_message(self) -> None:
        (erred,), noted = split(entry("error", error="broke"))
        assert erred == Erred(ID, millis(AT), ORIGIN, Fault("broke"))
        assert [kind for kind, _ in noted] == ["wrong type"]

    @pytest.mark.parametrize("error", [7, [], {"message": 7}])
    def test_an_error_that_says_nothing_is_still_an_error(self, error: object) -> None:
        (erred,), noted = split(entry("error", error=error))
        assert erred == Erred(ID, millis(AT), ORIGIN, Fault())
        assert [kind for kind, _ in noted] == ["wrong type"]


def sniff(head: bytes, whole: bool = True) -> int:
    return SessionLog.sniff(Sample("any.name", head, whole))


class TestSniffing:
    LINE = json.dumps(entry("heartbeat")).encode() + b"\n"

    def test_lines_of_ours_are_recognised_by_shape(self) -> None:
        assert sniff(self.LINE * 3) == 95
        assert sniff(self.LINE * 100, whole=False) == 95

    def test_garbage_in_the_first_lines_is_survived(self) -> None:
        assert sniff(b"\0\0\0garbage\n\xff\xfe\n[1,2\n" + self.LINE * 2) == 95

    @pytest.mark.parametrize(
        "line",
        [
            {"event": "click", "x": 1},
            {"event": "error", "message": "no key of ours"},
            {"event": "cli_started", "session_id": "session_1", "timestamp": 1794842835.1},
            {"event": "state", "at": "2026-02-03T09:00:00Z", "id": "sess_1", "state": "idle"},
        ],
    )
    def test_events_of_strangers_are_left_to_them(self, line: dict[str, object]) -> None:
        assert sniff(json.dumps(line).encode() + b"\n") == 0
        assert sniff(json.dumps(line).encode()[:-4], whole=False) <= 30

    def test_an_event_of_a_later_version_is_weak_and_one_without_a_time_less_so(self) -> None:
        later = sniff(json.dumps(entry("pause")).encode())
        assert 0 < later < sniff(b'{"event":"heartbeat","session_id":"sess_1"}\n') < 95

    def test_a_few_lines_of_ours_among_others_are_not_enough(self) -> None:
        assert sniff(self.LINE + b'{"type":"user"}\n' * 9) == 0

    def test_half_a_line_is_judged_as_far_as_it_goes(self) -> None:
        whole = json.dumps(register(task_context={"text": "x" * 9000})).encode()
        assert sniff(whole[:120], whole=False) == 80
        assert sniff(b'{"event":"register"', whole=False) == 30
        assert sniff(b'{"eve', whole=False) == 0

    @pytest.mark.parametrize(
        "head", [b"", b"\n\n", b"{}\n", b"[]", b"plain text\n", b"\xff" * 50, b"[" * 100_000, b'{"type":"user"}\n']
    )
    def test_what_is_not_ours_is_left_to_others(self, head: bytes) -> None:
        assert sniff(head) == 0
        assert sniff(head, whole=False) == 0


def test_every_kind_of_deviation_can_happen() -> None:
    """A kind that nothing can cause would be a promise nobody keeps."""
    values = [
        entry("x"),
        entry("heartbeat", mood=1, schema_version=2, tokens=-1, tool=1) | {"at": "2026-02-03T09:00:00"},
        returned(status="Done", metadata={"session_id": "other"}),
        register(delegation_depth=None) | {"session_id": "x"},
        {"event": "heartbeat"},
        entry("heartbeat") | {"at": "never"},
    ]
    assert {kind for value in values for kind, _ in split(value)[1]} == {kind.value for kind in DeviationKind}
