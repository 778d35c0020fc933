"""Looks at the cases of a stage as an operator would, and keeps what is said of each until its time is over.

    python -m tests.live.verdict_watch [--table FILE] [--hide FILE… | --psutil] [--tree] [NAME…]

All cases, or those named: a table of what was said, and what of it is wrong. With `--tree` it is what one fresh
`delegtop tree` after another says, each of which takes a few quick looks and knows nothing of the one before: it need
not name what only time shows, but must not call anything hung that is not.

Time is counted in looks, a second or more apart: on a machine that is slow, so is whoever looks.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

from tests.live.live_case import Case, Truth
from tests.live.stage import Stage, cannot_run
from tests.live.tables import EVERY
from tests.without_proc import without_proc

import delegtop
from delegtop.diagnosis.verdicts import Certainty
from delegtop.kernel import proc_files
from delegtop.model import process_words

LOOKS = 30
"""So many until a hang must be named, from when it hangs; a second or more lies between two of them."""
SETTLED = 8
"""So many a healthy one is looked at in the default run."""
ROUNDS = 8
"""Fresh trees, one after another."""
_BETWEEN = 2.0
"""Seconds."""


_HUNG = (Truth.HUNG, Truth.STUCK, Truth.FOR_EVER, Truth.GONE)
_CALL = re.compile(r"^It has been inside .* for [\d:]+: ")
"""What the sentence repeats of the call: that is not what was found out."""


class Said(NamedTuple):
    """What was said of a case at one look."""

    look: int
    seconds: float
    kind: str
    certainty: Certainty
    alarm: bool
    sentence: str
    process: str
    """What is known of its process, where the sentence has nothing of it."""

    def __str__(self) -> str:
        return f"{self.kind} ({self.certainty}{', alarm' if self.alarm else ''}): {self.sentence} [{self.process}]"


class Record:
    """What was said of a case, look by look."""

    def __init__(self, case: Case, beside: int | None, *, tells_all: bool = True, plain: bool = False) -> None:
        self.case, self._tells_all = case, tells_all and not plain
        self._truth = (case.plain if plain else None) or case.truth
        self._patterns = [pattern.replace("{beside}", rf"\b{beside}\b") for pattern in case.says]
        self.said: list[Said] = []
        self.named: Said | None = None
        """When it was first told what is so."""
        self.wrong: Said | None = None
        """When something was first said that is not so."""
        self.is_over = False
        """Its process ended while it was looked at: then it is not the case it is meant to be."""

    def hear(self, said: Said) -> None:
        self.said.append(said)
        if self.named is None and self._tells(said):
            self.named = said
        if self.wrong is None and self._misleads(said):
            self.wrong = said

    @property
    def last(self) -> Said:
        return self.said[-1]

    @property
    def faults(self) -> Iterator[str]:
        """What is wrong with what was said."""
        if self.is_over:
            yield "its process has ended: the case does not do what it is there for"
        if self.wrong is not None:
            yield f"look {self.wrong.look}: {self.wrong}"
        if not self.is_to_be_named:
            return
        if self.named is None:
            yield f"not named in {len(self.said)} looks; at last {self.last}"
        elif self.named.look > LOOKS + self.case.late:
            yield f"named only at look {self.named.look}: {self.named}"
        elif not self._tells(self.last):
            yield f"named at look {self.named.look}, and at last {self.last}"

    @property
    def is_to_be_named(self) -> bool:
        """A hang; and a sleep whose command line tells how long it is; not where too little is told for that."""
        return bool(self.case.says) and self._tells_all

    def _tells(self, said: Said) -> bool:
        """Whether it says what is so, and as sure as it is."""
        words = _CALL.sub("", said.sentence) if said.alarm else f"{said.sentence} {said.process}"
        if not all(re.search(pattern, words, re.IGNORECASE) for pattern in self._patterns):
            return False
        match self._truth:
            case Truth.HUNG | Truth.GONE:
                return said.alarm and said.certainty is Certainty.CERTAIN
            case Truth.STUCK | Truth.FOR_EVER:
                return said.alarm and said.certainty is not Certainty.POSSIBLE
            case Truth.NETWORK:
                return "network" in f"{said.kind} {said.sentence}" and said.certainty is not Certainty.CERTAIN
            case _:
                return not said.alarm

    def _misleads(self, said: Said) -> bool:
        """Whether it alarms without a cause, or is surer than anybody can be."""
        match self._truth:
            case Truth.SLEEPS | Truth.WORKS:
                return said.alarm
            case Truth.UNSURE:
                return said.alarm and said.certainty is Certainty.CERTAIN
            case Truth.NETWORK:
                return said.alarm and "hung" in said.kind and said.certainty is Certainty.CERTAIN
            case _:
                return False


def watch(stage: Stage, *, looks: int = LOOKS, settled: int = LOOKS, plain: bool = False) -> dict[str, Record]:
    """What is said of each case; it ends when every hang is named and every healthy one was looked at often enough.
    Where the system does not tell all (`plain`), a hang need not be named."""
    records = {case.name: Record(case, stage.beside.get(case.name), plain=plain) for case in stage.cases}
    most = looks + max((case.late for case in stage.cases), default=0)
    with delegtop.open() as seen:
        began = looked = monotonic()
        number = 0
        while number < most:
            seen.wait(1.0)
            seen.look()
            if monotonic() - looked < 1.0:
                continue
            looked, number = monotonic(), number + 1
            _hear(seen, stage, records, number, looked - began)
            if number >= settled and all(record.named for record in records.values() if record.is_to_be_named):
                break
    for name, record in records.items():
        tool = stage.tools[name]
        record.is_over = record.case.stays and tool is not None and not Path("/proc", str(tool)).exists()
    return records


def watch_fresh_trees(stage: Stage, *, rounds: int = ROUNDS) -> dict[str, Record]:
    """What one `delegtop tree` after another says of each case."""
    records = {case.name: Record(case, stage.beside.get(case.name), tells_all=False) for case in stage.cases}
    began = monotonic()
    for number in range(1, rounds + 1):
        sleep(_BETWEEN)
        told = fresh_tree(stage.home)[1]
        for name, record in records.items():
            found = told[stage.ids[name]]
            certainty = Certainty[found["certainty"].upper()]
            seconds = monotonic() - began
            record.hear(Said(number, seconds, found["kind"], certainty, found["problem"], found["sentence"], ""))
    return records


def fresh_tree(home: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of a `tree` that knows nothing yet, and its assessments."""
    command = [sys.executable, "-m", "delegtop", "tree", "--json", "--exit-code"]
    told = subprocess.run(command, env=os.environ | {"HOME": str(home)}, cwd=home, capture_output=True, check=False)
    return told.returncode, {each["id"]: each["assessment"] for each in json.loads(told.stdout)["delegations"]}


def _hear(seen: delegtop.Observation, stage: Stage, records: dict[str, Record], look: int, seconds: float) -> None:
    alarms = {issue.id for issue in seen.problems()}
    for name, record in records.items():
        handle = seen.forest.find(stage.ids[name])
        assert handle is not None, f"{name}: its delegation {stage.ids[name]} is not known"
        told, process = seen.issue(handle), seen.forest.delegation(handle).process
        words = process_words.seen(process) if process else ""
        record.hear(Said(look, seconds, told.kind, told.certainty, told.id in alarms, told.sentence, words))


@contextmanager
def hidden(*files: str) -> Iterator[None]:
    """The kernel does not tell what stands in these files of `/proc/PID`, as where one may not trace, or is in a
    sandbox."""
    data = proc_files.data

    def told(*parts: object, **how: Any) -> bytes:
        return b"" if parts[-1] in files else data(*parts, **how)

    proc_files.data = told
    try:
        yield
    finally:
        proc_files.data = data


def batches(cases: Sequence[Case], *, calm: int = 40, busy: int = 2) -> Iterator[list[Case]]:
    """Those that wait are many at a time; of those that take a core, few."""
    for kind, at_once in ((False, calm), (True, busy)):
        chosen = [case for case in cases if case.busy is kind and not cannot_run(case)]
        for at in range(0, len(chosen), at_once):
            yield chosen[at : at + at_once]


def table(records: Sequence[Record]) -> Iterator[str]:
    yield "| case | truth | said | look | s | sentence |"
    yield "|---|---|---|---:|---:|---|"
    for record in records:
        said = record.wrong or record.named or record.last
        right = "" if not any(record.faults) else "**WRONG** "
        alarm = "alarm, " if said.alarm else ""
        sentence = (said.sentence if said.alarm else f"{said.sentence} {said.process}").replace("|", "\\|")
        kind = f"{right}{said.kind} ({alarm}{said.certainty})"
        case = f"{record.case.name} | {record.case.truth.value}"
        yield f"| {case} | {kind} | {said.look} | {said.seconds:.0f} | {sentence} |"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--hide", nargs="+", default=[], metavar="FILE", help="files of /proc/PID that tell nothing")
    parser.add_argument("--psutil", action="store_true", help="as on macOS, where less is told of processes")
    parser.add_argument("--tree", action="store_true", help="ask fresh trees instead of one that stays")
    parser.add_argument("--at-once", type=int, default=40, help="so many that take no time of a processor")
    given = parser.parse_args()
    records: list[Record] = []
    chosen = [case for case in EVERY if not given.names or case.name in given.names]
    for batch in batches(chosen, calm=given.at_once):
        with tempfile.TemporaryDirectory(prefix="live") as root, Stage(Path(root), batch) as stage:
            os.environ["HOME"] = str(stage.home)
            with without_proc() if given.psutil else hidden(*given.hide):
                told = watch_fresh_trees(stage) if given.tree else watch(stage, plain=given.psutil)
                records += told.values()
    lines = list(table(records))
    named = [record for record in records if record.named and record.case.truth in _HUNG]
    hung = [record for record in records if record.case.truth in _HUNG]
    wrong = [f"{record.case.name}: {fault}" for record in records for fault in record.faults]
    sys.stdout.write(
        "\n".join(
            (
                *lines,
                "",
                f"{len(records)} cases, {len(wrong)} faults, {len(named)} of {len(hung)} hangs named",
                *wrong,
                "",
            )
        )
    )
    if given.table:
        given.table.write_text("\n".join(lines) + "\n", "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
