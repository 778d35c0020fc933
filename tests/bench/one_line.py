"""Count what happens to one line of a session log until `tree --json` prints it: functions, modules, calls.

python tests/bench/one_line.py
"""

import io
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType

import delegtop
from delegtop.cli import main

PACKAGE = str(Path(delegtop.__file__).parent)
SAMPLE = Path(__file__).parents[2] / "sample_logs" / "02_hang" / "session.jsonl"


def walk(log: Path) -> Counter[tuple[str, str]]:
    """How often each function was called; everything is loaded before, and a generator counts each time it goes on."""
    calls: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls[code.co_filename.removeprefix(PACKAGE), code.co_qualname] += 1

    for profile in (None, count):
        with redirect_stdout(io.StringIO()):
            sys.setprofile(profile)
            try:
                main(["tree", "--json", "--at", "2026-03-03T11:00:00Z", str(log)])
            finally:
                sys.setprofile(None)
    return calls


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "session.jsonl"
        log.write_bytes(SAMPLE.read_bytes().splitlines(keepends=True)[0])
        calls = walk(log)
    modules = {module for module, _ in calls}
    sys.stdout.write(f"{len(calls)} functions of {len(modules)} modules, {calls.total():,} calls\n")
    for (module, function), number in calls.most_common(20):
        sys.stdout.write(f"{number:6} {module.lstrip('/')} {function}\n")


if __name__ == "__main__":
    run()
