"""Variables that put logs or settings elsewhere, and where these are without them. Generated from what the programs
declare by `pytest tests/unit/report/status/test_status_file.py --update-golden`: no line here is written by hand."""

MOVES = {
    "CLAUDE_CONFIG_DIR": "~/.claude",
    "CLINE_DATA_DIR": "~/.cline/data",
    "CODEX_HOME": "~/.codex",
    "GROK_HOME": "~/.grok",
    "KIMI_CODE_HOME": "~/.kimi-code",
    "XDG_CONFIG_HOME": "~/.config",
    "XDG_DATA_HOME": "~/.local/share",
    "XDG_STATE_HOME": "~/.local/state",
}
