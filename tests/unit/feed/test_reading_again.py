"""The very line and the history of a delegation are read again from disk."""

import json
import shutil
from pathlib import Path

import pytest
from tests.watching import Opener, append, entry, line, register, registry, returned

from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Heard

SAMPLES = Path(__file__).parents[3] / "sample_logs"
FUTURE = FrozenClock(Millis(1 << 50))


class TestReadingAgain:
    BEATS = tuple(line("heartbeat", "aaa111", f"10:01:0{n}", activity=f"step {n}") for n in range(1, 4))

    def test_raw_gives_the_very_line(self, watch: Opener, log: Path) -> None:
        odd = register("bbb222").replace('{"', '{  "', 1)
        append(log, odd)
        it = watch(log)
        it.look()
        origin = it.delegation("bbb222").started_origin
        assert origin is not None
        assert it.feed.raw(origin) == odd.rstrip("\n").encode()

    def test_raw_gives_an_entry_of_a_registry(self, watch: Opener, tmp_path: Path) -> None:
        book = tmp_path / "registry.json"
        book.write_text(registry("aaa111", "bbb222"))
        it = watch(book)
        it.look()
        origin = it.delegation("bbb222").started_origin
        assert origin is not None
        text = it.feed.raw(origin)
        assert text is not None
        assert json.loads(b"{" + text + b"}") == {"sess_20260501_bbb222": entry()}

    def test_raw_of_a_file_never_read_is_nothing(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.look()
        assert it.feed.raw(Origin("elsewhere.jsonl", 1, 0)) is None

    def test_history_has_every_line_of_one_delegation_in_order(self, watch: Opener, log: Path) -> None:
        text = register("bbb222").join(self.BEATS)
        append(log, text + returned("aaa111"))
        it = watch(log)
        it.look()
        told = it.feed.history(it.delegation("aaa111"))
        lines = [each.data.decode() + "\n" for each, _ in told]
        assert lines == [register("aaa111"), *self.BEATS, returned("aaa111")]
        assert [each.origin.line for each, _ in told] == [1, 2, 4, 6, 7]
        assert [event.doing for _, events in told for event in events if isinstance(event, Heard)] == [
            "step 1",
            "step 2",
            "step 3",
        ]

    def test_history_keeps_to_its_limit_and_shows_the_newest(self, watch: Opener, log: Path) -> None:
        append(log, "".join(self.BEATS))
        it = watch(log)
        it.look()
        told = it.feed.history(it.delegation("aaa111"), limit=2)
        assert [each.data.decode() + "\n" for each, _ in told] == list(self.BEATS[1:])

    def test_history_goes_through_log_and_registry(self, watch: Opener, log: Path) -> None:
        (log.parent / "registry.json").write_text(registry("aaa111"))
        append(log, self.BEATS[0])
        it = watch(log.parent)
        it.look()
        names = {Path(each.origin.source).name for each, _ in it.feed.history(it.delegation("aaa111"))}
        assert names == {"session.jsonl", "registry.json"}

    @pytest.mark.parametrize("way", ["rename", "copytruncate"])
    def test_a_rotation_does_not_make_history_tell_of_another_file(self, way: str, watch: Opener, log: Path) -> None:
        append(log, "".join(self.BEATS))
        it = watch(log.parent)
        it.look()
        if way == "rename":
            log.rename(log.with_suffix(".jsonl.1"))
        else:
            shutil.copy(log, log.with_suffix(".jsonl.1"))
        other = line("heartbeat", "aaa111", "09:00:00", activity="a line of the day before")
        log.write_text(register("bbb222") + other * 20)
        it.look(2)
        told = [each.data.decode() + "\n" for each, _ in it.feed.history(it.delegation("aaa111"))]
        assert set(told) <= {register("aaa111"), *self.BEATS, other}
        assert register("aaa111") in told
        assert self.BEATS[-1] in told

    def test_a_rotation_does_not_make_raw_tell_of_another_file(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        events = it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222"))
        events += it.look(2)
        raw = [it.feed.raw(event.origin) for event in events]
        assert raw == [register(session).rstrip("\n").encode() for session in ("aaa111", "bbb222")]

    def test_history_goes_on_over_a_rotation(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        append(log, self.BEATS[0])
        it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222") + self.BEATS[1] + self.BEATS[2] + returned("aaa111"))
        it.look(2)
        told = [each.data.decode() + "\n" for each, _ in it.feed.history(it.delegation("aaa111"))]
        assert told == [register("aaa111"), *self.BEATS, returned("aaa111")]
        [(only, _)] = it.feed.history(it.delegation("bbb222"))
        assert only.data.decode() + "\n" == register("bbb222")

    def test_history_of_a_log_that_is_gone_is_empty_or_what_is_still_known(self, watch: Opener, log: Path) -> None:
        it = watch(log)
        it.look()
        delegation = it.delegation("aaa111")
        log.write_text("")
        it.look()
        assert it.feed.history(delegation) == []


@pytest.mark.parametrize("sample", ["claude-stream", "codex", "copilot", "gemini", "qwen"])
def test_a_log_that_begins_anew_is_read_as_if_for_the_first_time(sample: str, watch: Opener, tmp_path: Path) -> None:
    """Prompts, open calls and tokens of the text that was there before do not carry on into the new one."""

    def events_of_the_new_text(*, after_another: bool) -> list[Event]:
        log.write_text(text if after_another else "")
        it = watch(log, clock=FUTURE)
        it.look()
        log.write_text(a_year_later)
        return it.look(2)

    original = max((SAMPLES / sample).rglob("*.jsonl"), key=lambda path: (path.stat().st_size, path))
    log = tmp_path / original.name
    text = original.read_text()
    a_year_later = text.replace("2026-", "2027-")
    assert events_of_the_new_text(after_another=True) == events_of_the_new_text(after_another=False) != []
