"""What is declared of a fact. The table itself is `Delegation`: each of its fields is a row.

To add a fact is to add a row there, with the field of the event that tells it; documents and their schema, the filter,
the inspector, what is masked, where sources disagree and the pages of the documentation follow from the row.
"""

from typing import Any, Literal

import msgspec

Merge = Literal["identity", "first", "earliest", "latest", "largest", "strongest", "union"]
"""What counts where several records tell it: it is what all of them are joined by; the first of the starts (a log
before a registry, the better clock, the earlier record), the next filling in what it leaves open; the earliest
description, one without a time only where no other speaks; the last sign of life, or whoever saw it later; the largest
number or latest moment; the strongest word for its end; all that is told."""
Form = Literal["plain", "moment", "seconds", "own", "none"]
"""How it is written in a document: as it is; milliseconds since 1970 as a moment in UTC; milliseconds as seconds; in a
way of its own, which `report/tree_json.py` has; not by itself."""


class Fact(msgspec.Struct):
    """One row of the table."""

    meaning: str
    """In a sentence: of the field in the schema and its page, and of the filter key."""
    merge: Merge
    more: str = ""
    """What a reader of documents must know beside it."""
    told_as: str = ""
    """The field of the event that tells it, if it is named otherwise there."""
    contested: bool = False
    """Whether sources that differ on it disagree."""
    json: str = ""
    """Its name in documents, if it is another there."""
    form: Form = "plain"
    filter: str = ""
    """An example of the key by which one filters for it, if there is one: a word, or a number to compare."""
    filter_meaning: str = ""
    """If the key looks at less than the whole fact."""
    label: str = ""
    """Of its row in the inspector; facts of one label share one. Empty where the page has its own place for it."""
    masked: bool = False
    """It is free text, in which secrets are hidden. What one looks a thing up by is not."""
    name: str = ""
    """Of the field that carries it."""
    type: Any = None
    """Of that field."""

    @property
    def description(self) -> str:
        return f"{self.meaning} {self.more}".rstrip()


class FactTable:
    """The rows of a struct, in the order of its fields: a row is what stands where the default of a field does."""

    def __init__(self) -> None:
        self._rows: list[Fact] = []

    def row(self, meaning: str, merge: Merge, more: str = "", default: object = None, **declared: Any) -> Any:
        """Declare a fact; gives the default of its field."""
        self._rows.append(Fact(meaning, merge, more, **declared))
        return default

    def named(self, *structs: type[msgspec.Struct]) -> dict[str, Fact]:
        """All rows by the names of their fields; a field without a row is an error."""
        fields = [field for struct in structs for field in struct.__annotations__.items()]
        for fact, (name, kind) in zip(self._rows, fields, strict=True):
            fact.name, fact.type = name, kind
            fact.told_as, fact.json = fact.told_as or name, fact.json or name
        return {fact.name: fact for fact in self._rows}
