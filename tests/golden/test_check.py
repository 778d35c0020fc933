"""`delegtop check` on every sample, byte by byte. `pytest --update-golden` writes what it prints now: read the diff."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main

PROJECT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "check"
MOMENTS: dict[str, dict[str, Any]] = tomllib.loads((PROJECT / "sample_logs" / "moments.toml").read_text())


@pytest.fixture(autouse=True)
def _at_the_root_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are named as the README names them, so the goldens hold no path of this machine."""
    monkeypatch.chdir(PROJECT)


@pytest.mark.parametrize("sample", MOMENTS)
def test_a_sample_has_its_golden_findings(sample: str, update_golden: bool, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", f"sample_logs/{sample}", "--at", MOMENTS[sample]["at"]])
    told = capsys.readouterr()
    assert told.err == ""
    said = f"{told.out}exit {code}\n"
    golden = GOLDEN / f"{sample}.txt"
    if update_golden:
        golden.write_bytes(said.encode())
    assert said == golden.read_bytes().decode(), "pytest --update-golden shows the difference in git"


def test_there_is_no_golden_without_its_sample() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(f"{sample}.txt" for sample in MOMENTS)
