"""Returns: found in what an agent printed, and validated before anybody relies on them."""

import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NoReturn

from delegtop.protocols.hyper import output_contract
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import NEEDS_ERRORS, STATUSES, SUMMARY_HARD_LIMIT

REQUIRED = ("status", "summary", "artifacts", "metadata")


class ReturnInvalid(ValueError):  # noqa: N818  # the name says what is wrong
    """A return that does not keep to the standard; `problems` says everything that is wrong with it."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems

    def error(self) -> dict[str, Any]:
        """The error object for a log or for a return to the next caller up."""
        return {
            "type": "validation",
            "message": f"The return is not valid: {self}",
            "code": "VALIDATION_FAILED",
            "recoverable": True,
            "recommendation": own_words.RETURN_STANDARD,
        }


def validate_return(value: object, expected_session_id: str | None = None) -> dict[str, Any]:
    """The return itself if it is valid; raises ReturnInvalid with everything that is wrong.

    Checked is what a caller has to rely on: a JSON object, the four required fields, the status, the session id, the
    summary's length, the artifacts' paths, and that what did not complete says why.
    """
    if not isinstance(value, dict):
        raise ReturnInvalid(("the return must be a JSON object",))
    problems = tuple(_problems(value, expected_session_id))
    if problems:
        raise ReturnInvalid(problems)
    return value


def _problems(value: dict[str, Any], expected: str | None) -> Iterator[str]:
    for name in REQUIRED:
        if name not in value:
            yield f"missing required field: {name}"
    status = value.get("status")
    if "status" in value and status not in STATUSES:
        yield f"invalid status {status!r}: it must be one of {', '.join(STATUSES)}"
    if "metadata" in value:
        yield from _session_problems(value, expected)
    if "summary" in value:
        yield from _summary_problems(value["summary"])
    if "artifacts" in value:
        yield from _artifact_problems(value["artifacts"])
    errors = value.get("errors", [])
    if not isinstance(errors, list):
        yield "errors must be a list"
    elif status in NEEDS_ERRORS and not errors:
        yield f"status is {status}, but no error says why"


def _session_problems(value: dict[str, Any], expected: str | None) -> Iterator[str]:
    metadata = value["metadata"]
    if not isinstance(metadata, dict):
        yield "metadata must be an object"
        return
    actual = metadata.get("session_id") or value.get("session_id")
    if not actual:
        yield "metadata has no session_id"
    elif expected is not None and actual != expected:
        yield f"session id mismatch: {actual} is not {expected}"


def _summary_problems(summary: object) -> Iterator[str]:
    if not isinstance(summary, str):
        yield "summary must be text"
    elif not summary.strip():
        yield "summary must not be empty"
    elif len(summary) > SUMMARY_HARD_LIMIT:
        yield f"summary is too long: {len(summary)} characters, at most {SUMMARY_HARD_LIMIT}"


def _artifact_problems(artifacts: object) -> Iterator[str]:
    if not isinstance(artifacts, list):
        yield "artifacts must be a list"
        return
    for index, artifact in enumerate(artifacts):
        path = artifact.get("path") if isinstance(artifact, dict) else None
        if not (isinstance(path, str) and path):
            yield f"artifacts[{index}] has no path"
        elif PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            yield f"artifacts[{index}]: {path} must be relative to the project and stay within it"


_OBJECT = re.compile(r"\n[ \t]*(?:(?:```+|~~~+)\w*[ \t]*)?(?=\{)")
"""Where an object may begin: at the start of a line, or right after the opening of a code fence."""
_TRIED = 2000
"""So many beginnings are tried, the last ones: output that is nothing but braces must not take for ever."""


def extract_return(text: str) -> dict[str, Any] | None:
    """The return in an agent's output: marked, fenced or bare; of several the last. None if there is none.

    Between markers any JSON object counts; elsewhere only one that has the shape of a return, since programs print
    other JSON too. An agent CLI that prints JSON itself has its final message in `result`, and is looked into.
    """
    return next((found for found in returns_in(text) if isinstance(found, dict)), None)


def returns_in(text: str) -> Iterator[dict[str, Any] | str]:
    """All that means to be a return, the last first. Words between markers that hold no JSON are given as they are."""
    return (found for found, _ in placed_returns(text))


def placed_returns(text: str) -> Iterator[tuple[dict[str, Any] | str, int]]:
    """The same, each with where in the text it begins."""
    found: list[tuple[dict[str, Any] | str, int]] = []
    text = f"\n{text}"
    # Plain searches come first: most output holds neither, and a megabyte of it should cost nothing.
    starts = [match.end() for match in output_contract.START.finditer(text)] if "AGENT_OUTPUT_START" in text else []
    ends = [match.start() for match in output_contract.END.finditer(text)] if starts else []
    ends.append(len(text))  # what was cut off ends with the text
    objects = deque((match.end() for match in _OBJECT.finditer(text)) if "{" in text else (), maxlen=_TRIED)
    # A block that is begun again before it was finished counts from its last beginning.
    blocks = {begin: end for end, begin in {ends[bisect_left(ends, begin)]: begin for begin in starts}.items()}
    cursor = 0
    for begin in sorted({*blocks, *objects}):
        if begin < cursor:
            continue
        if begin in blocks:
            cursor = blocks[begin]
            found.append(_marked(text, begin, cursor))
            continue
        value, cursor = _decode(text, begin)
        if value is None:
            continue
        if _is_return(value):
            found.append((value, begin - 1))
        elif value.get("type") == "result" and isinstance(value.get("result"), str):
            # an agent CLI's JSON around the final message
            found.extend((inner, begin - 1) for inner in reversed(list(returns_in(value["result"]))))
    yield from reversed(found)


def _marked(text: str, begin: int, end: int) -> tuple[dict[str, Any] | str, int]:
    """What stands between the markers, and where; the text has a newline before its first character."""
    block = text[begin:end]
    brace = block.find("{")
    value = None if brace < 0 else _decode(block, brace)[0]
    return (block.strip(), begin - 1) if value is None else (value, begin + brace - 1)


def _is_return(value: dict[str, Any]) -> bool:
    """True for an object that means to be a return, in the standard form or with its status in `meta`."""
    if "meta" in value:
        return "artifacts" in value
    others = [name for name in ("summary", "artifacts", "metadata") if name in value]
    if "status" in value:
        return bool(others)
    metadata = value.get("metadata")  # one that forgot to say how it ended still says whose it is
    return len(others) > 1 and isinstance(metadata, dict) and "session_id" in metadata


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_number)


def _decode(text: str, begin: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there, and where it stops; None if there is none."""
    try:
        # A slice, since an error counts all lines before it.
        value, length = _decoder.raw_decode(text[begin:])
    except (ValueError, RecursionError):
        return None, begin
    return (value, begin + length) if isinstance(value, dict) else (None, begin)
