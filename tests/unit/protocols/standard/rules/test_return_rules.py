"""Every rule on returns: a return that breaks it, and the nearest one that does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests import judging
from tests.telling import forest_at, handle_of

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rule_table import CHAPTERS, RULES
from delegtop.model.events import Artifact, Ended, Ending, Erred, Fault, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.protocols.standard.contract.return_contract import ERROR_CODES, tokens
from delegtop.protocols.standard.contract.sentence_count import sentences
from delegtop.protocols.standard.rules.return_error_rules import command_in

ID = "sess_1766743200_k3x9qa"
PATH = ("orchestrator", "implement", "builder")
NOW = Millis(1_766_750_000_000)
END = Origin("run.jsonl", 7, 900)
TWO = "Built the parser in three files. All of its tests pass."
OUTCOMES = {"partial": Outcome.PARTIAL, "failed": Outcome.FAILED, "blocked": Outcome.BLOCKED}

GOOD = Report(
    status="completed",
    summary=TWO,
    artifacts=(Artifact("specs/191_parser/plans/plan-001.md", "plan"),),
    next_steps="Run /implement 191 to go on.",
    session_id=ID,
    agent="builder",
    depth=1,
    path=PATH,
    duration=60_000,
)
FAULT = Fault("The build broke", "execution", "BUILD_ERROR", True, "Fix the types, then run /implement 191 again")


def found(
    report: Report,
    *,
    exists: Any = lambda _path: True,
    by: Ending = Ending.RETURN,
    given: dict[str, Any] | None = None,
) -> tuple[Finding, ...]:
    """What the rules on returns say of a delegation that ended with this report."""
    start = {"agent": "builder", "command": "implement", "task": "191", "depth": 1, "path": PATH, **(given or {})}
    forest = Forest()
    outcome = OUTCOMES.get(report.status or "", Outcome.COMPLETED)
    started = Started(ID, Millis(NOW - 90_000), Origin("run.jsonl", 1, 0), timeout=3_600_000, **start)
    forest.apply([started, Ended(ID, Millis(NOW - 30_000), END, outcome, by, report)])
    forest.advance(NOW)
    handle = handle_of(forest, ID)
    return tuple(each for each in judging.found(forest, handle, exists) if each.rule.startswith("RET"))


def ids(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def good(**changes: Any) -> Report:
    return replace(GOOD, **changes)


def failed(**changes: Any) -> Report:
    return good(status="failed", errors=(replace(FAULT, **changes),))


LONG = "Made it all work. " + "x" * (400 - 18)

BREAKS: list[tuple[str, Report, Severity, str]] = [
    ("RET-001", good(status=None), Severity.ERROR, "no usable status"),
    ("RET-001", good(summary=" "), Severity.ERROR, "no usable summary"),
    ("RET-001", Report(), Severity.ERROR, "no usable status or summary"),
    ("RET-001", good(absent=("artifacts", "metadata")), Severity.ERROR, "no usable artifacts or metadata"),
    ("RET-002", good(status="researched"), Severity.ERROR, '"researched"'),
    ("RET-002", good(status="Completed"), Severity.ERROR, '"Completed"'),
    ("RET-003", good(duration=None), Severity.WARNING, "duration_seconds"),
    ("RET-003", good(agent=None, depth=None, path=None), Severity.WARNING, "agent_type, delegation_depth"),
    ("RET-003", good(path=()), Severity.WARNING, "delegation_path"),
    ("RET-004", good(agent="other"), Severity.WARNING, '"other"'),
    ("RET-004", good(depth=2), Severity.WARNING, "depth 2"),
    ("RET-004", good(path=("orchestrator", "plan", "builder")), Severity.WARNING, "orchestrator > plan > builder"),
    ("RET-005", good(session_id=None), Severity.ERROR, "names no session"),
    ("RET-006", good(session_id="agent_system-17"), Severity.WARNING, '"agent_system-17"'),
    ("RET-007", good(session_id="sess_20251226_abc123"), Severity.ERROR, '"sess_20251226_abc123"'),
    ("RET-008", good(depth=2), Severity.WARNING, "makes it 1"),
    (
        "RET-008",
        good(agent="other"),
        Severity.WARNING,
        '"orchestrator > implement > builder" and then "other" make it 2',
    ),
    ("RET-010", good(summary="One. Two. Three. Four. Five. Six."), Severity.WARNING, "6 sentences"),
    ("RET-010", good(summary="Done."), Severity.INFO, "1 sentence"),
    ("RET-011", good(summary=LONG + "x"), Severity.WARNING, "401 characters, about 101 tokens"),
    ("RET-011", good(summary=LONG + "x" * 101), Severity.ERROR, "501 characters"),
    ("RET-012", good(summary="Built it 🎉. It works."), Severity.WARNING, "U+1F389"),
    ("RET-013", good(summary="Built **all** of it. It works."), Severity.WARNING, '"**"'),
    ("RET-013", good(summary="Built it:\n- one\n- two\nAll is well."), Severity.WARNING, '"-"'),
    ("RET-013", good(summary="See [it](x.md). It works."), Severity.WARNING, "[it](x.md)"),
    ("RET-013", good(summary="Built *all* of it. It works."), Severity.WARNING, '"*all*"'),
    ("RET-013", good(summary="Built _all_ of it. It works."), Severity.WARNING, '"_all_"'),
    ("RET-013", good(summary="Built __all of it__. It works."), Severity.WARNING, '"__all of it__"'),
    ("RET-013", good(summary="Built it.\n| a | b |\nIt works."), Severity.WARNING, '"| a | b |"'),
    ("RET-013", good(summary="Built it.\n> as asked\nIt works."), Severity.WARNING, '">"'),
    ("RET-013", good(summary="Built it.\n---\nIt works."), Severity.WARNING, '"---"'),
    ("RET-013", good(summary="<result>Built it.</result> It works."), Severity.WARNING, '"</result>"'),
    ("RET-020", good(artifacts=(Artifact("a.md", "lean_source"),)), Severity.WARNING, '"lean_source"'),
    ("RET-020", good(artifacts=(Artifact("a.md"),)), Severity.WARNING, '"a.md"'),
    ("RET-020", good(artifacts=(Artifact("a.md", "review"),)), Severity.INFO, '"review"'),
    ("RET-021", good(artifacts=(Artifact("/etc/passwd", "plan"),)), Severity.ERROR, '"/etc/passwd"'),
    ("RET-021", good(artifacts=(Artifact("C:\\a.md", "plan"),)), Severity.ERROR, "C:"),
    ("RET-021", good(artifacts=(Artifact("~/a.md", "plan"),)), Severity.ERROR, "~/a.md"),
    ("RET-022", good(artifacts=(Artifact("specs/../../a.md", "plan"),)), Severity.ERROR, "specs/../../a.md"),
    (
        "RET-024",
        good(artifacts=(Artifact("specs/1_x/reports/a.md", "plan"),)),
        Severity.WARNING,
        "reports/ is for research",
    ),
    ("RET-025", good(artifacts=(Artifact("a.md", "plan", "One. Two."),)), Severity.WARNING, "2 sentences"),
    ("RET-026", good(artifacts=(Artifact("", "plan"),)), Severity.ERROR, "Artifact 1 has no usable path"),
    (
        "RET-026",
        good(artifacts=(Artifact("a.md", "plan"), Artifact(" ", "plan"), Artifact("", "plan"))),
        Severity.ERROR,
        "2 of 3 artifacts have no usable path",
    ),
    ("RET-030", good(status="failed"), Severity.ERROR, "failed"),
    ("RET-030", good(status="partial"), Severity.ERROR, "partial"),
    ("RET-030", good(status="blocked"), Severity.ERROR, "blocked"),
    ("RET-031", good(errors=(FAULT,)), Severity.WARNING, "1 error"),
    ("RET-032", failed(type="proof_impossible"), Severity.WARNING, '"proof_impossible"'),
    ("RET-032", failed(type=None), Severity.WARNING, "no type"),
    ("RET-032", failed(type="build_error"), Severity.INFO, "the delegation guide uses; the return format standard"),
    ("RET-033", failed(code="E42"), Severity.WARNING, '"E42"'),
    ("RET-033", failed(code=None), Severity.WARNING, "no code"),
    ("RET-034", failed(recoverable=None), Severity.WARNING, "whether it is recoverable"),
    ("RET-034", failed(message=None), Severity.WARNING, "no message"),
    ("RET-035", failed(recommendation=None), Severity.WARNING, "no recommendation"),
    ("RET-036", failed(code="TIMEOUT", type="timeout"), Severity.WARNING, "all that is wrong is a timeout"),
    ("RET-040", good(next_steps="Do one. Do two. Do three."), Severity.WARNING, "3 sentences"),
    ("RET-100", failed(), Severity.INFO, "Fix the types, then run /implement 191 again"),
    ("RET-100", good(status="partial", errors=(FAULT,)), Severity.INFO, "Fix the types"),
    ("RET-101", failed(), Severity.INFO, "BUILD_ERROR"),
]

HOLDS: list[tuple[str, Report]] = [
    ("RET-001", good()),
    ("RET-002", good(status="blocked")),
    ("RET-003", good()),
    ("RET-004", good(path=PATH[:-1])),  # some agents leave themselves out of their path
    ("RET-005", good()),
    ("RET-006", good(session_id=f"{ID}_195")),
    ("RET-007", good()),
    ("RET-008", good(path=PATH[:-1])),
    ("RET-008", good(path=("somewhere", "else"), depth=7)),  # nothing says where the counting begins
    ("RET-008", good(agent="implementation")),  # the kind of agent, as the structure standard has it
    ("RET-010", good(summary="One. Two. Three. Four. Five.")),
    ("RET-011", good(summary=LONG)),
    ("RET-012", good(summary="A → B ≤ C. It works.")),
    ("RET-013", good(summary="a*b < c, List<T> and __init__. It works - mostly.")),
    ("RET-013", good(summary="2 * 3 * 4 and a_b_c in snake_case_ and src/_old_/x. a < b, c > d.")),
    ("RET-020", good(artifacts=(Artifact("a.md", "documentation"),))),
    ("RET-021", good(artifacts=(Artifact(".opencode/a.md", "plan"),))),
    ("RET-022", good(artifacts=(Artifact("specs/a..b.md", "plan"),))),
    ("RET-024", good(artifacts=(Artifact("specs/1_x/reports/a.md", "research"), Artifact("docs/a.md", "plan")))),
    ("RET-025", good(artifacts=(Artifact("a.md", "plan", "What it is."),))),
    ("RET-023", good()),
    ("RET-026", good()),
    ("RET-030", failed()),
    ("RET-030", good(status="completed")),
    ("RET-031", failed()),
    ("RET-032", failed(type="tool_unavailable")),
    ("RET-033", failed()),
    ("RET-034", failed(recoverable=False)),
    ("RET-035", failed()),
    ("RET-036", good(status="partial", errors=(replace(FAULT, code="TIMEOUT", type="timeout"),))),
    ("RET-036", failed()),
    ("RET-040", good(next_steps="Do one. Do two.")),
    ("RET-100", good()),
    ("RET-101", failed(code="E42")),
]


@pytest.mark.parametrize(("rule", "report", "severity", "words"), BREAKS)
def test_a_return_that_breaks_a_rule_is_found(rule: str, report: Report, severity: Severity, words: str) -> None:
    mine = [finding for finding in found(report) if finding.rule == rule]
    assert mine, f"{rule} says nothing"
    assert any(finding.severity is severity and words in finding.message for finding in mine), mine
    for finding in mine:
        assert finding.subject == ID
        assert finding.evidence == (END,)
        assert finding.advice.endswith(".") or finding.by == "agent"


@pytest.mark.parametrize(("rule", "report"), HOLDS)
def test_a_return_that_keeps_a_rule_is_left_alone(rule: str, report: Report) -> None:
    assert rule not in ids(found(report))


def test_the_tables_above_have_every_rule_on_returns() -> None:
    rules = {id for id in RULES if id.startswith("RET")}
    assert {rule for rule, *_ in BREAKS} | {"RET-023"} == rules
    assert {rule for rule, _ in HOLDS} == rules


def test_a_good_return_has_no_findings() -> None:
    assert found(GOOD) == ()


def test_an_artifact_that_does_not_exist_is_found() -> None:
    report = good(artifacts=tuple(Artifact(f"{name}.md", "plan") for name in "abcde"))
    (finding,) = found(report, exists=lambda path: path == "a.md")
    assert finding.rule == "RET-023"
    assert '"b.md", "c.md", "d.md" and 1 more' in finding.message


def test_an_artifact_of_which_nothing_can_be_told_is_not_called_missing() -> None:
    assert found(GOOD, exists=lambda _path: None) == ()


def test_nobody_looks_for_an_artifact_outside_of_the_project() -> None:
    asked: list[str] = []
    outside = tuple(Artifact(path, "plan") for path in ("/etc/passwd", "../a.md", "~/b.md", "file:///c.md"))
    found(good(artifacts=outside), exists=lambda path: asked.append(path))
    assert asked == []


def test_a_delegation_that_did_not_return_is_not_judged_by_these_rules() -> None:
    assert found(Report(), by=Ending.TIMEOUT) == ()
    assert found(Report(), by=Ending.REGISTRY) == ()


def test_a_return_in_a_registry_is_judged() -> None:
    assert "RET-002" in ids(found(good(status="odd"), by=Ending.REGISTRY))


def test_a_child_that_returns_the_id_of_its_parent_is_told_so_mildly() -> None:
    forest = Forest()
    child = f"{ID}_195"
    forest.apply([Ended(child, NOW, END, Outcome.COMPLETED, Ending.RETURN, GOOD)])
    forest.advance(NOW)
    (finding,) = judging.all_found(forest, rules=[RULES["RET-007"]])
    assert finding.severity is Severity.WARNING
    assert "of its parent" in finding.message


def test_an_agent_that_repeats_a_wrong_depth_it_was_given_is_not_blamed() -> None:
    assert "RET-008" not in ids(found(good(depth=2), given={"depth": 2}))
    assert "RET-008" in ids(found(good(depth=2), given={"depth": None}))


@pytest.mark.parametrize("code", ERROR_CODES)
def test_the_advice_on_an_error_with_a_code_says_what_it_means_and_how_to_recover(code: str) -> None:
    findings = found(failed(code=code, recommendation=None))
    (finding,) = [each for each in findings if each.rule == "RET-035"]
    assert ERROR_CODES[code].meaning in finding.advice
    assert ERROR_CODES[code].recovery in finding.advice
    assert finding.by == "delegtop"


def test_a_code_after_which_the_same_command_continues_names_the_command() -> None:
    (timeout,) = [each for each in found(failed(code="TIMEOUT")) if each.rule == "RET-101"]
    assert timeout.command == "/implement 191"
    (cycle,) = [each for each in found(failed(code="CYCLE_DETECTED")) if each.rule == "RET-101"]
    assert cycle.command is None


@pytest.mark.parametrize("task", ["191; rm -rf ~", "191\nrm", "$(id)", ""])
def test_a_command_is_never_made_of_anything_but_plain_words(task: str) -> None:
    findings = found(failed(code="TIMEOUT"), given={"task": task})
    assert [each.command for each in findings if each.rule == "RET-101"] == [None]


def test_what_the_agent_recommends_is_told_as_its_own_words_once() -> None:
    report = good(status="failed", errors=(FAULT, replace(FAULT, message="again")))
    mine = [finding for finding in found(report) if finding.rule == "RET-100"]
    assert [finding.message for finding in mine] == [FAULT.recommendation, GOOD.next_steps]
    assert {finding.by for finding in mine} == {"agent"}
    assert {finding.command for finding in mine} == {"/implement 191"}


def test_what_delegtop_wrote_is_told_as_delegtops_word() -> None:
    report = good(status="failed", errors=(replace(FAULT, made_by="delegtop"),), next_steps=None)
    mine = [finding for finding in found(report) if finding.rule in ("RET-100", "RET-101")]
    assert [(finding.rule, finding.by) for finding in mine] == [("RET-100", "delegtop"), ("RET-101", "delegtop")]
    assert mine[1].message.startswith("delegtop noted ")


def test_an_error_that_is_handed_up_is_told_once_where_it_happened() -> None:
    fault = replace(FAULT, type="build_error", recommendation="Fix the types")
    told = good(status="failed", errors=(fault,), next_steps="Run /implement 191 again")
    ids = [f"sess_176674320{level}_abc123" for level in range(3)]
    forest = Forest()
    for above, id in zip((None, *ids[:-1]), ids, strict=True):
        forest.apply([Started(id, NOW, Origin("run.jsonl", 1, 0), parent=above)])
        forest.apply([Ended(id, NOW, END, Outcome.FAILED, Ending.RETURN, replace(told, session_id=id))])
    forest.advance(NOW)
    rules = [RULES[id] for id in ("RET-032", "RET-100", "RET-101")]
    findings = list(judging.all_found(forest, rules=rules))
    assert {finding.subject for finding in findings} == {ids[-1]}
    assert sorted(finding.rule for finding in findings) == ["RET-032", "RET-100", "RET-100", "RET-101"]


def test_a_return_signed_with_the_kind_of_agent_is_not_signed_by_another() -> None:
    assert "RET-004" not in ids(found(good(agent="implementation")))


def test_an_error_apart_from_the_return_is_listened_to_as_well() -> None:
    erred = Erred(ID, Millis(NOW - 40_000), Origin("run.jsonl", 5, 500), replace(FAULT, recommendation="Ask a person"))
    forest = forest_at(NOW, [erred, Ended(ID, NOW, END, Outcome.TIMEOUT, Ending.TIMEOUT)])
    mine = judging.all_found(forest, rules=[RULES["RET-100"]])
    assert [(finding.message, finding.severity) for finding in mine] == [("Ask a person", Severity.INFO)]


def test_what_a_running_agent_recommends_after_an_error_is_shown_without_alarm() -> None:
    forest = Forest()
    fault = replace(FAULT, recommendation="Wait for the lock")
    forest.apply([Started(ID, NOW, END, timeout=60_000), Erred(ID, NOW, END, fault)])
    forest.advance(NOW)
    mine = judging.all_found(forest, rules=[RULES["RET-100"], RULES["RET-101"]])
    assert [(finding.message, finding.severity) for finding in mine] == [("Wait for the lock", Severity.INFO)]


def test_hostile_words_of_a_return_do_nothing_to_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;x\x07\x9b31m\u202e\r\n"
    words = {"type": evil, "message": evil, "code": evil, "recommendation": f"run /implement 191 {evil}"}
    returned = {
        "status": evil,
        "summary": f"**{evil}** 🎉",
        "artifacts": [{"type": evil, "path": f"/{evil}"}, {"path": f"../{evil}"}],
        "metadata": {"session_id": evil, "agent_type": evil, "delegation_path": [evil], "delegation_depth": 3},
        "errors": [words],
        "next_steps": evil,
    }
    record = {"event": "return", "at": "2026-02-03T09:10:00Z", "session_id": ID, "return": returned}
    log = tmp_path / "run.jsonl"
    log.write_text(json.dumps(record) + "\n")
    main(["check", str(log)])
    out = capsys.readouterr().out
    assert "RET-002" in out
    assert "RET-100" in out
    assert not set("\x1b\x07\x9b\u202e\r") & set(out)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Run /implement 191 again to resume from phase 2", "/implement 191"),
        ("Resume with /implement 191.", "/implement 191"),
        ("Try `/todo --fix` first", "/todo --fix"),
        ("/implement 1,3-5 --force then wait", "/implement 1,3-5 --force"),
        ("run /resume", "/resume"),
        ("Update the /research and /plan commands", None),
        ("Look into /tmp and /var/log/x 3", None),
        ("either/or 3", None),
        ("See https://example.org/implement 191", None),
        ("Install lean-lsp-mcp: uvx lean-lsp-mcp", None),
    ],
)
def test_a_slash_command_is_found_in_a_text(text: str, command: str | None) -> None:
    assert command_in(text) == command


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 0),
        ("No full stop", 1),
        ("One. Two", 2),
        ("See e.g. this one. And 3.5 of .mcp.json, i.e. that.", 2),
        ("it reads the file. it writes the file. it stops.", 3),
        ("It takes approx. five files etc. and stops.", 1),
        ("Found by J. Smith in option B. The other one is C.", 2),
        ("Really?! Yes… (So it is.) It is.", 4),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert sentences(text) == count


def test_tokens_are_a_quarter_of_the_characters_rounded_up() -> None:
    assert [tokens("x" * length) for length in (0, 1, 400, 401)] == [0, 1, 100, 101]


def test_findings_come_worst_first() -> None:
    order = [finding.severity for finding in found(Report())]
    assert order == sorted(order, key=list(Severity).index)
    assert len(set(order)) > 1


@pytest.mark.parametrize("part", [".", "[", "/a ", "é", "<a ", "\n"])
def test_a_hostile_return_is_judged_in_no_time(part: str) -> None:
    text = part * 50_000
    artifacts = tuple(Artifact(text[:1000] + str(number), text) for number in range(50))
    faults = (Fault(text, text, text, None, text),) * 20 + (Fault(part, part, part, None, part),) * 480
    report = Report("failed", text, artifacts, faults, text, text, text, 2**62, (text,) * 5, 0)
    findings = found(report)
    assert 0 < len(findings) < 200
    assert all(len(finding.message) < 1000 for finding in findings if finding.rule != "RET-100")


def test_no_two_rules_share_an_id() -> None:
    rules = [each for chapter in CHAPTERS for each in vars(chapter).values() if isinstance(each, Rule)]
    assert len({rule.id for rule in rules}) == len(rules)


def test_every_rule_explains_itself() -> None:
    for rule in RULES.values():
        assert rule.title
        assert rule.why.endswith("."), rule.id
