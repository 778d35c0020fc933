"""One entry of a CLEO manifest as a model: the ten fields of the subagent protocol, in its own words."""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from delegtop.protocols.cleo.manifest_contract import KEY_FINDINGS, Status, sentences
from delegtop.protocols.contract_model import ContractModel, Demand, Said, broken
from delegtop.protocols.standard.contract.artifact_paths import is_absolute

_FIELDS = "CLEO subagent protocol, Field Definitions"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_SLUG = r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*"


def _day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("day", "is no day of the calendar") from None
    return text


def _one_sentence(finding: str) -> str:
    if sentences(finding) > 1:
        raise broken("OUT-111", "", "has more than one sentence")
    return finding


class ManifestEntryModel(ContractModel):
    """What a subagent appends to the manifest, as one line."""

    id: Annotated[
        str,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-106"),
        Field(pattern=rf"^{_SLUG}-{_DAY}$", description="Unique identifier: {topic-slug}-{date}."),
    ]
    file: Annotated[
        str,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-107"),
        Field(pattern=rf"(^|/){_DAY}_[A-Za-z0-9_-]+\.md$", description="Output filename: {date}_{topic-slug}.md."),
    ]
    title: Annotated[Said, Demand(_FIELDS, "OUT-101", "OUT-103"), Field(description="Human-readable title.")]
    date: Annotated[
        str,
        AfterValidator(_day),
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-105"),
        Field(pattern=rf"^{_DAY}$", description="ISO date (YYYY-MM-DD)."),
    ]
    status: Annotated[
        Status,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-104"),
        Field(description="complete, partial, blocked."),
    ]
    topics: Annotated[
        tuple[Said, ...], Demand(_FIELDS, "OUT-101", "OUT-103"), Field(strict=False, description="Categorization tags.")
    ]
    key_findings: Annotated[
        tuple[Annotated[Said, AfterValidator(_one_sentence)], ...],
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-110"),
        Field(
            strict=False,
            min_length=KEY_FINDINGS[0],
            max_length=KEY_FINDINGS[1],
            description="3-7 one-sentence findings, in action-oriented language.",
        ),
    ]
    actionable: Annotated[
        bool, Demand(_FIELDS, "OUT-101", "OUT-103"), Field(description="Whether findings require action.")
    ]
    needs_followup: Annotated[
        tuple[Said, ...],
        Demand(_FIELDS, "OUT-101", "OUT-103"),
        Field(strict=False, description="Task IDs requiring attention; the reason, if partial or blocked."),
    ]
    linked_tasks: Annotated[
        tuple[Said, ...],
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-109"),
        Field(strict=False, min_length=1, description="Associated task IDs: the epic if there is one, and the task."),
    ]

    @model_validator(mode="after")
    def _agrees(self) -> "ManifestEntryModel":
        if not self.id.endswith(f"-{self.date}"):
            raise broken("OUT-106", "id", f"does not end with the date, {self.date}")
        if is_absolute(self.file) or not self.file.rpartition("/")[2].startswith(f"{self.date}_"):
            raise broken("OUT-107", "file", f"is not named by its date, {self.date}, below the output folder")
        if self.file.rpartition("/")[2].removesuffix(".md").removeprefix(f"{self.date}_") != self.id.removesuffix(
            f"-{self.date}"
        ):
            raise broken("OUT-107", "file", "has another topic than the id")
        if self.status != "complete" and not self.needs_followup:
            raise broken("OUT-130", "needs_followup", f"must say why the status is {self.status}")
        return self
