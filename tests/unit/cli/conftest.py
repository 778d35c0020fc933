"""What the tests of `delegtop run` start from."""

from pathlib import Path

import pytest
from tests.run_shell import DELEGTOP, PATIENT, Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("DELEGTOP_CONTEXT", "DELEGTOP_LOG", "DELEGTOP_REGISTRY", "DELEGTOP_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(
        "GOOD", '{"status":"completed","summary":"It is done.","artifacts":[],"metadata":{"session_id":"ID"}}'
    )
    monkeypatch.setenv("RETURN_GOOD", 'echo "$GOOD" | sed "s/ID/$DELEGTOP_SESSION_ID/"')
    monkeypatch.setenv("RUN", f"{DELEGTOP} run")
    return Shell(tmp_path)


@pytest.fixture
def patient(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The same with a program, for the nested runs too, that kills nobody."""
    program = shell.folder / "patient"
    program.write_text(PATIENT)
    program.chmod(0o755)
    shell.program = [str(program)]
    monkeypatch.setenv("RUN", f"{program} run")
    return shell
