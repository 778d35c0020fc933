"""The filter language: what it matches, what it refuses, and what it lets pass while someone types."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import HOUR, MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Heard, Outcome, Report, Started
from delegtop.model.forest import Forest
from delegtop.model.query import ALIASES, KEYS, QueryError, parse
from delegtop.model.states import State

NOW = Millis(1_766_743_200_000)


def origin(line: int) -> Origin:
    return Origin("logs/run.jsonl", line, line * 100)


def ago(span: int) -> Millis:
    return Millis(NOW - span)


@pytest.fixture(scope="module")
def forest() -> Forest:
    """/implement 191 waits on an implementer that is overdue; a researcher is done; a stranger has told nothing."""
    return forest_at(
        NOW,
        [
            Started(
                "sess_1_root", ago(2 * HOUR), origin(1), command="implement", task="191", depth=0, timeout=9 * HOUR
            ),
            Started(
                "sess_2_impl",
                ago(HOUR + MINUTE),
                origin(2),
                agent="implementer",
                path=("orchestrator", "implement", "implementer"),
                depth=1,
                timeout=HOUR,
                parent="sess_1_root",
                host="build-7",
            ),
            Heard("sess_2_impl", ago(2 * MINUTE), origin(3), doing="bash: lake build", tokens=12_000),
            Started("sess_3_res", ago(HOUR), origin(4), agent="researcher", timeout=HOUR, depth=0),
            Ended(
                "sess_3_res",
                ago(30 * MINUTE),
                origin(5),
                Outcome.COMPLETED,
                Ending.RETURN,
                Report(status="completed", summary="Found three [lemmas]"),
            ),
            Heard("sess_4_odd", ago(MINUTE), origin(6)),
        ],
    )


def found(forest: Forest, text: str) -> str:
    """The numbers of the delegations that match, such as "13"."""
    query = parse(text)
    return "".join(sorted(forest.delegation(h).id[5] for h in forest.walk() if query.matches(forest, h)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1234"),
        ("IMPLEMENTER", "2"),
        ("implement", "12"),
        ("/implement", "12"),
        ('"/implement 191"', "1"),
        ("lemmas", "3"),
        ("completed", "3"),
        ("lake bash", "2"),
        ("lake researcher", ""),
        ("lake|researcher", "23"),
        ("!implement", "34"),
        ("!!implement", "12"),
        ("state:overdue", "2"),
        ("status:overdue", "2"),
        ("STATE:Over", "2"),
        ("state:overdue,completed", "23"),
        ("state:overdue|completed", "23"),
        ("!state:completed", "124"),
        ("state=overdue", "2"),
        ("agent:impl*", "2"),
        ("agent:*er", "23"),
        ("agent:research", "3"),
        ("agent=research", ""),
        ("agent=researcher", "3"),
        ("!agent:*", "14"),
        ("command:implement", "1"),
        ("task=191", "1"),
        ("id:_3_", "3"),
        ("path:*/implement/*", "2"),
        ('doing:"lake build"', "2"),
        ('doing:"bash: l*"', "2"),
        ("depth>0", "2"),
        ("depth>=0 depth<1", "134"),
        ("depth:1", "2"),
        ("depth:0,1", "1234"),
        ("left<0", "2"),
        ("left<-30s", "2"),
        ("left<-5m", ""),
        ("left<=-1m", "2"),
        ("left<8h", "12"),
        ("left>=5m", "1"),
        ("!left:*", "34"),
        ("age>1h", "12"),
        ("age:30m", "3"),
        ("age>=1h1m", "12"),
        ("quiet>90", "12"),
        ("quiet>90s quiet<1h", "2"),
        ("tokens>11k", "2"),
        ("tokens>0", "2"),
        ("source:*.jsonl", "1234"),
        ("link:root", "134"),
        ("link:explicit", "2"),
        ("host:build-?", "2"),
        ('"state:overdue"', ""),
        ("summary", ""),
        ("agent:im[p]l*", ""),
    ],
)
def test_a_filter_finds_what_it_says(forest: Forest, text: str, expected: str) -> None:
    assert found(forest, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(f"state:{state}" for state in State),
        "!state:overdue",
        "state:over* state:waiting,overdue",
        "!state:lost age>1h",
    ],
)
def test_all_at_once_are_found_as_each_by_itself(forest: Forest, text: str) -> None:
    query = parse(text)
    assert query.among(forest) == {handle for handle in range(len(forest)) if query.matches(forest, handle)}


def test_who_came_after_the_last_look_is_found_as_unknown() -> None:
    forest = Forest()
    forest.apply([Started("sess_1", NOW, origin(1))])
    assert parse("state:unknown").among(forest) == {0}
    forest.advance(NOW)
    assert parse("state:unknown").among(forest) == set()
    assert parse("state:running").among(forest) == {0}


def test_what_is_not_known_matches_no_comparison(forest: Forest) -> None:
    assert found(forest, "left<99d") == found(forest, "left:*") == "12"
    assert found(forest, "id:_4_ age>0") == found(forest, "id:_4_ age<=0") == ""


@pytest.mark.parametrize(
    "text", ["state:", "left<", "left<-", "!", "!!", '"', '""', 'doing:"', "agent=", "|", "state:,"]
)
def test_a_term_that_is_only_begun_filters_nothing(forest: Forest, text: str) -> None:
    assert not parse(text)
    assert found(forest, text) == "1234"


def test_an_open_quote_reaches_to_the_end(forest: Forest) -> None:
    assert found(forest, 'doing:"lake bui') == "2"


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("stat:overdue", 0, "did you mean state?"),
        ("x colour:red", 2, "there are state, agent"),
        ("bash:x", 0, 'quote it: "bash:x"'),
        ("state:hung", 6, "no state is named hung: there are running"),
        ("link:sure", 5, "root, explicit, inferred, ambiguous"),
        ("depth>two", 6, "a number such as"),
        ("left<5 minutes left<soon", 20, "not soon"),
        ("!left<1h3", 6, "such as 90s, 5m or 1h30m"),
        ("agent>3", 6, "cannot be compared by >: write agent:impl*"),
    ],
)
def test_what_cannot_be_understood_is_said_with_its_place(text: str, position: int, words: str) -> None:
    with pytest.raises(QueryError, match=re.escape(words)) as caught:
        parse(text)
    assert caught.value.position == position
    assert str(caught.value).endswith(f"(at character {position + 1})")


@given(st.text(alphabet='state:left<>=!|,"*?[5mk -\\\n', max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse(text)
    except QueryError as error:
        assert 0 <= error.position <= len(text)  # noqa: PT017 - either outcome is fine, but an error must point into the text


def test_a_pattern_of_many_stars_is_quick() -> None:
    forest = forest_at(NOW, [Started("s", NOW, origin(1), agent="a" * 5_000)])
    assert found_any(forest, "agent:" + "a*" * 30 + "b") is False


def found_any(forest: Forest, text: str) -> bool:
    query = parse(text)
    return any(query.matches(forest, handle) for handle in forest.walk())


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_the_example_of_every_key_is_understood(key: object) -> None:
    assert parse(getattr(key, "example"))  # noqa: B009 - parametrize hides the type


def test_the_page_lists_every_key_as_the_program_knows_it(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "filter.md"
    begin, end = "<!-- keys: begin -->\n", "<!-- keys: end -->"
    before, rest = page.read_text("utf-8").split(begin)
    table = "| key | what it is | example |\n| --- | --- | --- |\n"
    for key in KEYS:
        others = [f"`{alias}`" for alias, name in ALIASES.items() if name == key.name]
        names = ", ".join([f"`{key.name}`", *others])
        example = key.example.replace("|", "\\|")
        table += f"| {names} | {key.meaning} | `{example}` |\n"
    if update_golden:
        page.write_text(before + begin + table + end + rest.split(end)[1], "utf-8")
    assert rest.split(end)[0] == table or update_golden
