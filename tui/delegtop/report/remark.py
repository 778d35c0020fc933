"""What the rules find about a delegation beside what is the matter with it, in the words of a narrow column."""

from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rules import RULES
from delegtop.model.ledger import Handle
from delegtop.report.table.cells import NOTHING, Remark


def remark_of(assessments: Assessments, handle: Handle) -> Remark:
    """The worst of it by its short name; what is only mentioned is left out."""
    told = assessments.of(handle).rule
    found = [each for each in assessments.findings(handle) if each.rule != told and each.severity is not Severity.INFO]
    return Remark(RULES[found[0].rule].name, found[0].severity, len(found)) if found else NOTHING
