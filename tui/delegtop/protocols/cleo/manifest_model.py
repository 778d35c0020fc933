"""One entry of a CLEO manifest as a model: the ten fields of the subagent protocol, in its own words.

It is the entry of the first version. What later versions leave out stands in `manifest_contract.RICH`.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from delegtop.protocols.cleo.manifest_contract import KEY_FINDINGS, Status
from delegtop.protocols.contract_model import ContractModel, Demand, Said, broken, some, when
from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute
from delegtop.protocols.standard.contract.sentence_count import sentences

_FIELDS = "CLEO subagent protocol, Field Definitions"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_SLUG = r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*"


def _blank(given: Any) -> Any:
    """What says nothing is as good as missing, whatever form the field has."""
    if isinstance(given, str) and not given.strip():
        raise PydanticCustomError("blank", "is empty")
    return given


def _item(text: str) -> str:
    if not text.strip():
        raise broken("OUT-103", "", "is empty")
    return text


def _word(given: Any) -> Any:
    if not isinstance(given, str):
        raise PydanticCustomError("string_type", "is no text")
    return _blank(given)


def _counted(rule: str, least: int, most: int | None = None) -> BeforeValidator:
    """Looks at the list as it is given: one whose items are not as asked for is not shorter for that."""

    def judge(given: Any) -> Any:
        if isinstance(given, list | tuple) and len(given) < least:
            raise broken(rule, "", f"has {len(given)}, at least {least} asked for")
        if isinstance(given, list | tuple) and most is not None and len(given) > most:
            raise broken(rule, "", f"has {len(given)}, more than {most}")
        return given

    return BeforeValidator(judge)


_Formed = BeforeValidator(_blank)
_Item = Annotated[str, Field(json_schema_extra={"minLength": 1}), AfterValidator(_item)]


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

    model_config = ConfigDict(json_schema_extra=when("status", ["partial", "blocked"], some("needs_followup")))

    id: Annotated[
        str,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-106"),
        Field(pattern=rf"^{_SLUG}-{_DAY}$", description="Unique identifier: {topic-slug}-{date}."),
        _Formed,
    ]
    file: Annotated[
        str,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-107"),
        Field(pattern=rf"(^|/){_DAY}_[A-Za-z0-9_-]+\.md$", description="Output filename: {date}_{topic-slug}.md."),
        _Formed,
    ]
    title: Annotated[Said, Demand(_FIELDS, "OUT-101", "OUT-103"), Field(description="Human-readable title.")]
    date: Annotated[
        str,
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-105"),
        Field(pattern=rf"^{_DAY}$", description="ISO date (YYYY-MM-DD)."),
        AfterValidator(_day),
        _Formed,
    ]
    status: Annotated[
        Status,
        BeforeValidator(_word),
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-104"),
        Field(description="complete, partial, blocked."),
    ]
    topics: Annotated[
        tuple[_Item, ...],
        Demand(_FIELDS, "OUT-101", "OUT-103"),
        Field(strict=False, description="Categorization tags."),
    ]
    key_findings: Annotated[
        tuple[Annotated[_Item, AfterValidator(_one_sentence)], ...],
        _counted("OUT-110", *KEY_FINDINGS),
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-110"),
        Field(
            strict=False,
            description="3-7 one-sentence findings, in action-oriented language.",
            json_schema_extra={"minItems": KEY_FINDINGS[0], "maxItems": KEY_FINDINGS[1]},
        ),
    ]
    actionable: Annotated[
        bool, Demand(_FIELDS, "OUT-101", "OUT-103"), Field(description="Whether findings require action.")
    ]
    needs_followup: Annotated[
        tuple[_Item, ...],
        Demand(_FIELDS, "OUT-101", "OUT-103"),
        Field(strict=False, description="Task IDs requiring attention; the reason, if partial or blocked."),
    ]
    linked_tasks: Annotated[
        tuple[_Item, ...],
        _counted("OUT-109", 1),
        Demand(_FIELDS, "OUT-101", "OUT-103", "OUT-109"),
        Field(
            strict=False,
            description="Associated task IDs: the epic if there is one, and the task.",
            json_schema_extra={"minItems": 1},
        ),
    ]

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, value: Any) -> Any:
        """What is null is not there."""
        return {key: each for key, each in value.items() if each is not None} if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _agrees(self) -> "ManifestEntryModel":
        if not self.id.endswith(f"-{self.date}"):
            raise broken("OUT-106", "id", f"does not end with the date, {self.date}")
        if is_absolute(self.file) or climbs(self.file) or not self.file.rpartition("/")[2].startswith(f"{self.date}_"):
            raise broken("OUT-107", "file", f"is not named by its date, {self.date}, below the output folder")
        if self.file.rpartition("/")[2].removesuffix(".md").removeprefix(f"{self.date}_") != self.id.removesuffix(
            f"-{self.date}"
        ):
            raise broken("OUT-107", "file", "has another topic than the id")
        if self.status != "complete" and not self.needs_followup:
            raise broken("OUT-130", "needs_followup", f"must say why the status is {self.status}")
        return self
