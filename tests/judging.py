"""Delegations of a forest judged in one line: what the rules find, what the verdict is, what is the matter."""

from collections.abc import Iterable, Iterator

from delegtop.diagnosis.assessment import Assessment, assess
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import Case, Exists, PathEnds, Read, unread, unseen
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.path_ends import JudgedEnds
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.sentence import say
from delegtop.diagnosis.verdicts import Verdict, judge
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle


def found(
    forest: Forest,
    handle: Handle,
    exists: Exists = unseen,
    rules: Iterable[Rule] | None = None,
    read: Read = unread,
    ends: PathEnds | None = None,
) -> tuple[Finding, ...]:
    """What the rules find about one delegation."""
    return diagnose(Case(forest, handle, exists, read, ends=ends), rules)


def all_found(forest: Forest, exists: Exists = unseen, rules: Iterable[Rule] | None = None) -> Iterator[Finding]:
    """What they find about every delegation, parents before children."""
    asked, ends = None if rules is None else tuple(rules), JudgedEnds(forest)
    for handle in forest.walk():
        yield from found(forest, handle, exists, asked, ends=ends)


def verdict(forest: Forest, handle: Handle) -> Verdict | None:
    return judge(Case(forest, handle))


def message(forest: Forest, verdict: Verdict) -> str:
    """What a verdict says at the moment the forest shows."""
    return say(verdict.sentence, forest.shown_at)


def assessed(forest: Forest, handle: Handle = 0) -> Assessment:
    """What is the matter with one delegation, judged by itself."""
    return assess(Case(forest, handle))


def problems(forest: Forest) -> list[Assessment]:
    """All problems in the order of looking."""
    assessments = Assessments(forest)
    assessments.update()
    return assessments.problems()
