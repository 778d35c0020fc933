"""The confusion table: every labelled case judged, what it is against what it is called.

    python tests/verdicts/confusion.py

Cases that are called something else than their label are listed below the table, and the exit code says whether any
healthy run was called hung.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.verdicts.corpus import HEALTHY, LABELS, Table, cases, given

from delegtop.diagnosis.verdicts import Kind

HUNG = Kind.HUNG_IN_TOOL.value


def markdown(found: Table) -> str:
    """The table, a row a label; a column has the number of the row whose label it is."""
    numbers = range(1, len(LABELS) + 1)
    head = "| # | what it is | cases | " + " | ".join(map(str, numbers)) + " |\n"
    rule = "| ---: | --- | ---: |" + " ---: |" * len(LABELS) + "\n"
    return head + rule + "".join(_row(found, number, label) for number, label in enumerate(LABELS, 1))


def _row(found: Table, number: int, label: str) -> str:
    counts = [found[label, called] for called in LABELS]
    cells = " | ".join(str(count) if count else "" for count in counts)
    return f"| {number} | {label} | {sum(counts)} | {cells} |\n"


def main() -> int:
    found: Table = Table()
    wrong: list[str] = []
    for case in cases():
        called = given(case)
        found[case.expect, called] += 1
        if called != case.expect:
            wrong.append(f"{case.id}: is {case.expect}, is called {called}")
    right = sum(count for (label, called), count in found.items() if label == called)
    sys.stdout.write(markdown(found))
    sys.stdout.write(f"\n{right} of {found.total()} cases are called what they are.\n")
    sys.stdout.writelines(f"  {line}\n" for line in wrong)
    return 1 if found[HEALTHY, HUNG] else 0


if __name__ == "__main__":
    sys.exit(main())
