"""Rules on what a return says: its summary, its artifacts and its next steps."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import ReturnNote, choice, listed, on_return, quoted
from delegtop.model.events import Report
from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute, is_usable
from delegtop.protocols.standard.contract.return_contract import (
    ARTIFACT_TYPES,
    FOLDERS,
    NEXT_STEPS_SENTENCES,
    STRUCTURE_ARTIFACT_TYPES,
    SUMMARY_CHARACTERS,
    SUMMARY_HARD_LIMIT,
    SUMMARY_TOKENS,
    tokens,
)
from delegtop.protocols.standard.contract.sentence_count import sentences

_READ = 16_384
"""Characters of a text that are looked at; one this long is too long by any rule."""
_JUDGED = 20
"""Artifacts of one return that are judged one by one."""
_NAMED = 3
"""Emojis that are named in a message."""
_SUMMARY = ("summary",)


def _artifacts(report: Report, field: str, is_so: Callable[[Any], bool]) -> tuple[str, ...]:
    """That field of the first artifacts of which it is so."""
    found = (number for number, each in enumerate(report.artifacts) if is_so(getattr(each, field)))
    return tuple(f"artifacts[{number}].{field}" for number in islice(found, _JUDGED))


@on_return(
    "RET-010",
    "wrong sentence count",
    Severity.WARNING,
    "the summary has two to five sentences",
    "Return format standard, Field Specifications: summary. A single sentence is only mentioned: the structure "
    "standard and the delegation guide have such summaries in their own examples. The settings are "
    "protocol.summary_sentences_min and protocol.summary_sentences_max.",
)
def summary_sentences(case: Case, report: Report) -> Iterator[ReturnNote]:
    least, most = case.reading.summary_sentences_min, case.reading.summary_sentences_max
    chosen = case.reading.chosen("summary_sentences_min", "summary_sentences_max")
    count = sentences((report.summary or "")[:_READ])
    if 0 < count < least:
        yield ReturnNote(
            f"The summary has {count} sentence{'s' if count > 1 else ''}; the return format standard asks for 2 to 5, "
            f"though the structure standard's example has one{chosen}.",
            "Say what was made or changed, and what decided or blocks it.",
            Severity.INFO,
            _SUMMARY,
        )
    if count > most:
        yield ReturnNote(
            f"The summary has {count} sentences; the return format standard asks for 2 to 5, the delegation guide "
            f"counts only characters{chosen}.",
            "Keep the outcome and move the details into an artifact.",
            fields=_SUMMARY,
        )


@on_return(
    "RET-011",
    "summary too long",
    Severity.WARNING,
    "the summary has at most 100 tokens",
    "Return format standard: at most 100 tokens, about 400 characters; structure standard: fewer than 100. The "
    "delegation guide's validation allows 500 characters; above those the return is refused, which is an error. The "
    "settings are protocol.summary_tokens and protocol.summary_characters.",
)
def summary_length(case: Case, report: Report) -> Iterator[ReturnNote]:
    summary, reading = report.summary or "", case.reading
    refused = len(summary) > reading.summary_characters
    if not refused and len(summary) <= reading.summary_length:
        return
    even = "even the delegation guide refuses more than" if refused else "the delegation guide lets pass up to"
    yield ReturnNote(
        f"The summary has {len(summary)} characters, about {tokens(summary)} tokens; the return format standard allows "
        f"{SUMMARY_TOKENS} tokens (about {SUMMARY_CHARACTERS} characters), {even} {SUMMARY_HARD_LIMIT}"
        f"{reading.chosen('summary_tokens', 'summary_characters')}.",
        "Keep the outcome and move the details into an artifact.",
        Severity.ERROR if refused else None,
        _SUMMARY,
    )


_EMOJI = lazy_pattern(
    "[\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\u2b50\u2b55\ufe0f\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]"
)
_MARKUP = lazy_pattern(
    r"\*\*(?=\S)|`|^\s{0,3}(?:#{1,6}|[-*+>•‣◦▪]|[0-9]{1,3}[.)])\s|\[[^\]\n]{1,200}\]\([^)\n]{0,200}\)"
    r"|(?<![\w*/.])\*(?=[^\s*.])[^*\n]{0,200}(?<=[^\s*/])\*(?![\w*/]|\.\w)"  # *so*, unless it is a glob
    r"|(?<![\w/.-])_(?=[^\s_])[^_\n]{0,200}(?<=[^\s_])_(?![\w/-]|\.\w)"  # _so_
    r"|(?<![\w/.-])__(?![a-z0-9_]+__)(?=[^\s_])[^\n]{1,200}?(?<=[^\s_])__(?![\w/-]|\.\w)"  # __so__, unless it is a name
    r"|~~(?=\S)[^~\n]{1,200}~~|^\s{0,3}={2,}\s*$"  # ~~so~~, a line under a heading
    r"|^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$|^\s{0,3}\|.*\|\s*$|</[a-z][\w-]{0,40}>"  # a rule, a row of a table, a tag
    r"|(?<!\w)\[[^\[\]\n]{1,200}\]\[[^\[\]\n]{0,40}\]|\[\^[\w-]{1,40}\]"  # [so][1], and a footnote
    r"|(?<![=\w])==(?=[^\s=])[^=\n]{1,200}(?<=[^\s=])==(?![=\w])|\$\\[A-Za-z][^$\n]{0,200}\$"  # ==so==, and TeX
    r"|<https?://[^\s<>]{1,200}>|&(?:amp|lt|gt|quot|nbsp|#[0-9]{1,6});|\x1b\["  # a link, an entity, a colour
    r"|</?(?:a|b|br|code|div|em|h[1-6]|i|li|p|pre|span|strong|table|ul)(?:\s[^<>]{0,200})?/?>",
    re.MULTILINE,
)


@on_return(
    "RET-012",
    "emoji in summary",
    Severity.WARNING,
    "the summary has no emojis",
    "Return format standard, Field Specifications: summary, Guidelines.",
)
def summary_without_emojis(_case: Case, report: Report) -> Iterator[ReturnNote]:
    found = list(dict.fromkeys(_EMOJI.findall((report.summary or "")[:_READ])))
    if found:
        names = ", ".join(f"{character} (U+{ord(character):04X})" for character in found[:_NAMED])
        advice = "Say it in words; callers print the summary as it is."
        yield ReturnNote(f"The summary has emojis: {names}.", advice, fields=_SUMMARY)


@on_return(
    "RET-013",
    "markup in summary",
    Severity.WARNING,
    "the summary has no markup",
    "Return format standard, Field Specifications: summary, Guidelines: no formatting markup.",
)
def summary_without_markup(_case: Case, report: Report) -> Iterator[ReturnNote]:
    found = _MARKUP.search((report.summary or "")[:_READ])
    if found:
        yield ReturnNote(
            f"The summary has markup: {quoted(found[0].strip())}.",
            "Write plain sentences; callers print the summary as it is.",
            fields=_SUMMARY,
        )


# Artifacts


@on_return(
    "RET-020",
    "odd artifact type",
    Severity.WARNING,
    "artifacts are of a known type",
    "Return format standard, Field Specifications: artifacts are research, plan, implementation, summary or "
    "documentation. The structure standard has `review` instead of the last; one that only the other document knows "
    "is only mentioned. The setting is protocol.artifact_types.",
)
def artifact_types(case: Case, report: Report) -> Iterator[ReturnNote]:
    known, chosen = case.reading.artifact_types, case.reading.chosen("artifact_types")
    untyped = [artifact.path for artifact in report.artifacts if not artifact.type]
    if untyped:
        fields = _artifacts(report, "type", lambda given: not given)
        named = [path for path in untyped if path.strip()]
        which = listed(named) if named else "an artifact without a path"
        yield ReturnNote(f"No type is given for {which}.", f"Give each {choice(known)}.", fields=fields)
    odd = {artifact.type for artifact in report.artifacts if artifact.type} - set(known)
    documented = _DOCUMENTED if case.facts.product is None else {**_DOCUMENTED, **_LATER}
    for type in sorted(odd & documented.keys()):
        yield ReturnNote(
            f'"{type}" is an artifact type of the {documented[type]}{chosen}.',
            f"Readers know {choice(known)}.",
            Severity.INFO,
            _artifacts(report, "type", {type}.__contains__),
        )
    if unknown := sorted(odd - documented.keys()):
        fields = _artifacts(report, "type", unknown.__contains__)
        yield ReturnNote(
            f"There is no artifact type {listed(unknown)}{chosen}.", f"Use {choice(known)}.", fields=fields
        )


_RETURN_FORMAT, _STRUCTURE = "return format standard", "structure standard"
_DOCUMENTED: dict[str, str] = {
    **dict.fromkeys(STRUCTURE_ARTIFACT_TYPES, f"{_STRUCTURE}, but not of the {_RETURN_FORMAT}"),
    **dict.fromkeys(ARTIFACT_TYPES, f"{_RETURN_FORMAT}, but not of the {_STRUCTURE}"),
    **dict.fromkeys(set(ARTIFACT_TYPES) & set(STRUCTURE_ARTIFACT_TYPES), f"{_RETURN_FORMAT} and the {_STRUCTURE}"),
}
"""Every artifact type of a document, with the words for whose it is."""
_LATER = {"report": "later standard of the return files, but not of the return format standard"}
"""What the return files of later systems have, which know other types too."""


@on_return(
    "RET-021",
    "absolute path",
    Severity.ERROR,
    "artifact paths are relative",
    "Return format standard, Field Specifications: artifacts: paths are relative to the root of the project.",
)
def artifact_paths_relative(_case: Case, report: Report) -> Iterator[ReturnNote]:
    if absolute := [artifact.path for artifact in report.artifacts if is_absolute(artifact.path)]:
        yield ReturnNote(
            f"Not relative to the root of the project: {listed(absolute)}.",
            "Write the path from the root of the project, so that it holds on every machine.",
            fields=_artifacts(report, "path", is_absolute),
        )


@on_return(
    "RET-022",
    "path climbs upwards",
    Severity.ERROR,
    "artifact paths stay within the project",
    "Return format standard, Field Specifications: artifacts: paths start at the root of the project; one that "
    "climbs out with `..` names something else. delegtop does not look there.",
)
def artifact_paths_inside(_case: Case, report: Report) -> Iterator[ReturnNote]:
    if outside := [artifact.path for artifact in report.artifacts if climbs(artifact.path)]:
        yield ReturnNote(
            f'Climbs with "..": {listed(outside)}.',
            "Write the path without it, and see what the agent wrote outside of its project.",
            fields=_artifacts(report, "path", climbs),
        )


@on_return(
    "RET-023",
    "artifact missing",
    Severity.ERROR,
    "artifacts exist",
    "Return format standard, Validation Requirements 4; structure standard, Return Format: artifacts must exist on "
    "disk. Where delegtop cannot tell, it says nothing.",
)
def artifacts_exist(case: Case, report: Report) -> Iterator[ReturnNote]:
    if case.facts.product is not None:
        return  # the family's own rule, FAM-026, tells it
    asked = [
        each.path
        for each in report.artifacts
        if is_usable(each.path) and not is_absolute(each.path) and not climbs(each.path)
    ]
    if gone := [path for path in asked if case.exists(path) is False]:
        yield ReturnNote(
            f"{'Does' if len(gone) == 1 else 'Do'} not exist: {listed(gone)}.",
            "Do not take the work as done: look whether it was moved, never written, or left in another worktree.",
            fields=_artifacts(report, "path", gone.__contains__),
        )


@on_return(
    "RET-024",
    "type or folder wrong",
    Severity.WARNING,
    "the type of an artifact fits its folder",
    "Return format standard, Field Specifications: artifacts: the type matches the purpose. The path patterns of the "
    "structure standard say what lies where: research in reports/, plans in plans/, summaries in summaries/.",
)
def artifact_type_fits(_case: Case, report: Report) -> Iterator[ReturnNote]:
    for number, artifact in enumerate(report.artifacts[:_JUDGED]):
        folders = [part for part in re.split(r"[/\\]", artifact.path)[:-1] if part in FOLDERS]
        if folders and artifact.type in ARTIFACT_TYPES and artifact.type not in {FOLDERS[each] for each in folders}:
            yield ReturnNote(
                f"{quoted(artifact.path)} is called {artifact.type}, but {folders[-1]}/ is for {FOLDERS[folders[-1]]}.",
                "Give the type that says what the file is for; readers choose by it.",
                fields=(f"artifacts[{number}].type",),
            )


@on_return(
    "RET-025",
    "long file summary",
    Severity.WARNING,
    "the summary of an artifact is one sentence",
    "Return format standard, Standard Return Format: an artifact may have a description of one sentence.",
)
def artifact_summary_short(_case: Case, report: Report) -> Iterator[ReturnNote]:
    for number, artifact in enumerate(report.artifacts[:_JUDGED]):
        count = sentences((artifact.summary or "")[:_READ])
        if count > 1:
            yield ReturnNote(
                f"The summary of {quoted(artifact.path)} has {count} sentences; one is asked for.",
                "Say what the file is in one sentence; the rest stands in the file.",
                fields=(f"artifacts[{number}].summary",),
            )


@on_return(
    "RET-026",
    "artifact has no path",
    Severity.ERROR,
    "every artifact has a path",
    "Return format standard, Field Specifications: artifacts: type and path are required. What has no path cannot be "
    "found by anybody.",
)
def artifact_paths_given(_case: Case, report: Report) -> Iterator[ReturnNote]:
    bare = [number for number, artifact in enumerate(report.artifacts, 1) if not is_usable(artifact.path)]
    if bare:
        which = f"Artifact {bare[0]}" if len(bare) == 1 else f"{len(bare)} of {len(report.artifacts)} artifacts"
        yield ReturnNote(
            f"{which} {'has' if len(bare) == 1 else 'have'} no usable path.",
            "Let the agent name the file it wrote, from the root of the project.",
            fields=_artifacts(report, "path", lambda path: not is_usable(path)),
        )


@on_return(
    "RET-040",
    "next steps too long",
    Severity.WARNING,
    "next_steps has one or two sentences",
    "Return format standard, Field Specifications: next_steps.",
)
def next_steps_short(_case: Case, report: Report) -> Iterator[ReturnNote]:
    count = sentences((report.next_steps or "")[:_READ])
    if count > NEXT_STEPS_SENTENCES:
        yield ReturnNote(
            f"next_steps has {count} sentences; 1 to {NEXT_STEPS_SENTENCES} are asked for.",
            "Name the one thing to do next and move the rest into an artifact.",
            fields=("next_steps",),
        )
