"""Returns are validated before anybody relies on them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delegtop.delegate.error_objects import error_fields, typed
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_search import returns_in

if TYPE_CHECKING:
    from delegtop.protocols.contract_model import Breach
    from delegtop.protocols.standard.contract.return_model import Return, ReturnError


class ReturnInvalid(ValueError):  # noqa: N818  # the name says what is wrong
    """A return that does not keep to the standard; `problems` says everything that is wrong with it."""

    def __init__(self, problems: tuple[str, ...], returned: object = None) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.returned = returned
        """What was given."""

    def error(self) -> "ReturnError":
        """The error for a log or for a return to the next caller up."""
        return typed(self.fields())

    def fields(self) -> dict[str, Any]:
        """The same as JSON has it."""
        message = f"The return is not valid: {self}"
        return error_fields("validation", "VALIDATION_FAILED", message, own_words.RETURN_STANDARD)


def validate_return(value: object, expected_session_id: str | None = None, *, root: Path | None = None) -> "Return":
    """The return, typed, if it is valid; raises ReturnInvalid with everything that is wrong.

    Checked is what the documents ask for: every field, its type and values, the session id that was handed out, the
    depth, the path, and that what did not complete says why. With the root of the project its files are looked for too.
    """
    from delegtop.protocols.contract_model import dumped
    from delegtop.protocols.standard.contract.return_model import Return

    given: object = dumped(value) if isinstance(value, Return) else value
    if isinstance(given, Mapping) and (unfit := not_json(given)):
        raise ReturnInvalid((f"the return holds what JSON cannot hold: {unfit}",), given)
    if problems := tuple(map(str, return_breaches(given, expected_session_id, root=root))):
        raise ReturnInvalid(problems, given)
    return value if isinstance(value, Return) else Return.model_validate(given)


def not_json(value: object) -> str | None:
    """Why JSON cannot hold the value; None if it can."""
    try:
        json.dumps(dict(value) if isinstance(value, Mapping) else value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return None


def return_breaches(value: object, expected: str | None = None, *, root: Path | None = None) -> "tuple[Breach, ...]":
    """Everything that is wrong with a return, each with the rule that tells the same of a log."""
    from delegtop.protocols.contract_model import Breach, breaches
    from delegtop.protocols.standard.contract.return_model import Return, across_fields

    if not isinstance(value, Mapping):
        return (Breach("", "the return must be a JSON object", "LOG-001"),)
    found = [*breaches(Return, dict(value)), *across_fields(value)]
    actual = session_id_of(value)
    if expected is not None and actual is not None and actual != expected:
        found.append(Breach("metadata.session_id", f"is {actual}, not {expected}, which was handed out", "RET-007"))
    if root is not None:
        found += _missing_files(value.get("artifacts"), root)
    return tuple(dict.fromkeys(found))


def session_id_of(value: Mapping[str, Any]) -> str | None:
    """The session id that a return names, in its metadata or beside them."""
    metadata = value.get("metadata")
    id = (metadata.get("session_id") if isinstance(metadata, Mapping) else None) or value.get("session_id")
    return id if isinstance(id, str) else None


def _missing_files(artifacts: object, root: Path) -> "Iterator[Breach]":
    from delegtop.protocols.contract_model import Breach

    for index, artifact in enumerate(artifacts if isinstance(artifacts, list | tuple) else ()):
        path = artifact.get("path") if isinstance(artifact, Mapping) else None
        if isinstance(path, str) and path and not _exists(root / path):
            yield Breach(f"artifacts[{index}].path", f'is "{path}", and there is no such file in {root}', "RET-023")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def extract_return(text: str, expected_session_id: str | None = None, *, root: Path | None = None) -> "Return | None":
    """The return in an agent's output: marked, fenced or bare; of several the last. None if there is none.

    Between markers any JSON object counts; elsewhere only one that has the shape of a return, since programs print
    other JSON too. An agent CLI that prints JSON itself has its final message in `result`, and is looked into. What
    was found is validated: raises ReturnInvalid.
    """
    found = next((each for each in returns_in(text) if isinstance(each, dict)), None)
    return None if found is None else validate_return(found, expected_session_id, root=root)
