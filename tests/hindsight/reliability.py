"""How reliable the verdicts are: of what was called possible, likely or certain, how many were so.

    python tests/hindsight/reliability.py FACTS

FACTS is as for `make_known_durations.py`. Every call, answer and agent that took a minute or longer, and every
question, is told to delegtop as its log would (the call and the permission mode it was made in, and nothing that came
later), and its judges are asked at moments from half a minute to two days into it, as long as it was open. What is
known of other machines is made anew for each repository from all the others, so nothing is judged by itself.

Right is what a person stopped, rejected or had to answer, or what ran into its timeout; wrong is what went on by
itself. What the facts do not tell (the log ends) is left out. The last row of the table counts as right, too, what was
called a wait for a permission and was open for longer than its program lets a command run: that was not begun
(`past_their_limit.py`).
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.hindsight.make_known_durations import table
from tests.telling import T0

from delegtop.base.clock import SECOND, Millis
from delegtop.base.origin import Origin
from delegtop.base.zstd import decompress
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.verdicts import Kind, Verdict, judge
from delegtop.dialects.products import product
from delegtop.model.events import Event, Heard, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.known_durations import KNOWN
from delegtop.model.policy import Counts

Fact = dict[str, Any]
QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode", "EnterPlanMode"})
STOPS = ("rejected", "interrupted", "timeout")
BY_PERSON = ("rejected", "interrupted")
LEAST = 60
"""Seconds: nothing shorter is spoken of, but for questions."""
_MINUTES = (3, 4, 5, 6, 7.5, 9, 10, 12, 15, 17.5, 20, 25, 30, 40, 50, 60, 90, 120, 240, 480, 720, 1440, 2880)
LOOKS = (30, 61, 90, 120, *(int(minutes * 60) + 1 for minutes in _MINUTES))
"""Seconds into a call at which the judges are asked."""
SOON = 90
"""Seconds within which a prompt should be named."""
HERE = Origin("log.jsonl", 1, 0)
SURE = ("possible", "likely", "certain")


class Called(NamedTuple):
    """What was said of one fact: the first word, the surest, and when."""

    fact: Fact
    kind: Kind
    certainty: str
    after: int
    """Seconds until the first word."""

    @property
    def is_right(self) -> bool:
        return is_trouble(self.fact)

    @property
    def is_proved(self) -> bool:
        """Whether it is right also by what came of it: no command runs for longer than its program lets it."""
        fact, program = self.fact, product(self.fact["product"])
        asks = program.permissions if program else None
        unbegun = asks is not None and fact["what"] in asks.runs and 0 < asks.longest < fact["s"] * SECOND
        return self.is_right or (unbegun and self.kind is Kind.AWAITING_PERMISSION)


def is_trouble(fact: Fact) -> bool:
    return fact["end"] in STOPS or fact["label"] in ("stuck", "needs a person")


def is_question(fact: Fact) -> bool:
    return fact["what"] in QUESTIONS


def events(fact: Fact) -> Iterator[Event]:
    """What its log has told while it is open."""
    program, what = fact["product"], fact["what"]
    yield Started("top", T0, HERE, agent=program, depth=0, product=program)
    if fact["kind"] == "agent":
        yield Heard("top", T0, HERE, what, "Agent", phase=Phase.CHILD)
        yield Started("it", T0, HERE, agent=what, depth=1, parent="top", product=program)
        return
    id = "top"
    if fact["who"] == "child":
        id = "it"
        yield Heard("top", T0, HERE, phase=Phase.CHILD)
        yield Started("it", T0, HERE, depth=1, parent="top", product=program)
    if fact["kind"] == "model":
        yield Heard(id, T0, HERE, phase=Phase.MODEL, mode=fact["mode"])
    else:
        phase = Phase.ANSWER if is_question(fact) else Phase.TOOL
        yield Heard(id, T0, HERE, fact["program"] or None, what, phase=phase, since=T0, mode=fact["mode"])


def called(fact: Fact) -> Called | None:
    """What is said while it is open."""
    forest, found, after = Forest(), None, 0
    forest.apply(list(events(fact)))
    for seconds in LOOKS:
        if seconds >= fact["s"]:
            break
        forest.advance(Millis(T0 + seconds * SECOND))
        said = judge(Case(forest, len(forest) - 1))
        if said is not None and not said.kind.row.harmless:
            after = after or seconds
            found = said if found is None else _surer(found, said)
    return Called(fact, found.kind, found.certainty.value, after) if found else None


def _surer(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=lambda said: SURE.index(said.certainty))


def judged(facts: list[Fact]) -> list[Called]:
    """What is said of each, by what is known of the other repositories."""
    by_repo: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_repo[fact["repo"]].append(fact)
    found: list[Called] = []
    built_in = dict(KNOWN)
    for repo, own in by_repo.items():
        _know(table([fact for fact in facts if fact["repo"] != repo]))
        found += filter(None, map(called, filter(_is_asked, own)))
    _know(built_in)
    return found


def _know(counts: Mapping[tuple[str, str], Counts]) -> None:
    KNOWN.clear()
    KNOWN.update(counts)


def _is_asked(fact: Fact) -> bool:
    return fact["end"] != "censored" and (fact["s"] > LEAST or is_question(fact))


def hours(facts: list[Fact]) -> float:
    """How long the sessions were watched at work, about: waits of more than four hours are no work."""
    return (
        sum(min(float(each["s"]), 14_400) for each in facts if each["kind"] != "agent" and not each["parallel"]) / 3600
    )


def markdown(facts: list[Fact], found: list[Called]) -> str:
    watched = hours(facts)
    repos, sessions = len({fact["repo"] for fact in facts}), len({(fact["repo"], fact["session"]) for fact in facts})
    text = (
        f"{len(facts):,} calls, answers and agents of {sessions} sessions in {repos} repositories, {watched:.0f} hours."
    )
    text += "\n\n"
    text += "| verdict | certainty | given | right | went on by itself | right, % | wrong in 100 h |\n"
    text += "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
    rows: Counter[tuple[str, int]] = Counter((each.kind.value, SURE.index(each.certainty)) for each in found)
    right = Counter((each.kind.value, SURE.index(each.certainty)) for each in found if each.is_right)
    for (kind, sure), given in sorted(rows.items()):
        text += _row(kind, SURE[sure], given, right[kind, sure], watched)
    for sure, word in enumerate(SURE):
        given = sum(count for (_, at), count in rows.items() if at == sure)
        text += _row("**all**", word, given, sum(count for (_, at), count in right.items() if at == sure), watched)
    plain = [each for each in found if not is_question(each.fact)]
    text += _row("**all but questions**", "any", len(plain), sum(each.is_right for each in plain), watched)
    proved = sum(each.is_proved for each in plain)
    text += _row("the same, with commands that were not begun", "any", len(plain), proved, watched)
    return text + "\n" + "".join(_recall(facts, found))


def _row(kind: str, certainty: str, given: int, right: int, watched: float) -> str:
    share = f"{100 * right / given:.0f}" if given else "–"
    wrong = given - right
    return f"| {kind} | {certainty} | {given} | {right} | {wrong} | {share} | {100 * wrong / watched:.1f} |\n"


def _recall(facts: list[Fact], found: list[Called]) -> Iterator[str]:
    spoken = {id(each.fact): each for each in found}
    stops = [fact for fact in facts if fact["end"] in BY_PERSON and fact["s"] >= 180 and fact["kind"] != "silence"]
    for words, wanted in (
        ("Stopped by a person after three minutes or more", stops),
        ("The same without questions", [fact for fact in stops if not is_question(fact)]),
    ):
        told = [spoken[id(fact)].after for fact in wanted if id(fact) in spoken]
        middle = f", the median after {sorted(told)[len(told) // 2]} s" if told else ""
        yield f"{words}: {len(told)} of {len(wanted)} were spoken of{middle}.\n"
    prompts = [
        fact for fact in facts if fact["label"] == "needs a person" and not is_question(fact) and fact["s"] > SOON
    ]
    soon = [each for fact in prompts if (each := spoken.get(id(fact))) and each.after <= SOON]
    named = sum(each.kind is Kind.AWAITING_PERMISSION for each in soon)
    yield f"Prompts for a permission open for longer than {SOON} s: {named} of {len(prompts)} were named by then.\n"


def main() -> None:
    data = Path(sys.argv[1]).read_bytes()
    lines = (decompress(data) if sys.argv[1].endswith(".zst") else data).splitlines()
    facts = [fact for fact in map(json.loads, lines) if fact["kind"] != "silence"]
    sys.stdout.write(markdown(facts, judged(facts)))


if __name__ == "__main__":
    main()
