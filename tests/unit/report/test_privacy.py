"""No free text of a delegation or a finding passes with a secret in it, and what one looks things up by stays."""

import msgspec
import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.secrets import mask
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.model.delegation import Claim, Delegation, Note
from delegtop.model.events import Artifact, Fault, Report
from delegtop.report.check_report import CheckResult, CheckSubject
from delegtop.report.privacy import as_it_is, hiding, masked, masked_finding, masked_verdict

PLACE = Origin("x", 1, 0)
LEAK = "use password=hunter2 here"
FAULT = Fault(LEAK, "execution", "E1", True, LEAK)
FACTS = Delegation(
    "sess_1766743200_def456",
    agent="implementer",
    doing=LEAK,
    title=LEAK,
    prompt=LEAK,
    cwd="/home/me",
    notes=(Note("review", LEAK, PLACE),),
    report=Report("failed", LEAK, (Artifact("specs/a.md", "plan", LEAK),), (FAULT,), LEAK),
    faults=(FAULT,),
    claims=(Claim("summary", LEAK, PLACE),),
)


def test_every_free_text_of_a_delegation_is_masked_and_the_rest_stays() -> None:
    shown = msgspec.json.encode(masked(FACTS)).decode()
    assert "hunter2" not in shown
    assert shown == msgspec.json.encode(FACTS).decode().replace("hunter2", "[masked]")


def test_a_finding_is_masked_with_its_advice_and_its_command() -> None:
    found = Finding("DEL-020", Severity.ERROR, "a", LEAK, (PLACE,), LEAK, "login --password hunter2")
    assert masked_finding(found) == msgspec.structs.replace(
        found, message=mask(LEAK), advice=mask(LEAK), command="login --password [masked]"
    )


def test_everything_that_check_says_is_masked() -> None:
    found = Finding("DEL-020", Severity.ERROR, "a", LEAK)
    verdict = CheckResult(Millis(0), (), [CheckSubject("a", "a", "x", None, (found, found))])
    assert {finding.message for finding in masked_verdict(verdict).findings} == {mask(LEAK)}


@pytest.mark.parametrize("wanted", [True, False])
def test_hiding_is_a_choice(wanted: bool) -> None:
    assert hiding(wanted)(LEAK) == (mask(LEAK) if wanted else as_it_is(LEAK))
