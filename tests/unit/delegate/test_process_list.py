"""Which processes there are: /proc and ps tell the same."""

import os
import shutil
from pathlib import Path

import pytest

from delegtop.delegate import process_list


@pytest.mark.parametrize("source", ["proc", "ps"])
def test_of_a_process_its_parent_group_and_session_are_told(
    source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if source == "ps":
        if shutil.which("ps") is None:
            pytest.skip("there is no ps here")
        monkeypatch.setattr(process_list, "_PROC", tmp_path)
    told = {each.pid: each for each in process_list.processes()}
    assert told[os.getpid()] == (os.getpid(), False, os.getppid(), os.getpgrp(), os.getsid(0))
