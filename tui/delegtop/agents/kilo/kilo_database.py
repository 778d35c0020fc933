"""Kilo: the database of OpenCode, which it was made from, under its own name and with tables of its own beside it."""

from pathlib import PurePath
from typing import ClassVar

from delegtop.agents.kilo import PRODUCT
from delegtop.agents.opencode.opencode_dialects import TABLES, OpenCode
from delegtop.dialects import About, Basis, Sample
from delegtop.dialects.signature import SQLITE, Signature

_OWN = "kilo_board"
"""A table that OpenCode has not."""


class Kilo(OpenCode):
    """Reads `kilo.db`."""

    name: ClassVar[str] = "kilo"
    title: ClassVar[str] = "Kilo database"
    product = PRODUCT
    surest: ClassVar[int] = 85
    signatures: ClassVar[tuple[Signature, ...]] = (
        Signature((SQLITE,), "kilo"),
        Signature((SQLITE,), columns=(*TABLES, _OWN)),
    )
    about: ClassVar[About] = About(
        "Kilo 7.7",
        "`~/.local/share/kilo/kilo*.db`",
        "tree, status, tool, tokens, cost, prompts, answers, model, folder",
        Basis.MADE,
    )
    files: ClassVar[tuple[str, ...]] = ("kilo*.db",)

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        if not sample.stores(*TABLES, named="kilo*.db"):
            return 0
        return 85 if _OWN in sample.columns or PurePath(sample.path).match("kilo*.db") else 0
