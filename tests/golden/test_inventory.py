"""What every place says of every sample at its moment, in one table. `pytest --update-golden` writes it anew: each
change of it is a decision to be read in the diff."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from delegtop.app.trouble import Trouble
from delegtop.app.verdicts import Verdicts
from delegtop.cli import main
from delegtop.cli.standing import outcome
from delegtop.cli.standing import problem as exit_of_problem
from delegtop.cli.wait import code, has_ended
from delegtop.diagnosis.alerts import standing
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.problems import problem
from delegtop.diagnosis.verdicts import verdict
from delegtop.diagnosis.verdicts.judges import OPEN
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.measures import label
from delegtop.report.incident_gather import _Gathering
from tests.samples import MOMENTS, forest_of, lay_out, moment

GOLDEN = Path(__file__).parent / "inventory.txt"
HEADER = ("delegation", "state", "e", "PROBLEMS", "triage", "report", "findings", "alerts", "metrics", "wait")
WIDTHS = (34, 12, 2, 22, 26, 8, 12, 13, 26, 4)


def rows(forest: Forest) -> Iterator[tuple[str, ...]]:
    trouble = Trouble(forest)
    trouble.begin_again()
    column = Verdicts(forest)
    found = sorted((p for h in range(len(forest)) if (p := problem(forest, h, forest.now))), key=lambda p: p.key)
    ranks = {each.handle: f"{rank} {each.kind}" for rank, each in enumerate(found, 1)}
    gathering = _Gathering(forest, lambda _: None, lambda _: lambda _: None, None)
    worst = {handle: rank for rank, handle in enumerate(gathering.worst, 1)}
    for handle in forest.walk():
        told = (
            "e" if handle in trouble.problems else "",
            _column(column, handle),
            ranks.get(handle, ""),
            str(worst.get(handle, "waits" if handle in gathering.troubled else "")),
            _findings(forest, handle),
            ",".join(each.cause for each in standing(forest, handle)),
            _metrics(forest, handle),
        )
        if any(told):
            ended = str(int(code(forest, handle))) if has_ended(forest, handle) else ""
            name = "  " * forest.level(handle) + label(forest.delegation(handle))
            yield (name, forest.state(handle).value, *told, ended)


def _column(column: Verdicts, handle: Handle) -> str:
    judged = column._judge(handle)
    words = judged.kind or judged.rule
    return " ".join(filter(None, ("review" if judged.review else words, f"<{judged.blocks}" if judged.blocks else "")))


def _findings(forest: Forest, handle: Handle) -> str:
    found = diagnose(forest, handle, forest.now, lambda _: None)
    worst = next((each for each in found if each.severity is not Severity.INFO), None)
    return f"{worst.severity[:1]} {worst.rule}" if worst else ""


def _metrics(forest: Forest, handle: Handle) -> str:
    judged = verdict(forest, handle, forest.now) if forest.state(handle) in OPEN else None
    return judged.kind.value if judged else ""


def table(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    for name, at in MOMENTS.items():
        source = lay_out(name, folder)
        forest = forest_of(source, moment(at))
        codes = {
            "tree --exit-code": main(["tree", str(source), "--at", at, "--exit-code"]),
            "check": main(["check", str(source), "--at", at]),
            "watch problem": int(exit_of_problem(forest, None) or 0),
            "watch done": int(outcome(forest, None)),
        }
        capsys.readouterr()
        yield f"== {name} at {at}: " + ", ".join(f"{place} {code}" for place, code in codes.items())
        for row in (HEADER, *rows(forest)):
            yield "  ".join(cell[:width].ljust(width) for cell, width in zip(row, WIDTHS, strict=True)).rstrip()
        yield ""


def test_what_every_place_says_of_every_sample(
    tmp_path: Path, update_golden: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "\n".join(table(tmp_path, capsys))
    if update_golden:
        GOLDEN.write_text(said, "utf-8")
    assert said == GOLDEN.read_text("utf-8"), "pytest --update-golden shows the difference in git"
