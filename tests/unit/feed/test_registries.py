"""A registry is one document: read anew as a whole, and told of together with the logs."""

from pathlib import Path

import pytest
from tests.telling import handle_of
from tests.watching import Opener, register, registry, returned

from delegtop.model.states import State


class TestRegistries:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        path = tmp_path / "registry.json"
        path.write_text(registry("aaa111", "bbb222"))
        return path

    @pytest.mark.parametrize("torn", ["", "{", registry("aaa111")[:-20]], ids=["empty", "begun", "cut"])
    def test_a_torn_one_leaves_the_last_good_one_standing(self, torn: str, watch: Opener, book: Path) -> None:
        it = watch(book)
        it.look()
        book.write_text(torn)
        it.look(2)
        assert it.state("aaa111") is it.state("bbb222") is State.RUNNING
        assert it.status(book).status == "stale"
        assert "showing the one of" in it.status(book).detail
        book.write_text(registry("aaa111"))
        it.look()
        assert it.status(book).status == "live"
        assert (it.state("aaa111"), it.state("bbb222")) == (State.RUNNING, State.UNKNOWN)

    def test_what_is_wrong_in_it_is_counted_once_however_often_it_is_written(self, watch: Opener, book: Path) -> None:
        it = watch(book)
        for number in range(3):
            book.write_text(registry("aaa111", start_time="2026-05-01T10:00:00", task_number=number))
            it.look()
        assert it.status(book).reasons == {"time without zone": 1}
        book.write_text(registry("aaa111"))
        it.look()
        assert it.status(book).deviations == 0

    def test_one_that_is_deleted_takes_nothing_with_it(self, watch: Opener, book: Path) -> None:
        it = watch(book)
        it.look()
        book.unlink()
        it.look(2)
        assert it.state("aaa111") is State.RUNNING
        assert it.status(book).status in ("gone", "stale")

    def test_an_entry_that_leaves_has_an_unknown_outcome_until_a_return_tells_it(
        self, watch: Opener, book: Path
    ) -> None:
        it = watch(book.parent)
        it.look()
        book.write_text(registry("bbb222"))
        it.look()
        assert it.state("aaa111") is State.UNKNOWN
        handle = handle_of(it.forest, "sess_20260501_aaa111")
        assert "left the registry" in it.forest.reason(handle)
        (book.parent / "session.jsonl").write_text(returned("aaa111"))
        it.look()
        assert it.state("aaa111") is State.COMPLETED

    def test_log_and_registry_tell_of_one_delegation_and_every_claim_is_kept(self, watch: Opener, book: Path) -> None:
        (book.parent / "session.jsonl").write_text(register("aaa111", timeout=900) + register("ccc333"))
        it = watch(book.parent)
        it.look(3)
        assert sorted(it.ids()) == ["aaa111", "bbb222", "ccc333"]
        claims = [claim for claim in it.delegation("aaa111").claims if claim.field == "timeout"]
        assert sorted(Path(claim.origin.source).name for claim in claims) == ["registry.json", "session.jsonl"]
        assert it.delegation("bbb222").claims == ()
