"""Hostile strings in every field of logs, through every command, file, message, answer and screen.

By default a few hundred in a few samples; `pytest --hostile 10000 tests/masking` puts so many into all formats, and
opens the report in a browser.
"""

from itertools import chain
from pathlib import Path

import pytest
from tests.masking.browser import CHROMIUM, ran_a_script
from tests.masking.every_output import MORE_COMMANDS, about_one, answered, printed, served, told, written
from tests.masking.every_screen import shown
from tests.masking.filled_logs import AT, FEW
from tests.masking.hostile import dangerous, hostile_logs

from delegtop.app.main import DelegtopApp

Logs = tuple[Path, Path]
MANY = 1_000
"""From so many on they go into all formats."""


@pytest.fixture(scope="module")
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Samples that hold all the strings, as many in each text as are needed; and a folder to write to."""
    count, seed = request.config.getoption("--hostile"), request.config.getoption("--seed")
    folder = tmp_path_factory.mktemp("hostile")
    return hostile_logs(folder, count, seed, () if count >= MANY else FEW), folder


@pytest.mark.parametrize("way", [printed, told, answered, served], ids=lambda way: way.__name__)
def test_nothing_but_printable_text_is_printed_told_or_answered(way, logs: Logs) -> None:  # type: ignore[no-untyped-def] # each is a generator of name and text
    found = {name: dangerous(text) for name, text in way(logs[0], AT)}
    assert found
    assert {name: signs for name, signs in found.items() if signs} == {}


def test_nothing_but_printable_text_is_printed_in_other_forms_and_of_single_delegations(
    request: pytest.FixtureRequest, logs: Logs
) -> None:
    forms = MORE_COMMANDS if request.config.getoption("--hostile") >= MANY else MORE_COMMANDS[::5]
    found = {name: dangerous(text) for name, text in chain(printed(logs[0], AT, forms), about_one(logs[0], AT))}
    assert {name: signs for name, signs in found.items() if signs} == {}


def test_nothing_but_printable_text_is_written(logs: Logs, tmp_path: Path) -> None:
    found = {name: dangerous(text) for name, text in written(logs[0], AT, tmp_path)}
    assert any(name.startswith("bundle") for name in found)
    assert {name: signs for name, signs in found.items() if signs} == {}


@pytest.mark.anyio
async def test_no_screen_shows_what_a_terminal_acts_on(logs: Logs) -> None:
    found = set[str]()

    def look(app: DelegtopApp) -> None:
        texts = (strip.text for strip in app.screen._compositor.render_strips())
        found.update(chain.from_iterable(map(dangerous, texts)))
        assert app.is_running

    await shown(logs[0], AT, 2, look)
    assert found == set()


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here to open the page in")
def test_a_browser_opens_the_report_and_runs_nothing_of_it(
    request: pytest.FixtureRequest, logs: Logs, tmp_path: Path
) -> None:
    if request.config.getoption("--hostile") < MANY:
        pytest.skip(f"a browser takes its time: --hostile {MANY} or more opens one")
    page = next(tmp_path / name for name, _ in written(logs[0], AT, tmp_path) if name == "report.html")
    assert not ran_a_script(page, tmp_path / "profile")
