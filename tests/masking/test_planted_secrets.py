"""Secrets of every kind in logs of every format stay hidden in every output; of a few, two in a hundred may be seen.

`pytest --planted 1000 tests/masking` plants more; `python -m tests.masking.measure` prints the table.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.masking.every_output import answered, printed, shown, told, written
from tests.masking.filled_logs import AT
from tests.masking.measure import planted_logs
from tests.masking.ordinary import code, ids, masked, reason
from tests.masking.planted import Planted, kinds, leaked, plant

from delegtop.base.secrets import mask, names

Seeded = tuple[Path, list[Planted]]
Output = Callable[[Path, str], Iterator[tuple[str, str]]]


@pytest.fixture(scope="module")
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    folder = tmp_path_factory.mktemp("planted")
    return planted_logs(folder, request.config.getoption("--planted"), request.config.getoption("--seed"))


def seen(outputs: Iterator[tuple[str, str]], planted: list[Planted]) -> dict[str, list[str]]:
    """In which output more than two of a hundred got out, and which; of a thousand it is one in a hundred."""
    out = {name: leaked(planted, text) for name, text in outputs}
    assert out
    allowed = len(planted) / (100 if len(planted) >= 1_000 else 50)
    return {name: [each.kind for each in found] for name, found in out.items() if len(found) > allowed}


@pytest.mark.parametrize("way", [printed, told, answered], ids=lambda way: str(way.__name__))
def test_planted_secrets_stay_hidden_in_what_is_printed_told_and_answered(way: Output, logs: Seeded) -> None:
    assert seen(way(logs[0], AT), logs[1]) == {}


def test_planted_secrets_stay_hidden_in_what_is_written(logs: Seeded, tmp_path: Path) -> None:
    assert seen(written(logs[0], AT, tmp_path), logs[1]) == {}


@pytest.mark.anyio
async def test_planted_secrets_stay_hidden_on_every_screen(logs: Seeded) -> None:
    assert seen(iter([("screens", await shown(logs[0], AT, 4))]), logs[1]) == {}


def test_the_secrets_reach_the_outputs(logs: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would only show that nothing is read."""
    monkeypatch.setattr("delegtop.report.privacy.masked", lambda facts: facts)
    [(_, text)] = [(name, text) for name, text in printed(logs[0], AT) if name == "tree --json --prompts"]
    assert len(leaked(logs[1], text)) > len(logs[1]) / 10


def test_of_six_thousand_secrets_nearly_all_are_masked() -> None:
    planted = list(plant(6_000))
    out = [each.kind for each in planted if leaked([each], mask(each.text))]
    assert len(out) <= 6, out


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


def test_no_hash_id_or_path_is_masked() -> None:
    assert list(masked(ids(5_000))) == []


def test_no_line_of_code_is_masked_without_a_known_reason() -> None:
    assert [line for line, _ in masked(code(5_000)) if reason(line) is None] == []
