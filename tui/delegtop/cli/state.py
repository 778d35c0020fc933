"""Where delegtop itself keeps logs."""

import os
from pathlib import Path


def state_folder() -> Path:
    """The folder of the logs that nobody gave another place."""
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "delegtop" / "logs"
