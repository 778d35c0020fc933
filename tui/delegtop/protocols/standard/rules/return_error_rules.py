"""Rules on the errors of a return, and what they and the agent's own words tell one to do."""

from collections.abc import Iterator

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.error_origins import own_errors
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import ReturnNote, about, has_return, on_return, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model.events import Fault, Report
from delegtop.model.states import PROBLEMS, State
from delegtop.protocols.standard.contract.own_words import is_own
from delegtop.protocols.standard.contract.resume_commands import resume
from delegtop.protocols.standard.contract.return_contract import ERROR_CODES, NEEDS_ERRORS, OTHER_ERROR_TYPES

_CONSIDERED = 20
"""Errors of one return that are judged; an agent that reports more repeats itself."""


def code_advice(fault: Fault) -> str:
    """What its code means and how one recovers; empty without a code of the table."""
    known = ERROR_CODES.get(fault.code or "")
    return f"{fault.code} means that {known.meaning}: {known.recovery}." if known else ""


def _name(index: int, fault: Fault) -> str:
    return f"Error {index}" + (f" ({quoted(fault.code or fault.message or '')})" if fault.code or fault.message else "")


def _said(text: str | None) -> bool:
    return bool(text and text.strip())


def _errors(case: Case, report: Report) -> Iterator[tuple[str, Fault, str]]:
    """Its own errors, by their place in words and in the return; one that was handed up is judged at the child that
    made it."""
    own = own_errors(case)
    for index, fault in enumerate(report.errors[:_CONSIDERED]):
        if fault in own:
            yield _name(index + 1, fault), fault, f"errors[{index}]"


@on_return(
    "RET-030",
    "no error given",
    Severity.ERROR,
    "a return that is not completed has an error",
    "Return format standard, Field Specifications: errors: failed and partial must include errors, blocked must "
    "include one that explains the blocker. The structure standard calls errors optional; with the setting "
    "protocol.errors_required = false it is followed.",
)
def errors_present(case: Case, report: Report) -> Iterator[ReturnNote]:
    if case.reading.errors_required and report.status in NEEDS_ERRORS and not report.errors:
        yield ReturnNote(
            f"The return is {report.status} but has no errors, which the return format standard requires and the "
            "structure standard does not.",
            "Read its summary and last lines to learn why, and let the agent say so in errors[].",
            fields=("errors",),
        )


@on_return(
    "RET-031",
    "done with errors",
    Severity.WARNING,
    "a completed return has no errors",
    "Return format standard, Field Specifications: errors: the array should be empty when the status is completed.",
)
def errors_absent(_case: Case, report: Report) -> Iterator[ReturnNote]:
    if report.status == "completed" and report.errors:
        count = len(report.errors)
        yield ReturnNote(
            f"The return is completed but has {count} error{'s' if count > 1 else ''}.",
            code_advice(report.errors[0]) or "See whether the work is really done; if only in part, it is partial.",
            fields=("errors", "status"),
        )


@on_return(
    "RET-032",
    "odd error type",
    Severity.WARNING,
    "errors are of a known type",
    "Return format standard, Field Specifications: errors: timeout, validation, execution or tool_unavailable. The "
    "delegation guide's own example says build_error, the structure standard names others; those are only mentioned. "
    "The setting is protocol.error_types.",
)
def error_types(case: Case, report: Report) -> Iterator[ReturnNote]:
    known, chosen = case.reading.error_types, case.reading.chosen("error_types")
    for name, fault, field in _errors(case, report):
        if fault.type in known:
            continue
        if not fault.type:
            advice = code_advice(fault) or f"Give it one of {', '.join(known)}."
            yield ReturnNote(f"{name} has no type.", advice, fields=(f"{field}.type",))
        elif fault.type in OTHER_ERROR_TYPES:
            document, standard = OTHER_ERROR_TYPES[fault.type]
            yield ReturnNote(
                f'{name} has the type "{fault.type}", which {document} uses; '
                f'the return format standard would say "{standard}"{chosen}.',
                code_advice(fault) or f'Write "{standard}".',
                Severity.INFO,
                (f"{field}.type",),
            )
        else:
            yield ReturnNote(
                f"{name} has the type {quoted(fault.type)}, which is none of {', '.join(known)}{chosen}.",
                code_advice(fault) or "Callers choose how to recover by the type; use one they know.",
                fields=(f"{field}.type",),
            )


@on_return(
    "RET-033",
    "no known error code",
    Severity.WARNING,
    "errors have one of the ten codes",
    "Return format standard, Error Codes, of which the last is for what no other describes. The ten: "
    + "; ".join(f"{code}, {known.meaning}" for code, known in ERROR_CODES.items())
    + ".",
)
def error_codes(case: Case, report: Report) -> Iterator[ReturnNote]:
    for name, fault, field in _errors(case, report):
        if not _said(fault.code):
            advice = "Give it a code, UNKNOWN_ERROR if no other fits."
            yield ReturnNote(f"{name} has no code.", advice, fields=(f"{field}.code",))
        elif fault.code not in ERROR_CODES:
            yield ReturnNote(
                f"{name} has a code that is not in the table of ten.",
                "`delegtop rules RET-033` lists the ten.",
                fields=(f"{field}.code",),
            )


@on_return(
    "RET-034",
    "error incomplete",
    Severity.WARNING,
    "errors have a message and say whether they are recoverable",
    "Return format standard, Field Specifications: errors; delegation guide, Error Propagation: the caller decides "
    "by `recoverable` whether to offer a retry or to ask for help.",
)
def errors_recoverable(case: Case, report: Report) -> Iterator[ReturnNote]:
    for name, fault, field in _errors(case, report):
        missing = {
            words: key
            for words, key, absent in (
                ("has no message", "message", not _said(fault.message)),
                ("does not say whether it is recoverable", "recoverable", fault.recoverable is None),
            )
            if absent
        }
        if missing:
            advice = code_advice(fault) or "Take it as not recoverable."
            fields = tuple(f"{field}.{key}" for key in missing.values())
            yield ReturnNote(f"{name} {' and '.join(missing)}.", advice, fields=fields)


@on_return(
    "RET-035",
    "error without advice",
    Severity.WARNING,
    "errors recommend what to do",
    "Return format standard, Field Specifications: errors; delegation guide, Timeout Enforcement: provide an "
    "actionable recovery message.",
)
def errors_recommend(case: Case, report: Report) -> Iterator[ReturnNote]:
    for name, fault, field in _errors(case, report):
        if not _said(fault.recommendation):
            yield ReturnNote(
                f"{name} has no recommendation.",
                code_advice(fault) or "Let the agent say what would help it on.",
                fields=(f"{field}.recommendation",),
            )


@on_return(
    "RET-036",
    "timeout named failed",
    Severity.WARNING,
    "what ran out of time is partial",
    "Return format standard, Field Specifications: status, and Partial Completion (Timeout); delegation guide, Timeout "
    "Enforcement: what ran out of time is partial and not failed, so that what is there is kept and gone on from.",
)
def timeout_is_partial(case: Case, report: Report) -> Iterator[ReturnNote]:
    late = [name for name, fault, _ in _errors(case, report) if fault.code == "TIMEOUT" or fault.type == "timeout"]
    if report.status == "failed" and late and len(late) == len(report.errors):
        yield ReturnNote(
            f"The return is failed, and all that is wrong is a timeout: {late[0]}.",
            "Take it as partial: look for what it wrote, and run the same command again to go on. Let the agent return "
            "partial then.",
            fields=("status",),
        )


# What to do


_SLASH = r"(?<![\w/.~:-])/[a-z][a-z0-9:_-]{0,40}(?![\w/.])"
_ARGUMENT = r"(?: {1,3}(?:[0-9]{1,9}(?:[,-][0-9]{1,9}){0,20}\b|--[a-z][a-z0-9-]{0,40}(?:=[\w,-]{1,40})?))"
_COMMAND = lazy_pattern(rf"({_SLASH}{_ARGUMENT}{{1,8}})|\b[Rr]un(?:ning)? `?({_SLASH}{_ARGUMENT}{{0,8}})")


def command_in(text: str) -> str | None:
    """The first slash command a text tells one to run, such as `/implement 191`."""
    found = _COMMAND.search(text)
    return (found[1] or found[2]) if found else None


@rule(
    "RET-100",
    "agent's advice",
    Severity.INFO,
    "the agent recommends",
    "Return format standard: `errors[].recommendation` and `next_steps`. The message is the agent's own words, "
    "and no sign of trouble by itself; delegtop adds no advice to them. Next steps after success are left out. What "
    "delegtop wrote in the place of an agent is told as delegtop's word. "
    "What an agent recommends is told where it was first said, not again at everyone who handed it up.",
)
def agent_recommends(case: Case) -> Iterator[RuleNote]:
    facts, state = case.facts, case.forest.state(case.handle)
    words = {
        (fault.recommendation or "").strip(): (is_own(fault), _fields(case, fault, "recommendation"))
        for fault in own_errors(case)[:_CONSIDERED]
    }
    if state in PROBLEMS and facts.report.next_steps not in _said_below(case):
        words.setdefault((facts.report.next_steps or "").strip(), (False, about(facts, ("next_steps",))))
    for said, (is_delegtops, fields) in words.items():
        if not said:
            continue
        yield RuleNote(
            said,
            facts.ended_origin or facts.heard_origin,
            command=command_in(said),
            by="delegtop" if is_delegtops else "agent",
            since=facts.ended_at,
            fields=fields,
        )


def _fields(case: Case, fault: Fault, name: str) -> tuple[str, ...]:
    """That field of an error, if it stands in the return."""
    facts = case.facts
    if not has_return(facts) or fault not in facts.report.errors:
        return ()
    return about(facts, (f"errors[{facts.report.errors.index(fault)}].{name}",))


def _said_below(case: Case) -> set[str | None]:
    """The next steps of its children, which a caller often hands up as they are."""
    return {case.forest.delegation(child).report.next_steps for child in case.forest.children(case.handle)}


@rule(
    "RET-101",
    "error code reported",
    Severity.INFO,
    "what the error code means",
    "Return format standard, Error Codes: each of the ten has a meaning, and a way to recover. Said of every "
    "error with such a code of a delegation that went wrong, or of which nothing tells how it went, once, where the "
    "error happened.",
)
def code_means(case: Case) -> Iterator[RuleNote]:
    facts, state = case.facts, case.forest.state(case.handle)
    if state not in PROBLEMS and state is not State.UNKNOWN:
        return
    by_code = {fault.code: fault for fault in reversed(own_errors(case)) if fault.code in ERROR_CODES}
    for code, fault in sorted(by_code.items(), key=lambda item: item[0] or ""):
        resumes = ERROR_CODES[code or ""].resumes and fault.recoverable is not False
        yield RuleNote(
            f"{'delegtop noted' if is_own(fault) else 'It reported'} {code}"
            + (f": {quoted(fault.message)}." if fault.message else "."),
            facts.ended_origin or facts.heard_origin,
            advice=code_advice(fault),
            command=resume(facts.command, facts.task) if resumes else None,
            since=facts.ended_at,
            fields=_fields(case, fault, "code"),
        )
