"""The verdict: for every delegation that is not plainly running or done, what is going on, and how sure that is.

Silence alone is never called hung. Of several judges the first that is sure of its case speaks, in the order of the
table of kinds.
"""

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.verdicts import judges, kernel_judges, person_judges, quiet_judges, runaway_judge  # noqa: F401 # they enter themselves in the table
from delegtop.diagnosis.verdicts.judge_kit import first_verdict
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model.states import OPEN

__all__ = ["Certainty", "Kind", "Verdict", "judge"]


def judge(case: Case) -> Verdict | None:
    """The verdict on the delegation of a case; None if it is plainly running or done. Judged once a case."""
    if "verdict" not in case.known:
        case.known["verdict"] = first_verdict(case) if case.state in OPEN else None
    verdict: Verdict | None = case.known["verdict"]
    return verdict
