"""At a frozen moment nothing is known that happened later."""

import json
from pathlib import Path

from tests.telling import handle_of
from tests.watching import NOW, Opener, register, registry, returned

from delegtop.base.clock import FrozenClock, Millis
from delegtop.model.states import State


class TestFrozenMoment:
    def test_what_happens_later_is_not_known_yet_and_is_counted(self, watch: Opener, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        log.write_text(register("aaa111") + returned("aaa111"))
        it = watch(log, clock=FrozenClock(Millis(NOW - 60_000)))
        it.look()
        assert it.state("aaa111") is State.RUNNING
        assert it.status(log).detail == "1 later record left out"

    def test_a_word_without_a_time_does_not_bring_forward_one_that_starts_later(
        self, watch: Opener, tmp_path: Path
    ) -> None:
        session = "0b0f3a52-8b1e-4c67-9a40-2f6be1c7d3ff"
        said = {"type": "user", "sessionId": session, "uuid": "u1", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/w"}
        record = {**said, "parentUuid": None, "isSidechain": False, "message": {"role": "user", "content": "hi"}}
        title = {"type": "ai-title", "aiTitle": "Tidy the barn", "sessionId": session}
        log = tmp_path / f"{session}.jsonl"
        log.write_text(json.dumps(record) + "\n" + json.dumps(title) + "\n")
        before = watch(log, clock=FrozenClock(Millis(NOW - 86_400_000)))
        before.look(3)
        assert before.ids() == []
        then = watch(log, clock=FrozenClock(NOW))
        then.look(3)
        found = handle_of(then.forest, session)
        assert then.forest.delegation(found).title == "Tidy the barn"

    def test_a_registry_does_not_list_those_who_start_later(self, watch: Opener, tmp_path: Path) -> None:
        book = tmp_path / "registry.json"
        book.write_text(registry("aaa111"))
        it = watch(book, clock=FrozenClock(Millis(NOW - 86_400_000)))
        it.look(3)
        assert it.ids() == []

    def test_what_tells_no_time_at_all_is_known_at_any_moment(self, watch: Opener, tmp_path: Path) -> None:
        log = tmp_path / "MANIFEST.jsonl"
        done = {"id": "a-1", "file": "a.md", "title": "A", "date": "2026-03-18", "status": "complete", "topics": []}
        log.write_text(json.dumps({**done, "key_findings": [], "actionable": False}) + "\n")
        it = watch(log, clock=FrozenClock(Millis(NOW - 86_400_000)))
        it.look(3)
        assert len(it.ids()) == 1
