"""Whatever a model refuses, `check` or `lint` tells of a file that holds it: by the rule that the model names, at the
line of the field."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from tests.protocols.breaching import Told, accepted_lines, changed, judged, lines_of, value_at, written
from tests.protocols.good_inputs import GOOD, SESSION
from tests.protocols.model_breaches import Mutation, fields, mutations

from delegtop.protocols import contracts
from delegtop.protocols.contract_model import Breach, breaches
from delegtop.protocols.standard.contract import session_log_model as lines


class Subject(NamedTuple):
    """Where a good value of a model stands."""

    contract: str
    good: str
    field: str = ""
    model: type[BaseModel] | None = None
    """Of a contract that has several, one."""
    only: tuple[str, ...] = ("",)
    """How the fields begin that are broken here; the others are broken in another good value of the model."""

    @property
    def mutations(self) -> list[Mutation]:
        return [each for each in mutations(self.refuses, self.value) if each.field.startswith(self.only)]

    @property
    def refuses(self) -> type[BaseModel]:
        return self.model or contracts.model(self.contract)

    @property
    def value(self) -> dict[str, Any]:
        found = value_at(next(iter(GOOD[self.good].files.values())), self.field)
        assert isinstance(found, dict)
        return found


FULL = ("schema_version", "parent_session_id", "task_context", "pid", "host", "timeout")
SUBJECTS = (
    Subject("return", "return"),
    Subject("return", "return with two ids", only=("session_id",)),
    Subject("return", "failed return", only=("status", "errors", "metadata.session_id")),
    Subject("artifact", "artifact"),
    Subject("error", "error"),
    Subject("context", "context"),
    Subject("registry", "registry", SESSION),
    Subject("registry", "returned entry", SESSION, only=("return", "status")),
    Subject("session-log", "running log", "[0]", lines.RegisterEntry),
    Subject("session-log", "full log", "[1]", lines.RegisterEntry, FULL),
    Subject("session-log", "running log", "[1]", lines.HeartbeatEntry),
    Subject("session-log", "log", "[3]", lines.ReturnEntry),
    Subject("session-log", "ended log", "[1]", lines.ErrorEntry),
    Subject("session-log", "ended log", "[2]", lines.TimeoutEntry),
    Subject("session-log", "ended log", "[4]", lines.CancelEntry),
    Subject("hyper-output", "hyper output"),
    Subject("hyper-output", "failed answer", only=("meta.status", "error")),
    Subject("cleo-manifest", "manifest", "[0]"),
)
OTHERWISE: dict[tuple[str, str], tuple[str, str]] = {
    ("return", "metadata.session_id"): (
        "DEL-012",
        "a lone return is all that is known: its id is the delegation's own",
    ),
    ("failed return", "metadata.session_id"): ("DEL-012", "as above"),
    ("log", "[3].session_id"): ("LOG-002", "the return in the line says whose it is, so the delegation has an id"),
    ("failed return", "errors"): ("RET-030", "what cannot be read says nothing of why it failed"),
    ("full log", "[1].timeout"): ("DEL-002", "without a deadline, one that cannot be read is as good as none"),
    ("ended log", "[1].error"): ("LOG-002", "rules on returns say nothing of an error that stands in none"),
    ("ended log", "[2].artifacts"): ("LOG-002", "nor of artifacts"),
}
"""Where another rule tells it than the model names, by the input and the field: that rule, and why."""
UNTOLD = {
    ("ended log", "[1].error."): "a line on an error may say as little as it likes (docs/session-log.md)",
    ("ended log", "[2].artifacts[0]."): "so may the artifacts that were found after a timeout",
}
"""What is not told unless it is of another type, by the input and the field, and why."""


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.good} {subject.field}")
def test_what_a_model_refuses_is_told_by_its_rule_at_its_line(subject: Subject, tmp_path: Path) -> None:
    missed = {}
    for mutation in subject.mutations:
        field = joined(subject.field, mutation.field)
        free = any(subject.good == name and field.startswith(part) for name, part in UNTOLD)
        if mutation.kind == "retyped" or not free:
            missed[str(mutation)] = list(untold(subject, mutation, tmp_path))
    assert {name: told for name, told in missed.items() if told} == {}


def untold(subject: Subject, mutation: Mutation, folder: Path) -> Iterator[tuple[Breach, list[Told]]]:
    """What the model says of a value with the mutation and nobody else does, and what is said instead."""
    good = GOOD[subject.good]
    file = next(iter(good.files))
    content = changed(good.files[file], joined(subject.field, mutation.field), mutation.value)
    files = {name: written(name, each) for name, each in good.files.items()} | {file: written(file, content)}
    told, places = judged(folder, good, files), lines_of(file, content)
    for asked in breaches(subject.refuses, mutation.on(subject.value)):
        if not any(is_told(asked, subject, file, places, one) for one in told):
            yield asked, told


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.good} {subject.field}")
def test_a_model_takes_the_good_value_and_refuses_what_is_made_of_it(subject: Subject) -> None:
    assert breaches(subject.refuses, subject.value) == ()
    made = subject.mutations
    taken = [each for each in made if not breaches(subject.refuses, each.on(subject.value))]
    assert [str(each) for each in taken if each.kind not in ("out of range", "in other letters")] == []
    assert {each.field for each in made if each not in taken} >= {each.field for each in made}


DELEGTOPS_OWN = {"parent_session_id", "made_by", "errors.made_by", "error.made_by", "stack_trace"}
"""Fields that no document has, and no rule asks for: of a context, and of errors that delegtop wrote."""


def test_every_field_of_every_contract_is_broken() -> None:
    assert {subject.contract for subject in SUBJECTS} | {"agent-file"} == set(contracts.contracts())
    for contract in {subject.contract for subject in SUBJECTS}:
        subjects = [subject for subject in SUBJECTS if subject.contract == contract]
        asked = {field for subject in subjects for field in fields(subject.refuses) if not field.startswith("return.")}
        made = {each.field.replace("[0]", "") for one in subjects for each in one.mutations}
        assert asked - made - DELEGTOPS_OWN == set()


def joined(*fields: str) -> str:
    return ".".join(filter(None, fields))


def is_told(asked: Breach, subject: Subject, file: str, places: dict[str, int], told: Told) -> bool:
    field = joined(subject.field, asked.field)
    others = (rule for (good, name), (rule, _) in OTHERWISE.items() if good == subject.good and field.startswith(name))
    if told.rule not in (asked.rule or "LOG-002", *others):
        return False
    allowed = accepted_lines(field, places)
    return any(source == file and line in allowed for source, line in told.places)
