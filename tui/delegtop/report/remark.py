"""What the rules find about a delegation beside what is the matter with it, in the words of a narrow column."""

from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rules import rules_on
from delegtop.model.store.ledger import Handle
from delegtop.report.table.cells import NOTHING, RemarkCell


def remark_of(assessments: Assessments, handle: Handle) -> RemarkCell:
    """The worst of it by its short name; what is only mentioned is left out."""
    told = assessments.of(handle).rule
    found = [each for each in assessments.findings(handle) if each.rule != told and each.severity is not Severity.INFO]
    if not found:
        return NOTHING
    rules = rules_on(assessments.forest.delegation(handle).product)
    return RemarkCell(rules[found[0].rule].name, found[0].severity, len(found))
