"""Rules on hyper's sub-agents: the block of JSON they answer with, and the sessions and runs they belong to."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import PurePath

from delegtop.base.clock import SECOND, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.model.events import Ending, Outcome
from delegtop.model.states import ACTIVE
from delegtop.protocols.hyper import PRODUCT, output_contract
from delegtop.protocols.hyper.outcomes import outcome_of
from delegtop.protocols.hyper.output_contract import (
    ACTIVE_WINDOW,
    ARTIFACT_TYPES,
    FAILED_WORDS,
    KEY_POINTS,
    STUCK_WORDS,
    Output,
    OutputBlock,
)
from delegtop.protocols.hyper.output_drift import drift_of
from delegtop.protocols.noted_drift import Drifted, drifted, notes

_ALIKE = 0.8
"""How much two names have in common that are meant to be the same."""
_CONTRACT = "hyper output contracts"


def _is_output(case: Case) -> bool:
    """True for a sub-agent's answer in a file of its own, not for a session or a run."""
    facts = case.facts
    return facts.product == PRODUCT.name and facts.ended_by is Ending.RETURN and "@" in facts.id


def _drifted(case: Case, kind: str) -> Drifted | None:
    """The drift of that kind, of an answer in a file or in the log of another program."""
    block = _logged(case)
    if block is None:
        return drifted(case, kind) if case.facts.product == PRODUCT.name else None
    if _DRIFT not in case.known:
        value = block.value
        case.known[_DRIFT] = [*output_contract.place(block), *(drift_of(value) if value is not None else ())]
    details = tuple(each.detail for each in case.known[_DRIFT] if each.kind == kind)
    return Drifted(details, (case.facts.ended_origin,) if case.facts.ended_origin else ()) if details else None


_DRIFT = "drift of a hyper answer"


def _logged(case: Case) -> OutputBlock | None:
    """The block in the final message of a delegated agent, as the log of another program has it. Only one between its
    two markers: others may speak of the contract, and of a long message the log's reader keeps the beginning."""
    facts = case.facts
    text = facts.report.summary or ""
    if facts.product == PRODUCT.name or facts.parent is None or "AGENT_OUTPUT_END" not in text:
        return None
    found = [block for block in output_contract.blocks(text) if block.marked and block.closed]
    fitting = [block for block in found if output_contract.is_output(block.value)]
    meant = fitting or [block for block in found if not output_contract.is_return(block.value)]
    return meant[-1] if meant else None


def may_find(case: Case) -> bool:
    return case.facts.product == PRODUCT.name or _logged(case) is not None


@rule(
    "HYP-001",
    "answer badly marked",
    Severity.WARNING,
    "the block is marked and fenced",
    f"{_CONTRACT}, Response Location: a json fence between AGENT_OUTPUT_START and AGENT_OUTPUT_END. Four spellings of "
    "the markers are in use and all are taken; a block without its markers is found by its shape alone. In the log of "
    "another program the final message of a sub-agent is judged by HYP-001 to HYP-014 if a block with both markers is "
    "in what is kept of it.",
)
def marked(case: Case) -> Iterator[RuleNote]:
    for kind in (output_contract.UNMARKED, output_contract.OPEN, output_contract.UNFENCED):
        if found := _drifted(case, kind):
            yield RuleNote(
                f"{found.details[0][0].upper()}{found.details[0][1:]}.",
                *found.evidence,
                advice="Put the JSON into a ```json fence between the two marker comments.",
            )


@rule(
    "HYP-002",
    "invalid json",
    Severity.ERROR,
    "the block is valid JSON",
    f"{_CONTRACT}, Orchestrator Expectations 1 and Validation Checklist: every answer has one, and nothing else is in "
    "it. A file that has none is only taken for an answer with `--format hyper-output`.",
)
def valid_json(case: Case) -> Iterator[RuleNote]:
    for kind in (output_contract.NOT_JSON, output_contract.NO_BLOCK):
        if found := _drifted(case, kind):
            yield RuleNote(
                f"{found.details[0][0].upper()}{found.details[0][1:]}.",
                *found.evidence,
                advice="Ask the agent for its answer again; nothing of it can be relied on.",
            )


def _breaches(case: Case, rule: str, advice: str, mild: str = "$^") -> Iterator[RuleNote]:
    """What the model of the output calls a breach of the rule, each at its field; some by their words are warnings."""
    found = _drifted(case, rule)
    for told in found.details if found else ():
        yield RuleNote(
            f"In the answer {told}.",
            *(found.evidence if found else ()),
            advice=advice,
            severity=Severity.WARNING if re.match(mild, told) else None,
            fields=(told.partition(" ")[0],),
        )


@rule(
    "HYP-003",
    "answer incomplete",
    Severity.ERROR,
    "meta, artifacts and next_steps are there",
    f"{_CONTRACT}, Field Specifications: meta with agent_name, status and execution_time_ms; artifacts and next_steps, "
    "which may be empty. Details of an artifact or an error that are missing are warnings.",
)
def fields(case: Case) -> Iterator[RuleNote]:
    advice = "Let the agent fill in the whole structure; empty lists are welcome."
    return _breaches(case, "HYP-003", advice, r"artifacts\[|error")


@rule(
    "HYP-004",
    "odd answer status",
    Severity.WARNING,
    "the status is complete, partial or error",
    f"{_CONTRACT}, Field Specifications: meta. Workers of hyper itself write `blocked` and `failed`; both are "
    "understood.",
)
def known_status(case: Case) -> Iterator[RuleNote]:
    block = _logged(case)
    word = ((Output.of(block.value or {}) if block else case.facts.report).status or "").lower()
    meant = "error" if word in FAILED_WORDS else "partial" if word in STUCK_WORDS else None
    return _breaches(case, "HYP-004", f'Write "{meant}".' if meant else "Ask the agent how the work ended.")


@rule(
    "HYP-005",
    "wrong value types",
    Severity.WARNING,
    "the fields are of their types",
    f"{_CONTRACT}, TypeScript Schema.",
)
def types(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-005", "Let the agent follow the schema; an orchestrator parses it.")


@rule(
    "HYP-006",
    "wrong artifact type",
    Severity.WARNING,
    "artifacts are documents, code or data",
    f"{_CONTRACT}, Field Specifications: artifacts: a document is Markdown, code is source code, data is JSON, YAML or "
    "other data. One that its name shows to be another is told; JSON and YAML may be any.",
)
def artifact_types(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-006", f"Use {choice(ARTIFACT_TYPES)}.")


@rule(
    "HYP-007",
    "not a workspace path",
    Severity.WARNING,
    "artifact paths are relative and stay within the workspace",
    f"{_CONTRACT}, Field Specifications and Validation Checklist: relative to $HYPER_WORKSPACE_ROOT. Workers write "
    "paths from the root of the repository, which look the same.",
)
def artifact_paths(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-007", "Write the path from the root of the workspace.")


@rule(
    "HYP-008",
    "no such artifact",
    Severity.ERROR,
    "artifacts are written before they are reported",
    f"{_CONTRACT}, Orchestrator Expectations 2. They are looked for where --root or $HYPER_WORKSPACE_ROOT says, else "
    "here and beside the answer; where delegtop cannot tell, it says so (LOG-004).",
)
def artifacts_exist(case: Case) -> Iterator[RuleNote]:
    if not _is_output(case):
        return
    made = enumerate(case.facts.report.artifacts)
    if gone := {number: each.path for number, each in made if case.exists(each.path) is False}:
        yield RuleNote(
            f"{'Does' if len(gone) == 1 else 'Do'} not exist: {listed(gone.values())}.",
            case.facts.ended_origin,
            advice="Do not build on it: look whether it was moved, or ask for it again.",
            fields=tuple(f"artifacts[{number}].path" for number in gone),
        )


@rule(
    "HYP-009",
    "wordy file summary",
    Severity.WARNING,
    "an artifact's summary has one or two sentences",
    f"{_CONTRACT}, Field Specifications: artifacts.",
)
def artifact_summaries(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-009", "Put the details into the key points or the document itself.")


@rule(
    "HYP-010",
    "wrong points count",
    Severity.WARNING,
    "an artifact has three to five key points",
    f"{_CONTRACT}, Field Specifications: artifacts.",
)
def key_points(case: Case) -> Iterator[RuleNote]:
    least, most = KEY_POINTS
    return _breaches(case, "HYP-010", f"Name {least} to {most} things that one must know without opening the file.")


@rule(
    "HYP-011",
    "step not imperative",
    Severity.INFO,
    "next steps are in the imperative",
    f"{_CONTRACT}, Field Specifications and Validation Checklist. Only what clearly is a statement, a question or a "
    "report of what was done is told.",
)
def next_steps_imperative(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-011", "Begin with what to do: `Review the …`, `Create a task for …`.")


@rule(
    "HYP-012",
    "no next steps",
    Severity.WARNING,
    "a partial answer says how to go on",
    f"{_CONTRACT}, Orchestrator Expectations 3: the explanation is in next_steps.",
)
def partial_explained(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "HYP-012", "Ask the agent what it could not do, and why.")


@rule(
    "HYP-013",
    "status against error",
    Severity.ERROR,
    "an error answer has its error object",
    f"{_CONTRACT}, Orchestrator Expectations 4: code, message and, if there is more to say, details.",
)
def error_object(case: Case) -> Iterator[RuleNote]:
    advice = "Read the text of the answer, and its error if there is one, before relying on the work."
    return _breaches(case, "HYP-013", advice, r"error is there")


@rule(
    "HYP-014",
    "work not complete",
    Severity.WARNING,
    "what a stuck agent asks for is done",
    f"{_CONTRACT}, Standard Response Format: next_steps. The agent's own words, told for work that is not complete; "
    "what failed is an error, as in every protocol.",
)
def way_on(case: Case) -> Iterator[RuleNote]:
    facts, block = case.facts, _logged(case)
    output = Output.of(block.value or {}) if block else Output()
    outcome = outcome_of(output.status) if block else facts.outcome
    stuck = outcome in (Outcome.PARTIAL, Outcome.BLOCKED, Outcome.FAILED)
    if not ((block or _is_output(case)) and stuck):
        return
    if block:
        blockers, steps, error = list(output.blockers), list(output.next_steps), output.error
        faults = [": ".join(part for part in (error.code, error.message, error.details) if part)] if error else []
    else:
        blockers = [line for note in notes(case, kinds.BLOCKER) for line in note.text.splitlines()]
        faults = [": ".join(part for part in (fault.code, fault.message) if part) for fault in facts.report.errors]
        steps = (facts.report.next_steps or "").splitlines()
    if not (blockers or faults or steps):
        return
    why = "; ".join(part for part in (*faults, *blockers) if part)
    yield RuleNote(
        f"The work is not complete{f': {why}' if why else ''}.".replace("..", "."),
        facts.ended_origin,
        severity=Severity.ERROR if outcome is Outcome.FAILED else None,
        advice="; ".join(steps) or "Resolve what is in the way, then start the agent again.",
        by="agent" if steps else "delegtop",
        fields=("error",) if faults else ("next_steps|blockers",),
    )


# Sessions and runs


@rule(
    "HYP-015",
    "not its file's name",
    Severity.INFO,
    "an agent goes by the name of its file",
    f"{_CONTRACT}, Validation Checklist: agent_name matches the name of the agent's file. An agent that came with a "
    "plugin has no file near the log, so this is only mentioned, and only where the project has agent files.",
)
def named_by_its_file(case: Case) -> Iterator[RuleNote]:
    agents, name = case.policy.agents, case.facts.agent
    if not _is_output(case) or name is None:
        return
    files = {PurePath(each.source).stem: each for each in agents.values()}
    near = get_close_matches(name, files, 1, _ALIKE)
    own = PurePath(agents[name].source).stem if name in agents else near[0] if near else None
    advice = f'Write "agent_name": "{own}".' if own else "Let it sign with the name of its file."
    if name in files:
        return
    if own is not None:
        message = f"It signs as {quoted(name)}, but its file {files[own].source} is named {quoted(own)}."
    elif any(each.project for each in files.values()):
        message = f"It signs as {quoted(name)}, and none of the agent files of its project is named so."
    else:
        return
    yield RuleNote(message, case.facts.ended_origin, advice=advice, fields=("meta.agent_name|agent_name|agent",))


@rule(
    "HYP-020",
    "parent unknown",
    Severity.INFO,
    "a session knows its parent",
    "hyper takes the parent from a field that the hook mostly does not get. delegtop shows such a session under its "
    "run, if it names one, and never guesses at a parent.",
)
def parent_known(case: Case) -> Iterator[RuleNote]:
    for note in notes(case, kinds.PARENTLESS) if case.facts.product == PRODUCT.name else ():
        if not case.facts.parent and case.facts.agent not in (None, PRODUCT.name):
            yield RuleNote(
                f"Nobody says who started it: {note.text}.",
                note.origin,
                advice="Set HYPER_RUN_ID when agents are started, so that at least the run is known.",
            )


@rule(
    "HYP-021",
    "no activity",
    Severity.WARNING,
    "a session in a run shows activity",
    "hyper calls a session active for five minutes after its last write. One with a role in a run that has written "
    "nothing for longer may read or run commands, or hang: its transcript tells.",
)
def shows_activity(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    refs = dict(facts.refs)
    working = case.forest.state(case.handle) in ACTIVE and "session_id" in refs and "run_id" in refs
    if (
        facts.product != PRODUCT.name
        or not working
        or facts.heard_at is None
        or not case.is_past(facts.heard_at + ACTIVE_WINDOW * SECOND)
    ):
        return
    transcript = refs.get("transcript")
    yield RuleNote(
        f"It has written nothing for {duration(case.now - facts.heard_at)}.",
        facts.heard_origin,
        advice=f"Look at its transcript {transcript}." if transcript else "Look at its terminal.",
        since=facts.heard_at,
    )


@rule(
    "HYP-022",
    "tried again",
    Severity.WARNING,
    "a step works at the first attempt",
    "The state file of a run remarks when a statement is tried again, and how often it may be.",
)
def no_retries(case: Case) -> Iterator[RuleNote]:
    for note in notes(case, kinds.LOOP) if case.facts.product == PRODUCT.name else ():
        yield RuleNote(
            f"It is being tried again: {note.text}.",
            note.origin,
            advice="See what the attempt before it wrote, before the last one is used up.",
        )
