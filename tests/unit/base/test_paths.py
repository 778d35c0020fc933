"""Where delegtop keeps what is its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from delegtop.base.paths import cache_folder, config_folder, logs_folder, state_folder

FOLDERS = [
    (config_folder, "XDG_CONFIG_HOME", ".config/delegtop"),
    (cache_folder, "XDG_CACHE_HOME", ".cache/delegtop"),
    (state_folder, "XDG_STATE_HOME", ".local/state/delegtop"),
    (logs_folder, "XDG_STATE_HOME", ".local/state/delegtop/logs"),
]


@pytest.mark.parametrize(("folder", "variable", "usual"), FOLDERS)
@pytest.mark.parametrize("unset", [True, False], ids=["not set", "empty"])
def test_without_a_variable_it_is_where_the_specification_says(
    folder: Callable[[], Path], variable: str, usual: str, unset: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv(variable, "")
    if unset:
        monkeypatch.delenv(variable)
    assert folder() == Path("/home/ada") / usual


@pytest.mark.parametrize(("folder", "variable", "usual"), FOLDERS)
def test_a_variable_moves_it(
    folder: Callable[[], Path], variable: str, usual: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/elsewhere")
    assert folder() == Path("/elsewhere") / usual[usual.index("delegtop") :]
