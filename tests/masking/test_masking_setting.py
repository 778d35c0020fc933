"""`mask_secrets` holds for every command alike: what it shows is masked with it and as it is without."""

from pathlib import Path

import pytest

from delegtop.cli import main

KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x"
LOG = """\
{"event":"register","at":"2026-03-03T10:00:00Z","session_id":"sess_1_a","command":"implement","timeout":60}
{"event":"register","at":"2026-03-03T10:00:04Z","session_id":"sess_2_b","parent_session_id":"sess_1_a",\
"command":"implement","subagent":"use KEY","delegation_depth":1,"timeout":60}
{"event":"error","at":"2026-03-03T10:00:09Z","session_id":"sess_2_b","error":{"message":"refused KEY"}}
"""
COMMANDS = ("tree", "tree --json", "check", "check --junit", "stats", "stats --json", "diff", "diff --json", "metrics")


@pytest.mark.parametrize("wanted", [True, False], ids=["masked", "as it is"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_masks_as_the_setting_says(
    command: str, wanted: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, own = tmp_path / "run.jsonl", tmp_path / "own.toml"
    log.write_text(LOG.replace("KEY", KEY), "utf-8")
    own.write_text(f"mask_secrets = {str(wanted).lower()}", "utf-8")
    name, *options = command.split()
    runs = [str(log)] * 2 if name == "diff" else [str(log)]
    main([name, *runs, *options, "--at", "2026-03-03T11:00:00Z", "--config", str(own)])
    printed = capsys.readouterr().out
    assert (KEY in printed, "[masked]" in printed) == (not wanted, wanted)
