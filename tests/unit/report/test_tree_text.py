"""The printed tree and its JSON: made from small forests, compared as text."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.telling import forest_at

from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, iso
from delegtop.base.origin import Origin, kernel
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.events import (
    Artifact,
    Awaited,
    Described,
    Deviation,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Outlook,
    Phase,
    ProcessSeen,
    Report,
    Started,
    WaitsFor,
)
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.order import SORTS, order
from delegtop.report import tree_json, tree_text
from delegtop.report.layout import cells, cut, fit
from delegtop.report.table.drawing import ASCII, SPOKEN
from delegtop.report.tree_text import Look
from delegtop.report.walk import rows
from delegtop.sources.records import Unreadable

NOW = Millis(1_766_743_200_000)
HOSTILE = "\x1b]52;c;aGk=\x07 [red]x[/x] \x9b31m \u202eevil\n\x7f"


class Status(msgspec.Struct, frozen=True):
    """A source as the feed would tell of it."""

    path: str = "logs/run.jsonl"
    dialect: str | None = "session-log"
    records: int = 12
    unreadable: int = 0
    status: str = "live"
    detail: str = ""
    deviations: int = 0
    reasons: dict[str, int] = {}
    examples: tuple[Unreadable | Deviation, ...] = ()


def at(line: int) -> Origin:
    return Origin("logs/run.jsonl", line, line * 100)


def ago(span: int) -> Millis:
    return Millis(NOW - span)


def grown(*events: Event) -> Forest:
    return forest_at(NOW, events)


@pytest.fixture
def forest() -> Forest:
    return grown(
        Started("root", ago(14 * MINUTE), at(1), command="implement", task="191", depth=0, timeout=HOUR),
        Started("exec", ago(13 * MINUTE), at(2), agent="task-executor", depth=1, timeout=HOUR, parent="root"),
        Started("impl", ago(12 * MINUTE), at(3), agent="implementer", depth=2, timeout=10 * MINUTE, parent="exec"),
        Heard("impl", ago(11 * MINUTE), at(4), doing="bash: lake build", tool="bash", tokens=1200, cost=0.25),
        Started(
            "res", ago(20 * MINUTE), at(5), agent="researcher", depth=3, timeout=HOUR, path=("orchestrator", "research")
        ),
        Ended(
            "res",
            ago(10 * MINUTE),
            at(6),
            Outcome.FAILED,
            Ending.RETURN,
            Report(
                status="failed",
                summary="No network",
                artifacts=(Artifact("specs/r.md", "report", None),),
                errors=(Fault("host unreachable", "network", "E1", True, "try again later"),),
                next_steps="retry",
            ),
        ),
    )


def printed(forest: Forest, sources: Sequence[Status] = (), **how: Any) -> str:
    return "\n".join(tree_text.tree(forest, sources, **how))


def test_it_reads_the_same_in_whatever_order_it_was_told() -> None:
    """Two that are alike have the same place."""
    told = [Started(each, ago(30 * MINUTE), at(1), agent=each, timeout=10 * MINUTE) for each in ("b", "a", "c")]
    assert printed(grown(*told)) == printed(grown(*reversed(told)))


def test_the_tree_reads_as_text(forest: Forest) -> None:
    assert printed(forest, look=Look(width=100)) == (
        "4 delegations at 2025-12-26T10:00:00Z: 2 waiting, 1 overdue, 1 failed.\n"
        "\n"
        "DELEGATION          STATE               D     LEFT   QUIET DOING\n"
        "researcher          ✖ failed            3                  host unreachable\n"
        "/implement 191      ◐ waiting           0      46m   14:00 on implementer: hung in a tool\n"
        "└─ task-executor    ◐ waiting           1      46m   13:00 on implementer: hung in a tool\n"
        "  └─ implementer ◀2 ! hung in a tool    2    +2:00   11:00 bash: lake build\n"
        "\n"
        "1≠2 in DEPTH: it claims 1, its path or place says 2\n"
        "\n"
        "What to do\n"
        "  implementer (hung in a tool): It has been inside bash: lake build for 11:00, 2:00 past its deadline. "
        "task-executor and /implement 191 wait for it.\n"
        "    1 delegtop says: Stop the process of the tool unless it still does something: the agent then goes on with "
        "an error.\n"
        "    2 to resume: Once it is stopped: typed to the orchestrator, it takes the task up again\n"
        "      /implement 191\n"
        "    3 delegtop says: Its use of the processor, and what it writes, tell whether it does.\n"
        "  researcher (failed): It ended failed 10:00 ago: host unreachable.\n"
        "    1 the agent says: try again later\n"
        "    2 the agent says: retry\n"
        "    3 delegtop says: See what it had done by then (its last records), put right what is in the way, and ask "
        "for it again."
    )


def parallel(*more: Event) -> Forest:
    """One that waits for four agents, of which three may wait for a permission and one hangs for certain."""
    told = [Started("top", ago(6 * MINUTE), at(1), agent="claude", depth=0, product="claude-code")]
    for line, id in enumerate(("one", "two", "hung", "three"), 2):
        began = ago(5 * MINUTE - line * SECOND)
        told.append(Started(id, began, at(line), agent=id, parent="top", product="claude-code"))
    beats = [Heard(id, ago(4 * MINUTE), at(9), tool="Grep", phase=Phase.TOOL, mode="default") for id in IDLERS]
    hangs = Heard("hung", ago(4 * MINUTE + SECOND), at(9), "flock x", "Bash", phase=Phase.TOOL, mode="default")
    seen = ProcessSeen(
        "hung", ago(MINUTE), kernel(7), 7, WaitsFor.LOCK, "a lock", Outlook.ENDLESS, ago(4 * MINUTE), fits=FITS
    )
    return grown(*told, *beats, hangs, seen, *more)


IDLERS = ("one", "two", "three")
FITS = ("descendant", "started", "command")


def test_of_several_children_in_trouble_every_place_names_the_one_that_ranks_first() -> None:
    forest = parallel()
    text, nodes = printed(forest, look=Look(width=120)), {each["id"]: each for each in as_json(forest)["delegations"]}
    assert nodes["hung"]["rank"] == 1
    assert nodes["top"]["waiting_on"] == "hung"
    assert [nodes[id]["assessment"]["blocks"] for id in ("hung", *IDLERS)] == [["top"], [], [], []]
    assert "claude waits for it" in nodes["hung"]["assessment"]["sentence"]
    assert nodes["top"]["assessment"]["sentence"] == "It waits on hung."
    assert re.search(r"^claude .* on hung: hung in a tool$", text, re.M)
    assert re.findall(r"(\w+) ◀1", text) == ["hung"]
    assert text.count("waits for it") == 1


def test_what_is_certain_comes_before_what_is_likely_and_newer() -> None:
    both = [
        Started(id, ago(40 * MINUTE), at(1), agent=id, depth=0, product="claude-code") for id in ("certain", "likely")
    ]
    hangs = Heard("certain", ago(39 * MINUTE), at(2), "flock x", "Bash", phase=Phase.TOOL)
    seen = ProcessSeen(
        "certain", ago(MINUTE), kernel(7), 7, WaitsFor.LOCK, "a lock", Outlook.ENDLESS, ago(4 * MINUTE), fits=FITS
    )
    asked = Heard("likely", ago(MINUTE), at(3), phase=Phase.MODEL, since=ago(20 * MINUTE), asked=9)
    found = Assessments(grown(*both, hangs, seen, asked))
    found.update()
    first, second = found.problems()
    assert (first.certainty, second.certainty, first.urgency) == ("certain", "likely", second.urgency)
    assert (first.since or 0) < (second.since or 0)


def asked_again(last: int, first: int) -> Forest:
    """One that asked its model three times and went on with nothing else."""
    began = Started("it", ago(first), at(1), agent="claude", depth=0, product="claude-code")
    return grown(began, Heard("it", ago(last), at(2), phase=Phase.MODEL, since=ago(first), asked=3))


def test_one_that_is_lost_has_one_silence_since_it_was_last_heard_of() -> None:
    forest = asked_again(last=60 * HOUR, first=61 * HOUR)
    row, text = as_json(forest)["delegations"][0], printed(forest, look=Look(width=200))
    assert row["last_heard_at"] == iso(ago(60 * HOUR))
    assert row["reason"].startswith("nothing heard for 2d12h;")
    assert "nothing heard for 2d12h;" in row["assessment"]["sentence"]
    assert re.search(r"^claude .* 2d13h +2d12h +nothing heard for 2d12h;", text, re.M)
    assert text.count("2d13h") == 1  # its age


def test_one_that_asks_its_model_again_and_again_says_so_wherever_it_says_for_how_long() -> None:
    forest = asked_again(last=20 * SECOND, first=4 * MINUTE)
    row, text = as_json(forest)["delegations"][0], printed(forest, look=Look(width=120))
    assert (row["state"], row["last_heard_at"]) == ("silent", iso(ago(20 * SECOND)))
    assert (row["phase_since"], row["asked"]) == (iso(ago(4 * MINUTE)), 3)
    assert row["reason"] == "it asked the model 3 times in 4:00, and no answer came"
    assert row["assessment"]["sentence"] == "It asked the model 3 times in 4:00, and no answer came; quiet is not hung."
    assert re.search(r"^claude .* 4:00 waits for the model, asked 3 times$", text, re.M)


def working(ahead: int) -> Forest:
    began = Started("it", ago(-ahead), at(1), agent="claude", depth=0, product="claude-code")
    return grown(began, Heard("it", ago(-ahead), at(2), "make", "Bash", phase=Phase.TOOL))


def test_a_log_that_is_ahead_of_the_clock_says_by_how_much_and_no_age() -> None:
    forest = working(5 * HOUR)
    row, text = as_json(forest)["delegations"][0], printed(forest, look=Look(width=200))
    assert re.search(r"^claude +▶ running +0 +its log is 5:00:00 ahead of the clock: Bash: make$", text, re.M)
    assert "AGE" not in text
    assert (row["state"], row["reason"]) == ("running", "its log is 5:00:00 ahead of the clock")
    assert row["assessment"]["sentence"].startswith("Its log is ahead of the clock, so nobody can say for how long.")
    assert [(each["rule"], "5:00:00 ahead" in each["message"]) for each in row["findings"]] == [("LOG-005", True)]


def test_that_a_log_is_some_seconds_ahead_is_no_news() -> None:
    forest = working(40 * SECOND)
    row, text = as_json(forest)["delegations"][0], printed(forest, look=Look(width=200))
    assert re.search(r"^claude +▶ running +0 +0:00 +0:00 +Bash: make$", text, re.M)
    assert (row["reason"], row["findings"]) == ("", [])


def test_in_a_pipe_nothing_is_cut(forest: Forest) -> None:
    assert "bash: lake build" in printed(forest, look=Look(width=40, cuts=False))


def test_advice_handed_up_a_path_is_told_once_by_its_source() -> None:
    advice = (Fault("no tool", recommendation="install it"),)
    family = grown(
        Started("up", ago(MINUTE), at(1), agent="executor"),
        Started("low", ago(MINUTE), at(2), agent="implementer", parent="up"),
        Ended("low", ago(0), at(3), Outcome.FAILED, Ending.RETURN, Report("failed", errors=advice)),
        Ended("up", ago(0), at(4), Outcome.FAILED, Ending.RETURN, Report("failed", errors=advice)),
    )
    shown = printed(family).splitlines()
    told = shown[shown.index("What to do") + 1 :]
    assert told[0] == "  implementer (failed): It ended failed 0:00 ago: no tool."
    assert told[1] == "    1 the agent says: install it"
    assert sum("install it" in line for line in told) == 1
    assert not any("executor (" in line for line in told)


def test_what_is_old_is_told_in_a_line_while_something_is_the_matter_now(forest: Forest) -> None:
    old = Started("old", ago(9 * HOUR), at(7), agent="planner")
    forest.apply([old, Ended("old", ago(8 * HOUR), at(8), Outcome.FAILED, Ending.RETURN)])
    forest.advance(NOW)
    told = printed(forest).partition("What to do")[2].splitlines()
    assert told[-1] == "  Earlier: 1 failed"
    assert not any("planner" in line for line in told)


def described() -> Forest:
    """A session of a real agent with two helpers below it."""
    return grown(
        Started("root", ago(9 * MINUTE), at(1), agent="claude", product="claude-code"),
        Heard("root", ago(8 * MINUTE), at(2), tokens=1_000, cost=0.5),
        Started("kid", ago(7 * MINUTE), at(3), agent="Explore", product="claude-code", parent="root"),
        Described(
            "kid", ago(7 * MINUTE), at(3), "Find the leak", "scout", "opus", "Use password=hunter2", "/home/me", "2.1"
        ),
        Heard("kid", ago(MINUTE), at(4), "psql postgres://me:hunter2@db", "Bash", 500, 0.25, Phase.PERMISSION),
        Noted("kid", ago(MINUTE), at(5), "review", "it wants to drop a table with token=abcd1234efgh"),
        Awaited("kid", ago(MINUTE), at(6), Millis(NOW + HOUR), "wait_agent"),
        Started("grandkid", ago(MINUTE), at(7), agent="Explore", product="claude-code", parent="kid"),
        Heard("grandkid", ago(SECOND), at(8), tokens=30),
    )


def test_a_name_has_its_title_beside_it_and_what_waits_for_a_person_is_told() -> None:
    shown = printed(described(), look=Look(width=160)).splitlines()
    assert shown[4].startswith("└─ Explore scout ◀1  Find the leak ◐ needs review ")
    assert shown[4].endswith("asks permission: Bash: psql postgres://me:[masked]@db")


def test_what_a_person_must_review_is_told_whatever_its_state() -> None:
    shown = printed(described())
    sentence = "A person must look before it goes on: it wants to drop a table with token=[masked]"
    assert f"  Explore “Find the leak” (needs review): {sentence}" in shown


def test_secrets_are_printed_only_where_that_is_asked_for() -> None:
    assert "hunter2" not in printed(described(), look=Look(width=300))
    assert "postgres://me:hunter2@db" in printed(described(), look=Look(width=300, masked=False))


def test_json_tells_who_it_is_what_it_waits_for_and_what_all_below_it_used() -> None:
    nodes = {node["id"]: node for node in as_json(described())["delegations"]}
    kid = nodes["kid"]
    told = {name: kid[name] for name in ("product", "version", "title", "own_name", "model", "phase", "cwd")}
    assert told == {
        "product": "claude-code", "version": "2.1", "title": "Find the leak", "own_name": "scout", "model": "opus",
        "phase": "permission", "cwd": "/home/me",
    }  # fmt: skip
    assert kid["wait"] == {"until": iso(Millis(NOW + HOUR)), "by": "wait_agent"}
    assert [(note["kind"], note["line"]) for note in kid["notes"]] == [("review", 5)]
    assert (kid["tokens"], kid["subtree_tokens"], kid["subtree_cost"]) == (500, 530, 0.25)
    assert (nodes["root"]["subtree_tokens"], nodes["root"]["subtree_cost"]) == (1_530, 0.75)
    assert (nodes["grandkid"]["subtree_tokens"], nodes["grandkid"]["subtree_cost"]) == (30, None)


def test_json_holds_prompts_and_secrets_only_where_they_are_asked_for() -> None:
    assert as_json(described())["delegations"][1]["prompt"] is None
    assert as_json(described(), prompts=True)["delegations"][1]["prompt"] == "Use password=[masked]"
    assert as_json(described(), prompts=True, masked=False)["delegations"][1]["prompt"] == "Use password=hunter2"
    assert "hunter2" not in json.dumps(as_json(described(), prompts=True))


def as_json(forest: Forest, **how: Any) -> Any:
    return json.loads("\n".join(tree_json.tree(forest, (), **how)))


def test_ascii_output_is_ascii(forest: Forest) -> None:
    assert printed(forest, [Status()], look=Look(ASCII)).isascii()


def test_plain_output_draws_nothing(forest: Forest) -> None:
    lines = printed(forest, look=Look(SPOKEN)).splitlines()
    assert lines[4].startswith("/implement 191 ")
    assert lines[6].startswith("     implementer ")
    assert not set("|`") & set("\n".join(lines))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_the_state_is_never_left_out_and_no_line_is_too_long(forest: Forest, width: int) -> None:
    table = printed(forest, look=Look(width=width)).splitlines()[2:7]
    assert [sign for line in table for sign in line.split() if sign in "✖◐!"] == ["✖", "◐", "◐", "!"]
    if width >= 60:
        told = ("✖ failed ", "◐ waiting ", "◐ waiting ", "! hung in a tool ")
        assert all(words in line for words, line in zip(told, table[1:], strict=True))
    assert max(map(cells, table)) <= width


def test_colour_touches_only_the_state(forest: Forest) -> None:
    coloured = printed(forest, look=Look(color=True))
    assert "\x1b[1;31m! hung in a tool  \x1b[0m" in coloured
    assert coloured.count("\x1b") == 8
    assert "\x1b" not in printed(forest)


def test_an_empty_forest_says_so() -> None:
    assert printed(grown()) == "No delegations at 2025-12-26T10:00:00Z."


def test_matches_are_shown_below_their_ancestors_and_counted(forest: Forest) -> None:
    match = forest.find("impl")
    shown = printed(forest, matches={match}).splitlines()
    assert shown[0] == "1 of 4 delegations match at 2025-12-26T10:00:00Z: 1 overdue."
    assert [re.split(r" +[◐!] ", line.lstrip(" └─"))[0] for line in shown[3:6]] == [
        "/implement 191",
        "task-executor",
        "implementer ◀2",
    ]
    assert not any("researcher" in line for line in shown)


def test_no_match_is_a_sentence(forest: Forest) -> None:
    assert printed(forest, matches=set()) == "0 of 4 delegations match at 2025-12-26T10:00:00Z."


def test_unsure_parents_are_drawn_differently_and_explained() -> None:
    path = ("orchestrator", "research", "researcher")
    forest = grown(
        Started("a", ago(9 * MINUTE), at(1), agent="researcher", path=path),
        Started("b", ago(MINUTE), at(2), agent="checker", path=(*path, "checker")),
        Started("c", ago(MINUTE), at(3), agent="orphan", parent="never"),
    )
    shown = printed(forest)
    assert "└╌ checker" in shown
    assert "└╌ 1 parent inferred from path and time, not told by a log" in shown
    assert "1 parent named by a log but never seen" in shown
    assert "checker (parent inferred)" in printed(forest, look=Look(SPOKEN))


@pytest.mark.parametrize("look", [Look(width=60), Look(width=79), Look(), Look(width=200), Look(cuts=False)])
def test_of_a_long_chain_all_have_their_name_and_their_depth(look: Look) -> None:
    chain = [
        Started(f"s{n}", ago(HOUR - n), at(n + 1), agent=f"agent{n}", parent=f"s{n - 1}" if n else None)
        for n in range(100)
    ]
    shown = printed(grown(*chain), look=look).splitlines()[3:103]
    for level, line in enumerate(shown):
        assert f"agent{level} " in line
        assert str(level) in line.rpartition("silent" if level == 99 else "waiting")[2]
    assert not look.cuts or max(map(cells, shown)) <= look.width
    assert len(list(rows(grown(*chain)))[-1].guides) < 40, "nobody draws a hundred lines"


def folders(*of_each: str | None) -> Forest:
    began = [Started(f"s{n}", ago(MINUTE), at(n), agent="a", product="codex") for n in range(len(of_each))]
    told = [Described(f"s{n}", ago(MINUTE), at(n), cwd=folder) for n, folder in enumerate(of_each) if folder]
    return grown(*began, *told)


def test_there_is_a_column_for_projects_if_there_is_more_than_one() -> None:
    assert "PROJECT" not in printed(folders("/srv/shop", "/srv/shop", None))
    shown = printed(folders("/srv/shop", "/home/me/shop", "/srv/garden")).splitlines()
    assert [line.split()[1] for line in shown[2:6]] == ["PROJECT", "srv/shop", "me/shop", "garden"]


def test_source_health_names_files_lines_and_reasons() -> None:
    status = Status(
        unreadable=2,
        deviations=1,
        reasons={"not JSON": 2, "unknown key": 1},
        examples=(Unreadable(at(17), "not JSON", "{oops"), Deviation(at(18), "unknown key", "colour")),
    )
    missing = Status("gone.jsonl", None, 0, status="missing", detail="no such file")
    shown = printed(grown(), [status, missing], health=True)
    assert shown.splitlines()[2:] == [
        "Sources",
        "  logs/run.jsonl: session-log, 12 records, 2 unreadable, 1 deviation",
        "    2 not JSON",
        "    1 unknown key",
        "    logs/run.jsonl:17: not JSON: {oops",
        "    logs/run.jsonl:18: unknown key: colour",
        "  gone.jsonl: no format, missing, 0 records, no such file",
    ]


def test_unasked_the_health_of_the_sources_is_said_in_a_line_and_only_if_something_is_wrong() -> None:
    odd = Status("notes.json", None, 0, status="unrecognised", detail="no known log format")
    assert printed(grown(), [Status(), odd]).splitlines()[1:] == []
    long = Unreadable(at(17), "oversize", "60,000,000 bytes; a line may have 1,048,576")
    shown = printed(grown(), [Status(unreadable=2, examples=(long,)), Status("x.jsonl", status="unreadable")])
    assert shown.splitlines()[1:] == [
        "",
        "1 source cannot be read, so agents may be missing or seem silent: --sources tells",
        "1 source cannot be read whole (logs/run.jsonl:17: oversize: 60,000,000 bytes; a line may have 1,048,576): "
        "--sources tells",
    ]


def test_many_files_of_no_format_are_counted_not_listed() -> None:
    strangers = [Status(f"{n}.json", None, 0, status="unrecognised", detail="no known log format") for n in range(10)]
    shown = printed(grown(), [*strangers, Status()], health=True).splitlines()[3:]
    assert len(shown) == 5
    assert shown[-1] == "  7 more files unrecognised, no known log format"


def hostile_forest() -> Forest:
    return grown(
        Started(HOSTILE, ago(HOUR), at(1), agent=HOSTILE, command=HOSTILE, task=HOSTILE, path=(HOSTILE,), host=HOSTILE),
        Heard(HOSTILE, ago(SECOND), Origin(HOSTILE, 2, 0), doing=HOSTILE, tool=HOSTILE),
        Started("other", ago(HOUR), at(3), command=HOSTILE, task="x" * 1_000_000, parent=HOSTILE),
        Erred("other", ago(SECOND), at(4), Fault(HOSTILE, HOSTILE, HOSTILE, False, HOSTILE)),
    )


def hostile_status() -> Status:
    unread = Unreadable(Origin(HOSTILE, 1, 0), HOSTILE, HOSTILE)
    return Status(HOSTILE, HOSTILE, detail=HOSTILE, unreadable=1, reasons={HOSTILE: 1}, examples=(unread,))


def test_hostile_text_reaches_no_terminal() -> None:
    shown = printed(hostile_forest(), [hostile_status()])
    assert not [character for character in shown if character != "\n" and not character.isprintable()]
    assert len(shown.splitlines()) < 20
    assert max(map(len, shown.splitlines())) < 2_000


def test_hostile_text_is_raw_but_escaped_in_json() -> None:
    document = "\n".join(tree_json.tree(hostile_forest(), [hostile_status()]))
    assert document.isascii()
    assert not [character for character in document if character != "\n" and not character.isprintable()]
    delegation = json.loads(document)["delegations"][0]
    assert delegation["agent"] == delegation["doing"] == HOSTILE


def test_lone_surrogates_do_not_break_json() -> None:
    forest = grown(Started("s", NOW, Origin("odd\udcff.jsonl", 1, 0), agent="\ud800"))
    assert json.loads("\n".join(tree_json.tree(forest, [])))["delegations"][0]["source"] == "odd\udcff.jsonl"


def decoded(forest: Forest, sources: Sequence[Status] = (), **how: Any) -> Any:
    """The document, read back strictly: no field may be missing, unknown or of the wrong type."""
    return msgspec.json.decode("\n".join(tree_json.tree(forest, sources, **how)), type=tree_json.contract())


def test_json_fits_its_own_contract(forest: Forest) -> None:
    document = decoded(forest, [Status(), Status("x", None, status="missing", detail="no such file")])
    assert document.at == iso(NOW)
    assert [source.path for source in document.sources] == ["logs/run.jsonl", "x"]
    assert [node.id for node in document.delegations] == ["res", "root", "exec", "impl"]


def test_json_tells_everything_of_a_delegation(forest: Forest) -> None:
    res, root, _, impl = decoded(forest).delegations
    assert (impl.parent, impl.link, impl.state, impl.depth) == ("exec", "explicit", "overdue", 2)
    assert (impl.deadline, impl.deadline_from) == (iso(ago(2 * MINUTE)), "timeout")
    assert (impl.started_at, impl.last_heard_at, impl.ended_at) == (iso(ago(12 * MINUTE)), iso(ago(11 * MINUTE)), None)
    assert (impl.doing, impl.tool, impl.tokens, impl.cost) == ("bash: lake build", "bash", 1200, 0.25)
    assert (impl.source, impl.origin) == ("logs/run.jsonl", tree_json.Place("logs/run.jsonl", 3))
    assert (root.parent, root.link, root.command, root.task) == (None, "root", "implement", "191")
    assert ("VER-005", "error", "impl") in {(found.rule, found.severity, found.subject) for found in impl.findings}
    assert (res.depth, res.depth_claimed, res.depth_derived) == (3, 3, 1)
    assert (res.state, res.summary, res.next_steps) == ("failed", "No network", "retry")
    assert res.artifacts == [tree_json.Made("specs/r.md", "report", None)]
    assert res.errors == [tree_json.Wrong("host unreachable", "network", "E1", True, "try again later")]
    assert res.path == ["orchestrator", "research", "researcher"]
    assert res.timeout_seconds == 3600


def test_json_lists_only_what_matches(forest: Forest) -> None:
    matches: set[Handle] = {handle for handle in forest.walk() if forest.state(handle) is State.OVERDUE}
    assert [node.id for node in decoded(forest, matches=matches).delegations] == ["impl"]
    assert decoded(forest, matches=set()).delegations == []


def test_an_empty_forest_is_a_valid_document() -> None:
    assert decoded(grown()).delegations == []


def test_the_schema_on_file_is_the_schema_of_the_program(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "schema" / "tree.schema.json"
    if update_golden:
        page.write_text(tree_json.schema(), "utf-8")
    assert page.read_text("utf-8") == tree_json.schema()


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "$") -> list[str]:
    """What in `value` the schema forbids: as much of JSON Schema as ours uses, and an error for anything else."""
    unknown = set(schema) - {
        "$ref", "$defs", "$schema", "title", "description", "type", "enum", "const", "anyOf", "items",
        "properties", "required", "additionalProperties", "minimum", "maximum",
    }  # fmt: skip
    assert not unknown, f"the checker does not know {unknown}"
    if "$ref" in schema:
        return violations(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, path)
    if "anyOf" in schema:
        tries = [violations(value, option, root, path) for option in schema["anyOf"]]
        return [] if [] in tries else [f"{path}: fits none of {len(tries)}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is not among {schema['enum']}"]
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "null": type(None),
        "array": list,
        "object": dict,
    }
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return [f"{path}: {value!r} is no {schema['type']}"]
    found = []
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{path}: {value} is too small or too large")
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += violations(item, schema.get("items", {}), root, f"{path}[{index}]")
    if isinstance(value, dict):
        found += [f"{path}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, item in value.items():
            allowed = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
            if allowed is False:
                found.append(f"{path}: {name} is unknown")
            elif isinstance(allowed, dict):
                found += violations(item, allowed, root, f"{path}.{name}")
    return found


def test_real_output_fits_the_schema_on_file(forest: Forest, project: Path) -> None:
    schema = json.loads((project / "docs" / "schema" / "tree.schema.json").read_text("utf-8"))
    for each in (forest, hostile_forest()):
        document = json.loads("\n".join(tree_json.tree(each, [Status(), hostile_status()])))
        assert violations(document, schema, schema) == []
        document["delegations"][0]["state"] = "fine"
        document["delegations"][0]["extra"] = 1
        del document["delegations"][1]["id"]
        document["delegations"][1]["assessment"]["urgency"] = 8
        assert len(violations(document, schema, schema)) == 4


def sorted_ids(forest: Forest, sort: str) -> list[str]:
    assessments = Assessments(forest)
    assessments.update()
    key = order(forest, sort, pressing=Pressing(assessments).key)
    return [forest.delegation(handle).id for handle in sorted(forest.roots(), key=key)]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("start", ["old", "done", "young", "unknown"]),
        ("deadline", ["young", "old", "done", "unknown"]),
        ("age", ["old", "young", "done", "unknown"]),
        ("quiet", ["old", "young", "unknown", "done"]),
        ("name", ["done", "old", "young", "unknown"]),
        ("problems", ["old", "young", "unknown", "done"]),
    ],
)
def test_siblings_are_sorted_by_what_presses_most(sort: str, expected: list[str]) -> None:
    forest = grown(
        Started("old", ago(9 * MINUTE), at(1), agent="b", timeout=8 * HOUR),
        Started("late", ago(8 * MINUTE), at(1), agent="b", timeout=MINUTE, parent="old"),
        Started("young", ago(5 * MINUTE), at(2), agent="d", timeout=HOUR),
        Started("done", ago(7 * MINUTE), at(3), agent="a", timeout=HOUR),
        Ended("done", ago(6 * MINUTE), at(4), Outcome.COMPLETED, Ending.RETURN),
        Heard("unknown", ago(MINUTE), at(5)),
    )
    assert sort in SORTS
    assert sorted_ids(forest, sort) == expected


def test_text_is_measured_in_columns() -> None:
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 4) == "日…"
    assert fit("日", 4) == "日  "
    assert fit("7", 3, right=True) == "  7"
    assert cut("anything", 0) == ""
    assert cut("anything", 2, "...") == ".."
