"""`delegtop tree` on every sample, byte by byte. `pytest --update-golden` writes what it prints now: read the diff."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

PROJECT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "tree"
MOMENTS: dict[str, dict[str, Any]] = tomllib.loads((PROJECT / "sample_logs" / "moments.toml").read_text())
FORMS = {"txt": [], "json": ["--json"]}


@pytest.fixture(autouse=True)
def _at_the_root_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are named as the README names them, so the goldens hold no path of this machine."""
    monkeypatch.chdir(PROJECT)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sample", MOMENTS)
def test_a_sample_prints_its_golden_tree(
    sample: str, form: str, update_golden: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tree", f"sample_logs/{sample}", "--at", MOMENTS[sample]["at"], *FORMS[form]]) == Exit.OK
    told = capsys.readouterr()
    assert told.err == ""
    golden = GOLDEN / f"{sample}.{form}"
    if update_golden:
        golden.write_bytes(told.out.encode())
    assert told.out == golden.read_bytes().decode(), "pytest --update-golden shows the difference in git"


def test_there_is_no_golden_without_its_sample() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(
        f"{sample}.{form}" for sample in MOMENTS for form in FORMS
    )
