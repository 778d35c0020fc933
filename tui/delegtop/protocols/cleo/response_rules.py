"""Rules on what CLEO subagents answer: that it is the message of some version of the protocol and nothing else, and
that it agrees with its gates, its blocker and its entry."""

from collections.abc import Iterator, Sequence

from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.model.delegation import Delegation
from delegtop.model.states import ENDED_BADLY
from delegtop.protocols.cleo import PRODUCT, response_contract
from delegtop.protocols.cleo.entry_lookup import entries, entry_named, objected
from delegtop.protocols.cleo.entry_rows import outcome_of
from delegtop.protocols.cleo.response_contract import BLOCKER_WORDS, FOUR_LINES, GATES, MESSAGES, RESPONSE, Response
from delegtop.protocols.noted_drift import notes

_PROTOCOL = "CLEO subagent protocol"
_LATER = "CLEO's spawn prompts since 2026-09, Return Format Contract"


def may_find(case: Case) -> bool:
    return bool(case.facts.notes or _responses(case))


@rule(
    "OUT-003",
    "wrong response",
    Severity.ERROR,
    "the response is exactly the message of the protocol",
    f"{_PROTOCOL}, Output Requirements and Error Handling: the subagent answers with one of three sentences, by the "
    "status of its entry. Later versions have the kind of work in place of `Research`, or `[Type] complete. See "
    "pipeline manifest.`, or `[Type] complete. Manifest appended to pipeline_manifest.`, or four lines: `[Type] "
    "complete. manifest:ID`, `commits:`, `gates:` and `blocker:`; all are taken. A line that the four lack is a "
    "warning. A text that is all content is only taken for an answer with `--format cleo-response`.",
)
def exact_response(case: Case) -> Iterator[RuleNote]:
    for origin, text, answer in _responses(case):
        if answer.version is None:
            begins = f"it begins {quoted(_beginning(text))}" if text.strip() else "it is empty"
            yield RuleNote(
                f"The response does not hold the message of any version of the protocol; {begins}.",
                _at(case, origin, answer.line),
                advice=f"Let it answer with nothing but {_advised(text, answer)}.",
            )
        elif answer.spoilt:
            yield RuleNote(
                f"There twice, or empty: the line{_s(answer.spoilt)} {listed(answer.spoilt)}.",
                _at(case, origin, answer.line_of(*answer.spoilt)),
                advice=f"Let it answer with {FOUR_LINES}, each once; what there is nothing to say of is `none`.",
            )
        elif answer.missing:
            yield RuleNote(
                f"The response has no line {listed(answer.missing)}.",
                _at(case, origin, answer.line),
                advice=f"Let it answer with {FOUR_LINES}; what there is nothing to say of is `none`.",
                severity=Severity.WARNING,
            )
    yield from objected(case, "OUT-003")


@rule(
    "OUT-004",
    "content in response",
    Severity.ERROR,
    "the response holds no content",
    f"{_PROTOCOL}, Output Requirements and Anti-Patterns: whatever else is in the answer fills the context of the "
    "orchestrator, which is what the manifest is there to prevent.",
)
def no_content(case: Case) -> Iterator[RuleNote]:
    for origin, _, answer in _responses(case):
        rest = answer.content
        if not rest or (answer.version is None and len(rest) == 1 and RESPONSE.search(rest[0])):
            continue  # nothing else, or the message in other words, which OUT-003 tells
        yield RuleNote(
            f"The response holds {len(rest)} line{'' if len(rest) == 1 else 's'} beside the message "
            f"({sum(map(len, rest))} characters), beginning {quoted(rest[0])}.",
            _at(case, origin, answer.content_line),
            advice="Move the content into the output file; the manifest gives the orchestrator the key findings.",
        )
    yield from objected(case, "OUT-004")


@rule(
    "OUT-132",
    "blocker in response",
    Severity.ERROR,
    "an answer names what blocks the work, and only then",
    f"{_LATER}: the blocker is `none` when the work is complete, and required when it is partial or blocked; CLEO "
    f"refuses an answer otherwise. One of more than {BLOCKER_WORDS} words is only remarked on. Where the log of "
    "another program takes the agent for done, what it says is in its way is told here, as a warning.",
)
def blocker(case: Case) -> Iterator[RuleNote]:
    for origin, _, answer in _responses(case):
        told, place = answer.blocker, _at(case, origin, answer.line_of("blocker"))
        if not answer.has_lines:
            continue
        if answer.status == "complete" and told:
            yield RuleNote(
                f"It answers that it is complete, and names a blocker: {quoted(told)}.",
                place,
                advice="Ask whether the work is done; until then do not build on it.",
            )
        elif answer.status != "complete" and not told:
            yield RuleNote(
                f"It answers that it is {answer.status}, and does not name what is in the way.",
                place,
                advice="Read its entry and its output for the reason, and have it name the blocker in its answer.",
            )
        elif told and case.state not in ENDED_BADLY:
            yield RuleNote(
                f"It answers that it is {answer.status}: {told.rstrip('.')}.",
                place,
                advice=told,
                severity=Severity.WARNING,
                by="agent",
                since=case.facts.ended_at,
            )
        if told and len(told.split()) > BLOCKER_WORDS:
            yield RuleNote(
                f"The blocker has {len(told.split())} words; at most {BLOCKER_WORDS} are asked for.",
                place,
                advice="Name what is in the way; how it came about belongs into the entry.",
                severity=Severity.INFO,
            )


@rule(
    "OUT-133",
    "gates not passed",
    Severity.ERROR,
    "what is complete has passed its gates",
    f"{_LATER}: `gates:` has the checks that the work went through and what came of each ({choice(GATES)}). One that "
    "was not passed contradicts an answer that the work is complete; of work that is partial or blocked it is part of "
    "the reason, and only mentioned.",
)
def gates(case: Case) -> Iterator[RuleNote]:
    for origin, _, answer in _responses(case):
        place = _at(case, origin, answer.line_of("gates"))
        if answer.failed:
            complete = answer.status == "complete"
            failed = f"gate{_s(answer.failed)} not passed: {listed(answer.failed)}"
            yield RuleNote(
                f"It answers that it is {answer.status}, {'but' if complete else 'with'} {failed}.",
                place,
                advice="Run the gate yourself before anything is built on this work.",
                severity=None if complete else Severity.INFO,
                since=case.facts.ended_at,
            )
        elif unclear := answer.unclear_gates:
            yield RuleNote(
                f"Its gates cannot be told: {quoted(unclear)}.",
                place,
                advice=f"Let it write each as NAME={'|'.join(GATES)}, with a blank between them.",
                severity=Severity.INFO,
            )


@rule(
    "OUT-134",
    "answer against entry",
    Severity.ERROR,
    "the answer says what the entry says",
    f"{_PROTOCOL}, Error Handling: the message goes by the status of the entry. {_LATER}: it names the entry, which "
    "the subagent has read back; `manifest:none` is only for what is partial or blocked. Entries are looked for in the "
    "manifests that are read together with an answer in a file: one that none of them has is a warning.",
)
def agrees_with_entry(case: Case) -> Iterator[RuleNote]:
    for origin, _, answer in _responses(case):
        if answer.status is None:
            continue
        if answer.has_lines and not answer.names_entry:
            if answer.status == "complete":
                yield RuleNote(
                    "It answers that it is complete, and that it left no entry.",
                    origin,
                    advice="Have it append its entry and read it back; without one nobody finds its work.",
                )
            continue
        yield from _against_entry(case, origin, answer)


def _against_entry(case: Case, origin: Origin | None, answer: Response) -> Iterator[RuleNote]:
    outcome, named = outcome_of(answer.status), entry_named(case, answer.entry)
    known = list(entries(case)) if case.facts.product == PRODUCT.name else []
    if named is not None and named.outcome is not outcome:
        yield RuleNote(
            f"It answers that it is {answer.status}, but its entry {quoted(named.id)} says {_status(named)}.",
            origin,
            named.ended_origin,
            advice="Go by the worse of the two until the agent has said which is right.",
        )
    elif known and named is None and answer.names_entry:
        yield RuleNote(
            f"It names the entry {quoted(answer.entry or '')}, which no manifest has that was read.",
            origin,
            advice="See whether the entry was appended to another manifest; if not, have the agent append it.",
            severity=Severity.WARNING,
        )
    elif known and not answer.names_entry and all(facts.outcome is not outcome for facts in known):
        yield RuleNote(
            f"It answers that it is {answer.status}, and no entry that was read says so.",
            origin,
            *(facts.ended_origin for facts in known[:_SHOWN]),
            advice="Find its entry, and go by what that says.",
            severity=Severity.WARNING,
        )


_SHOWN = 3


_Answer = tuple[Origin | None, str, Response]
_KNOWN = "CLEO responses"


def _responses(case: Case) -> list[_Answer]:
    """What it answered, if that is known and means to be an answer by this protocol."""
    if _KNOWN not in case.known:
        case.known[_KNOWN] = list(_read(case))
    found: list[_Answer] = case.known[_KNOWN]
    return found


def _read(case: Case) -> Iterator[_Answer]:
    for note in notes(case, kinds.RESPONSE):
        yield note.origin, note.text, response_contract.read(note.text)
    facts = case.facts
    summary = facts.report.summary
    if facts.product != PRODUCT.name and summary and RESPONSE.search(summary):
        yield facts.ended_origin, summary, response_contract.read(summary)


def _at(case: Case, origin: Origin | None, line: int) -> Origin | None:
    """The line of the answer; one that stands in the log of another program has the line of the log."""
    if origin is None or case.facts.product != PRODUCT.name:
        return origin
    return Origin(origin.source, origin.line + line - 1, origin.offset, origin.host)


def _advised(text: str, answer: Response) -> str:
    """What it should have answered, by the version that it comes nearest to."""
    return FOUR_LINES if "manifest:" in text.lower() else quoted(MESSAGES[answer.status or "complete"])


def _beginning(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _s(names: Sequence[str]) -> str:
    return "" if len(names) == 1 else "s"


def _status(facts: Delegation) -> str:
    return facts.report.status or str(facts.outcome)
