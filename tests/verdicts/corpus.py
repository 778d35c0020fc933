"""The labelled cases: what each is, and what the verdict on it is."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests import judging
from tests.verdicts import logs

from delegtop.base.clock import MINUTE
from delegtop.diagnosis.verdicts import Kind, Verdict
from delegtop.model.forest import Forest
from delegtop.model.policy import OperatorTimeout, Policy
from delegtop.model.store.ledger import Handle

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "sample_logs"
MOMENTS = tomllib.loads((SAMPLES / "moments.toml").read_text("utf-8"))
HEALTHY = "healthy"
LABELS = (*(kind.value for kind in Kind), HEALTHY)
_NO_FILES = frozenset({"name", "expect", "who", "at", "timeouts"})

Table = Counter[tuple[str, str]]
"""How many of a label got that verdict."""


class Case(NamedTuple):
    """One look at one delegation."""

    file: str
    name: str
    expect: str
    who: str
    minute: float
    files: dict[str, Any]
    policy: Policy

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}, minute {self.minute:g}"


def cases() -> Iterator[Case]:
    """Every case; one that is looked at several times is several."""
    for path in sorted(HERE.glob("*.toml")):
        for told in tomllib.loads(path.read_text("utf-8"))["case"]:
            limits = told.get("timeouts", {}).items()
            policy = Policy(timeouts=tuple(OperatorTimeout(name, minutes * MINUTE) for name, minutes in limits))
            files = {name: value for name, value in told.items() if name not in _NO_FILES}
            for minute in told.get("at", [0]):
                yield Case(path.stem, told["name"], told["expect"], told["who"], minute, files, policy)


def judged(case: Case) -> Verdict | None:
    """The verdict on the delegation of a case."""
    if "sample" in case.files:
        forest = logs.sampled(SAMPLES / case.files["sample"], MOMENTS[case.files["sample"]]["at"])
    else:
        with TemporaryDirectory() as folder:
            forest = logs.grown(case.files, case.minute, Path(folder) / "home", case.policy)
    return judging.verdict(forest, find(forest, case.who))


def given(case: Case) -> str:
    found = judged(case)
    return HEALTHY if found is None else found.kind.value


def find(forest: Forest, who: str) -> Handle:
    """The delegation that a case is about, by the name it has in its script."""
    for id in (logs.session(who), logs.claude(who), logs.thread(who)):
        handle = forest.find(id)
        if handle is not None:
            return handle
    for handle in range(len(forest)):
        facts = forest.delegation(handle)
        if ("agent_id", f"a{who}") in facts.refs or who in (facts.agent, facts.command):
            return handle
    raise LookupError(f"{who} is not among {[forest.delegation(handle).id for handle in range(len(forest))]}")


def table() -> Table:
    """All cases judged."""
    return Counter((case.expect, given(case)) for case in cases())
