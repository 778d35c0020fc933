"""Secrets of every kind in logs stay hidden in every output: of a hundred at most one may be seen.

By default one of each kind is planted in a few samples; `pytest --planted 1000 tests/masking` plants more, in all
formats, and `python -m tests.masking.measure` prints the table.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.masking.every_output import MORE_COMMANDS, RECORDING, about_one, answered, printed, served, told, written
from tests.masking.every_screen import shown
from tests.masking.filled_logs import AT, FEW
from tests.masking.measure import planted_logs
from tests.masking.ordinary import ALLOWED, ids, masked, own_code, reason
from tests.masking.planted import Planted, kinds, leaked, plant

from delegtop.base.secrets import mask, names

Seeded = tuple[Path, list[Planted]]
Output = Callable[[Path, str], Iterator[tuple[str, str]]]


@pytest.fixture(scope="module")
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    folder, count = tmp_path_factory.mktemp("planted"), request.config.getoption("--planted")
    only = FEW if count <= len(kinds()) else ()
    return planted_logs(folder, count, request.config.getoption("--seed"), only)


def seen(outputs: Iterator[tuple[str, str]], planted: list[Planted]) -> dict[str, list[str]]:
    """In which output more than one of a hundred got out, and which."""
    out = {name: leaked(planted, text) for name, text in outputs}
    assert out
    return {name: [each.kind for each in found] for name, found in out.items() if len(found) > len(planted) // 100}


@pytest.mark.parametrize("way", [printed, told, answered, served], ids=lambda way: str(way.__name__))
def test_planted_secrets_stay_hidden_in_what_is_printed_told_and_answered(way: Output, logs: Seeded) -> None:
    assert seen(way(logs[0], AT), logs[1]) == {}


def test_planted_secrets_stay_hidden_in_what_is_written(logs: Seeded, tmp_path: Path) -> None:
    files = ((name, text) for name, text in written(logs[0], AT, tmp_path) if name != RECORDING)
    assert seen(files, logs[1]) == {}


def test_planted_secrets_stay_hidden_in_every_other_form_and_of_single_delegations(
    request: pytest.FixtureRequest, logs: Seeded
) -> None:
    forms = MORE_COMMANDS if request.config.getoption("--planted") > len(kinds()) else MORE_COMMANDS[::5]
    assert seen(printed(logs[0], AT, forms), logs[1]) == {}
    assert seen(about_one(logs[0], AT), logs[1]) == {}


@pytest.mark.anyio
async def test_planted_secrets_stay_hidden_on_every_screen(logs: Seeded) -> None:
    assert seen(iter([("screens", await shown(logs[0], AT, 2))]), logs[1]) == {}


def test_the_secrets_reach_the_outputs(logs: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would only show that nothing is read."""
    monkeypatch.setattr("delegtop.report.privacy.masked", lambda facts: facts)
    [(_, text)] = printed(logs[0], AT, ["tree --json --prompts"])
    assert len(leaked(logs[1], text)) > len(logs[1]) / 10


def test_of_a_thousand_secrets_by_themselves_at_most_one_is_seen() -> None:
    planted = list(plant(1_000))
    out = [each.kind for each in planted if leaked([each], mask(each.text))]
    assert len(out) <= 1, out


def test_more_than_a_hundred_kinds_are_known_and_planted() -> None:
    assert len({name for _, name, _ in names()}) > 200
    assert len(kinds()) > 150


def test_the_page_on_privacy_names_every_kind(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "privacy.md"
    begin, _, rest = page.read_text("utf-8").partition("<!-- kinds -->\n")
    _, _, end = rest.partition("<!-- end of kinds -->")
    families: dict[tuple[str, str], list[str]] = {}
    for family, name, sure in names():
        families.setdefault((family, sure), []).append(name)
    rows = [f"| {family} | {sure} | {', '.join(known)} |" for (family, sure), known in families.items()]
    table = "\n".join(("| family | how sure | kinds |", "| --- | --- | --- |", *rows))
    wanted = f"{begin}<!-- kinds -->\n{table}\n<!-- end of kinds -->{end}"
    if update_golden:
        page.write_text(wanted, "utf-8")
    assert page.read_text("utf-8") == wanted


def test_the_page_on_privacy_names_every_reason_for_which_other_text_may_be_masked(project: Path) -> None:
    page = (project / "docs" / "privacy.md").read_text("utf-8")
    assert [why for why in ALLOWED.values() if f"| {why} |" not in page] == []


def test_no_hash_id_or_path_is_masked() -> None:
    assert list(masked(ids(2_000))) == []


def test_no_line_of_our_own_code_and_pages_is_masked_without_a_known_reason() -> None:
    assert [line for line, _ in masked(own_code(5_000)) if reason(line) is None] == []
