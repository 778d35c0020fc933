"""Rules on what a return says: its summary, its artifacts and its next steps."""

import re
from collections.abc import Iterator

from delegtop.contract.returns import (
    ARTIFACT_TYPES,
    NEXT_STEPS_SENTENCES,
    STRUCTURE_ARTIFACT_TYPES,
    SUMMARY_CHARACTERS,
    SUMMARY_HARD_LIMIT,
    SUMMARY_SENTENCES,
    SUMMARY_TOKENS,
    sentences,
    tokens,
)
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.on_return import Note, choice, listed, on_return, quoted
from delegtop.diagnosis.rule import Case
from delegtop.model.events import Artifact, Report

_READ = 16_384
"""Characters of a text that are looked at; one this long is too long by any rule."""
_NAMED = 3
"""Emojis that are named in a message."""


@on_return(
    "RET-010",
    Severity.WARNING,
    "the summary has two to five sentences",
    "Return format standard, Field Specifications: summary. A single sentence is only mentioned: the structure "
    "standard and the delegation guide have such summaries in their own examples.",
)
def summary_sentences(_case: Case, report: Report) -> Iterator[Note]:
    least, most = SUMMARY_SENTENCES
    count = sentences((report.summary or "")[:_READ])
    if count == 1:
        yield Note(
            f"The summary has 1 sentence; the return format standard asks for {least} to {most}, "
            "though the structure standard's example has one.",
            "Say what was made or changed, and what decided or blocks it.",
            Severity.INFO,
        )
    if count > most:
        yield Note(
            f"The summary has {count} sentences; {least} to {most} are asked for.",
            "Keep the outcome and move the details into an artifact.",
        )


@on_return(
    "RET-011",
    Severity.WARNING,
    "the summary has at most 100 tokens",
    "Return format standard and structure standard: 100 tokens, about 400 characters. The delegation guide's "
    "validation allows 500 characters; above those the return is refused, which is an error.",
)
def summary_length(_case: Case, report: Report) -> Iterator[Note]:
    summary = report.summary or ""
    if len(summary) <= SUMMARY_CHARACTERS:
        return
    if len(summary) > SUMMARY_HARD_LIMIT:
        verdict, severity = f"even the delegation guide refuses more than {SUMMARY_HARD_LIMIT}", Severity.ERROR
    else:
        verdict, severity = f"the delegation guide lets {SUMMARY_HARD_LIMIT} pass", Severity.WARNING
    yield Note(
        f"The summary has {len(summary)} characters, about {tokens(summary)} tokens; the return format standard allows "
        f"{SUMMARY_TOKENS} tokens (about {SUMMARY_CHARACTERS} characters), {verdict}.",
        "Keep the outcome and move the details into an artifact.",
        severity,
    )


_EMOJI = re.compile(
    "[\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\u2b50\u2b55\ufe0f\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]"
)
_MARKUP = re.compile(
    r"\*\*(?=\S)|`|^\s{0,3}(?:#{1,6}|[-*+]|[0-9]{1,3}\.)\s|\[[^\]\n]{1,200}\]\([^)\n]{0,200}\)"
    r"|</?(?:a|b|br|code|div|em|h[1-6]|i|li|p|pre|span|strong|table|ul)(?:\s[^<>]{0,200})?/?>",
    re.MULTILINE,
)


@on_return(
    "RET-012",
    Severity.WARNING,
    "the summary has no emojis",
    "Return format standard, Field Specifications: summary, Guidelines.",
)
def summary_without_emojis(_case: Case, report: Report) -> Iterator[Note]:
    found = list(dict.fromkeys(_EMOJI.findall((report.summary or "")[:_READ])))
    if found:
        names = ", ".join(f"{character} (U+{ord(character):04X})" for character in found[:_NAMED])
        yield Note(f"The summary has emojis: {names}.", "Say it in words; callers print the summary as it is.")


@on_return(
    "RET-013",
    Severity.WARNING,
    "the summary has no markup",
    "Return format standard, Field Specifications: summary, Guidelines: no formatting markup.",
)
def summary_without_markup(_case: Case, report: Report) -> Iterator[Note]:
    found = _MARKUP.search((report.summary or "")[:_READ])
    if found:
        yield Note(
            f"The summary has markup: {quoted(found[0].strip())}.",
            "Write plain sentences; callers print the summary as it is.",
        )


# Artifacts


@on_return(
    "RET-020",
    Severity.WARNING,
    "artifacts are of a known type",
    "Return format standard, Field Specifications: artifacts are research, plan, implementation, summary or "
    "documentation. The structure standard has `review` as well; that one is only mentioned.",
)
def artifact_types(_case: Case, report: Report) -> Iterator[Note]:
    untyped = [artifact.path for artifact in report.artifacts if not artifact.type]
    if untyped:
        yield Note(f"No type is given for {listed(untyped)}.", f"Give each {choice(ARTIFACT_TYPES)}.")
    odd = {artifact.type for artifact in report.artifacts if artifact.type} - set(ARTIFACT_TYPES)
    for type in sorted(odd & set(STRUCTURE_ARTIFACT_TYPES)):
        yield Note(
            f'"{type}" is an artifact type of the structure standard, but not of the return format standard.',
            f"Readers of the standard form know {choice(ARTIFACT_TYPES)}.",
            Severity.INFO,
        )
    if unknown := sorted(odd - set(STRUCTURE_ARTIFACT_TYPES)):
        yield Note(f"There is no artifact type {listed(unknown)}.", f"Use {choice(ARTIFACT_TYPES)}.")


_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[a-z][a-z0-9+.-]{1,20}://")


def _is_absolute(artifact: Artifact) -> bool:
    return _ABSOLUTE.match(artifact.path) is not None


def _leaves(artifact: Artifact) -> bool:
    return ".." in re.split(r"[/\\]", artifact.path)


@on_return(
    "RET-021",
    Severity.ERROR,
    "artifact paths are relative",
    "Return format standard, Field Specifications: artifacts: paths are relative to the root of the project.",
)
def artifact_paths_relative(_case: Case, report: Report) -> Iterator[Note]:
    if absolute := [artifact.path for artifact in report.artifacts if _is_absolute(artifact)]:
        yield Note(
            f"Not relative to the root of the project: {listed(absolute)}.",
            "Write the path from the root of the project, so that it holds on every machine.",
        )


@on_return(
    "RET-022",
    Severity.ERROR,
    "artifact paths stay within the project",
    "Return format standard, Field Specifications: artifacts: paths start at the root of the project; one that "
    "climbs out with `..` names something else. delegtop does not look there.",
)
def artifact_paths_inside(_case: Case, report: Report) -> Iterator[Note]:
    if outside := [artifact.path for artifact in report.artifacts if _leaves(artifact)]:
        yield Note(
            f'Climbs with "..": {listed(outside)}.',
            "Write the path without it, and see what the agent wrote outside of its project.",
        )


@on_return(
    "RET-023",
    Severity.ERROR,
    "artifacts exist",
    "Return format standard, Validation Requirements 4; structure standard, Return Format: artifacts must exist on "
    "disk. Where delegtop cannot tell, it says nothing.",
)
def artifacts_exist(case: Case, report: Report) -> Iterator[Note]:
    asked = [each.path for each in report.artifacts if each.path and not _is_absolute(each) and not _leaves(each)]
    if gone := [path for path in asked if case.exists(path) is False]:
        yield Note(
            f"{'Does' if len(gone) == 1 else 'Do'} not exist: {listed(gone)}.",
            "Do not take the work as done: look whether it was moved, never written, or left in another worktree.",
        )


@on_return(
    "RET-040",
    Severity.INFO,
    "next_steps has one or two sentences",
    "Return format standard, Field Specifications: next_steps.",
)
def next_steps_short(_case: Case, report: Report) -> Iterator[Note]:
    count = sentences((report.next_steps or "")[:_READ])
    if count > NEXT_STEPS_SENTENCES:
        yield Note(
            f"next_steps has {count} sentences; 1 to {NEXT_STEPS_SENTENCES} are asked for.",
            "Name the one thing to do next and move the rest into an artifact.",
        )
