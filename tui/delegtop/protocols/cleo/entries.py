"""What the rules on CLEO subagents have in common: which rows are entries, and the parts of an output file."""

import re

from delegtop.diagnosis.case import Case
from delegtop.model import notes as kinds
from delegtop.model.events import Ending
from delegtop.protocols.cleo import PRODUCT
from delegtop.protocols.noted_drift import notes

_HEADING = re.compile(r"^#{1,3}[ \t]+(?:[\d.]{1,8}[ \t]+)?(.+)$", re.MULTILINE)


def is_entry(case: Case) -> bool:
    """True for what a manifest tells of, not for a task, an agent or a response."""
    facts = case.facts
    return facts.product == PRODUCT.name and facts.ended_by is Ending.RETURN and not notes(case, kinds.RESPONSE)


def headings(text: str) -> set[str]:
    """The headings of an output file, in small letters."""
    return {heading.strip(" \t\r#").lower() for heading in _HEADING.findall(text)}


def section(text: str, title: str) -> str | None:
    """What stands below the heading of this title, up to the next heading; None if there is none."""
    for heading in _HEADING.finditer(text):
        if heading[1].strip(" \t\r#").lower() == title:
            following = _HEADING.search(text, heading.end())
            return text[heading.end() : following.start() if following else len(text)].strip()
    return None
