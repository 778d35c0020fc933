"""Who looks only once is told of a hang as well: a fresh `delegtop tree` takes a few quick looks."""

from pathlib import Path

import pytest
from tests.live.stage import Stage
from tests.live.tables import EVERY
from tests.live.verdict_watch import batches, fresh_tree, watch_fresh_trees
from tests.patience import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

HUNG = {"fifo_without_a_writer": "FIFO queue", "stopped_by_a_signal": "stopped"}
HEALTHY = ("sleep_450", "python_computes_now_and_then", "poll_loop", "threads_work")


def test_a_fresh_tree_names_what_hangs_and_nothing_else(tmp_path: Path) -> None:
    cases = [case for case in EVERY if case.name in (*HUNG, *HEALTHY)]
    with Stage(tmp_path, cases) as stage:
        problems: dict[str, str] = {}

        def is_named() -> bool:
            """Calls are looked at when they have been quiet for a while."""
            code, told = fresh_tree(stage.home)
            problems.clear()
            problems.update({name: told[id]["sentence"] for name, id in stage.ids.items() if told[id]["problem"]})
            assert problems.keys() <= HUNG.keys(), f"nothing else hangs: {problems}"
            assert (code == 3) == bool(problems)
            return len(problems) == len(HUNG)

        until(is_named, "that all are named", every=0.3)
        assert all(HUNG[name] in sentence for name, sentence in problems.items()), problems


def test_no_fresh_tree_calls_anything_hung_that_is_not(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--live-full"):
        pytest.skip("takes some minutes")
    wrong: dict[str, str] = {}
    for number, batch in enumerate(batches(EVERY)):
        with Stage(tmp_path / str(number), batch) as stage:
            wrong |= {name: str(each.wrong) for name, each in watch_fresh_trees(stage).items() if each.wrong}
    assert wrong == {}
