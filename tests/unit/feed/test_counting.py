"""Nothing is lost and nothing counts twice."""

from pathlib import Path

from tests.watching import Opener, append, line, register, registry, returned

from delegtop.feed.followed_file import EXAMPLES
from delegtop.feed.live_feed import BATCH
from delegtop.model.events import Deviation, Heard, Started
from delegtop.sources.lines import CHUNK


class TestCounting:
    def test_nothing_counts_twice_however_often_it_is_polled(self, watch: Opener, log: Path) -> None:
        (log.parent / "registry.json").write_text(registry("aaa111"))
        append(log, line("heartbeat", "aaa111", "10:01:00", activity="thinking") + "{broken\n")
        it = watch(log.parent, log)
        first = it.look()
        before = it.feed.statuses()
        assert it.look(10) == []
        assert it.feed.statuses() == before
        assert sum(isinstance(event, Heard) for event in first) == 1
        assert (it.status(log).records, it.status(log).unreadable) == (2, 1)
        append(log, returned("aaa111"))
        assert len(it.look(5)) == 1

    def test_a_rotation_loses_nothing_and_repeats_nothing(self, watch: Opener, log: Path) -> None:
        it = watch(log.parent)
        it.look()
        log.rename(log.with_suffix(".jsonl.1"))
        log.write_text(register("bbb222"))
        append(log.with_suffix(".jsonl.1"), register("ccc333"))
        assert sum(isinstance(event, Started) for event in it.look(4)) == 2
        assert sorted(it.ids()) == ["aaa111", "bbb222", "ccc333"]

    def test_only_what_could_be_read_is_a_record(self, watch: Opener, log: Path) -> None:
        append(log, "\n{torn\n[1, 2]\nprose\n" + register("bbb222"))
        it = watch(log)
        it.look()
        status = it.status(log)
        assert (status.records, status.unreadable) == (2, 3)
        assert sum(status.reasons.values()) == 3

    def test_deviations_are_counted_by_kind_with_examples_that_name_the_line(self, watch: Opener, log: Path) -> None:
        append(log, line("promoted", "aaa111") + line("heartbeat", "aaa111", activity=7))
        it = watch(log)
        found = [event for event in it.look() if isinstance(event, Deviation)]
        status = it.status(log)
        assert status.deviations == len(found) == sum(status.reasons.values()) == 2
        assert [example.origin.line for example in status.examples] == [2, 3]

    def test_examples_stay_few_and_the_count_does_not(self, watch: Opener, log: Path) -> None:
        append(log, "prose\n" * 500)
        it = watch(log)
        it.look()
        assert it.status(log).unreadable == 500
        assert len(it.status(log).examples) == EXAMPLES

    def test_much_comes_in_batches_and_progress_ends_at_the_end(self, watch: Opener, log: Path) -> None:
        beat = line("heartbeat", "aaa111", activity="x")
        append(log, beat * (4 * BATCH))
        it = watch(log)
        sizes = [len(batch.events) for batch in it.feed.poll()]
        assert sum(sizes) == 4 * BATCH + 1
        assert max(sizes) <= BATCH + CHUNK // len(beat)
        assert it.feed.progress() == (log.stat().st_size, log.stat().st_size)

    def test_progress_never_passes_the_end_while_a_log_is_cut_off(self, watch: Opener, log: Path) -> None:
        beats = line("heartbeat", "aaa111", activity="x") * (8 * BATCH)
        shrinks = log.parent / "shrinks.jsonl"
        shrinks.write_text(register("bbb222") + beats)
        it = watch(log.parent)
        it.look()
        shrinks.write_text(register("bbb222"))
        append(log, beats)
        shares = [it.feed.progress() for _ in it.feed.poll()]
        assert len(shares) > 1
        assert all(read <= size for read, size in shares)

    def test_reading_all_takes_the_last_line_without_its_newline(self, watch: Opener, log: Path) -> None:
        append(log, returned("aaa111").rstrip("\n"))
        it = watch(log)
        assert len(it.look()) == 1
        assert sum(len(batch.events) for batch in it.feed.read_all()) == 1
