"""What is said of real processes: every hang is named with its cause, and nothing that is healthy is called hung.

A few by default, all with `--live-full` (about a quarter of an hour).
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.live.live_case import Case, Truth
from tests.live.stage import Stage, cannot_run
from tests.live.tables import EVERY, HEALTHY
from tests.live.verdict_watch import LOOKS, SETTLED, Record, Said, batches, hidden, watch
from tests.without_proc import without_proc

from delegtop.diagnosis.verdicts import Certainty, Kind

pytestmark = [
    pytest.mark.xdist_group("live"),
    pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at"),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        chosen = [case for case in EVERY if case.default or metafunc.config.getoption("--live-full")]
        metafunc.parametrize("case", chosen, ids=[case.name for case in chosen])


@pytest.fixture(scope="module")
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """What was said of each case that can be run here."""
    full = request.config.getoption("--live-full")
    chosen = [case for case in EVERY if full or case.default]
    return _watched(chosen, tmp_path_factory, LOOKS if full else SETTLED)


@pytest.fixture(scope="module")
def reticent(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """What was said of healthy ones where one may not trace: the kernel then tells less of what they wait for."""
    with hidden("syscall"):
        return _watched([case for case in HEALTHY if not case.busy], tmp_path_factory, LOOKS)


@pytest.fixture(scope="module")
def by_psutil(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """What is said of all of them on macOS, as far as Linux can stand for it."""
    with without_proc():
        return _watched(EVERY, tmp_path_factory, LOOKS, plain=True)


def _watched(
    cases: Sequence[Case], folders: pytest.TempPathFactory, settled: int, *, plain: bool = False
) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for batch in batches(cases):
        root = folders.mktemp("live")
        with pytest.MonkeyPatch.context() as patched, Stage(root, batch) as stage:
            patched.setenv("HOME", str(stage.home))
            for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
                patched.setenv(name, str(root / name.lower()))
            patched.delenv("CLAUDE_CONFIG_DIR", raising=False)
            patched.chdir(stage.home)
            found |= watch(stage, settled=settled, plain=plain)
    return found


def test_what_is_said_of_it_is_so(case: Case, records: dict[str, Record]) -> None:
    if reason := cannot_run(case):
        pytest.skip(reason)
    assert list(records[case.name].faults) == []


def test_nothing_healthy_is_called_hung_where_the_kernel_tells_less(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config
) -> None:
    if not pytestconfig.getoption("--live-full"):
        pytest.skip("takes a minute")
    records: dict[str, Record] = request.getfixturevalue("reticent")
    assert {name: str(record.wrong) for name, record in records.items() if record.wrong} == {}


def test_where_there_is_only_psutil_nothing_healthy_is_called_hung_and_nothing_certainly(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config
) -> None:
    if not pytestconfig.getoption("--live-full"):
        pytest.skip("takes some minutes")
    records: dict[str, Record] = request.getfixturevalue("by_psutil")
    assert {name: str(record.wrong) for name, record in records.items() if record.wrong} == {}
    assert {name: str(said) for name, record in records.items() for said in record.said if _is_certain(said)} == {}
    told = {record.case.truth for record in records.values() if record.named}
    assert {Truth.GONE, Truth.NETWORK, Truth.SLEEPS} <= told


def _is_certain(said: Said) -> bool:
    """That the agent itself is stopped is to be seen everywhere."""
    hung = said.alarm and said.kind == Kind.HUNG_IN_TOOL.value and said.certainty is Certainty.CERTAIN
    return hung and "agent itself" not in said.sentence
