"""The incident report: what is in it, in three forms, and that no word of a stranger becomes more than a word."""

import html
import json
import re
import stat
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from markdown_it import MarkdownIt

from delegtop.base.clock import MINUTE, SECOND, Millis, iso
from delegtop.base.origin import Origin, in_words, kernel
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.verdicts import Kind
from delegtop.model.events import (
    Artifact,
    Ended,
    Ending,
    Erred,
    Event,
    Fault,
    Heard,
    Noted,
    Outcome,
    Phase,
    Report,
    Resumed,
    Started,
)
from delegtop.model.forest import Forest
from delegtop.report.incident import (
    incident_details,
    incident_gather,
    incident_html,
    incident_json,
    incident_markdown,
    incident_pieces,
    incident_timeline,
)
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_details import EXCERPT
from delegtop.report.incident.incident_gantt import drawn_trees
from delegtop.report.incident.incident_gather import gather
from delegtop.report.incident.incident_report import Incident
from delegtop.report.incident.incident_timeline import IncidentJournal
from delegtop.report.tree_json import Place

NOW = Millis(1_766_743_200_000)
PROJECT = Path(__file__).parents[4]
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> [click](javascript:alert(1)) ![i](http://x/y) "
    "`code` **bold** | cell | http://evil.example/a www.evil.example @everyone \x1b]52;c;aGk=\x07 \u202egnp.exe "
    "</pre></title><!-- &lt; # head"
)
KEY = "sk-ant-api03-" + "Ab1" * 20


def at(line: int) -> Origin:
    return Origin("logs/run.jsonl", line, line * 100)


def ago(span: int) -> Millis:
    return Millis(NOW - span)


def hang() -> list[Event]:
    """A command that waits on an implementer that hangs in a tool, and a reviewer that failed."""
    return [
        Started("root", ago(60 * MINUTE), at(1), command="implement", task="191", timeout=120 * MINUTE),
        Started("exec", ago(59 * MINUTE), at(2), agent="task-executor", timeout=120 * MINUTE, parent="root"),
        Started("impl", ago(58 * MINUTE), at(3), agent="implementer", timeout=30 * MINUTE, parent="exec"),
        Heard("impl", ago(50 * MINUTE), at(4), doing="read a.py"),
        Heard("impl", ago(40 * MINUTE), at(5), doing="lake build", tool="bash", phase=Phase.TOOL),
        Noted("impl", ago(45 * MINUTE), at(6), "resume", "go on with phase 3"),
        Started("rev", ago(20 * MINUTE), at(7), agent="reviewer", timeout=30 * MINUTE, parent="root"),
        Erred("rev", ago(19 * MINUTE), at(8), Fault("no network", code="NET")),
        Ended(
            "rev",
            ago(18 * MINUTE),
            at(9),
            Outcome.FAILED,
            Ending.RETURN,
            Report(
                status="failed",
                summary="It could not be read.",
                artifacts=(Artifact("specs/half.md", "report", "half of it"),),
                errors=(Fault("no network", "execution", "NET", True, "Try it again when the network is back"),),
            ),
        ),
        Started("done", ago(10 * MINUTE), at(10), agent="writer", timeout=30 * MINUTE),
        Ended("done", ago(9 * MINUTE), at(11), Outcome.COMPLETED, Ending.RETURN, Report(status="completed")),
    ]


def raw(origin: Origin) -> bytes | None:
    return None if origin.line == 3 else f'{{"line": {origin.line}}}\n'.encode()


def told(events: list[Event], only: str | None = None, now: Millis = NOW) -> Incident:
    forest, journal = Forest(), IncidentJournal()
    forest.apply(events)
    journal.heed(events)
    forest.advance(now)
    handle = None if only is None else forest.find(only)
    return gather(
        forest,
        (),
        journal,
        raw,
        only=handle,
        recall=lambda facts: [event for event in events if isinstance(event, Heard) and event.id == facts.id],
    )


def test_what_the_kernel_said_is_no_line_that_has_gone() -> None:
    incident = told(hang())
    excerpts = [incident_details.excerpt(origin, ["verdict"], lambda _: None) for origin in (kernel(4711), at(1))]
    trouble = msgspec.structs.replace(incident.troubles[0], evidence=excerpts)
    incident = msgspec.structs.replace(incident, troubles=[trouble])
    for form in (incident_html, incident_markdown):
        text = "\n".join(form.lines(incident))
        assert text.count("No line says so: the kernel does.") == 1
        assert text.count("The line is no longer there.") == 1


def hostile() -> Incident:
    """Every text of it is hostile, and names what is in trouble."""
    return told(
        [
            Started(HOSTILE, ago(60 * MINUTE), at(1), agent=HOSTILE, command=HOSTILE, task=HOSTILE, timeout=MINUTE),
            Heard(HOSTILE, ago(50 * MINUTE), Origin(HOSTILE, 2, 0), doing=HOSTILE, tool=HOSTILE),
            Noted(HOSTILE, ago(50 * MINUTE), at(3), "resume", f"{HOSTILE}\n# {HOSTILE}\n    {HOSTILE}\n```\n---"),
            Started("child", ago(50 * MINUTE), at(4), agent=HOSTILE, parent=HOSTILE),
            Ended(
                "child",
                ago(40 * MINUTE),
                at(5),
                Outcome.FAILED,
                Ending.RETURN,
                Report(HOSTILE, HOSTILE, (Artifact(HOSTILE, HOSTILE, HOSTILE),), (Fault(HOSTILE, HOSTILE, HOSTILE),)),
            ),
        ]
    )


# -- what is in it ---------------------------------------------------------------------------------------------------


def test_the_root_blocker_comes_first_and_says_whom_it_blocks() -> None:
    first = told(hang()).troubles[0]
    assert (first.id, first.root_blocker) == ("impl", True)
    assert [above.name for above in first.blocks] == ["task-executor", "/implement 191"]
    assert [above.name for above in first.path] == ["/implement 191", "task-executor"]
    assert first.verdict is not None
    assert first.verdict.kind is Kind.HUNG_IN_TOOL


def test_who_waits_says_on_what_and_comes_last() -> None:
    troubles = told(hang()).troubles
    assert [trouble.id for trouble in troubles] == ["impl", "rev", "root", "exec"]
    assert [trouble.waits_on.id if trouble.waits_on else None for trouble in troubles] == [None, None, "impl", "impl"]


def test_a_child_of_one_that_has_ended_blocks_nobody() -> None:
    events: list[Event] = [
        Started("root", ago(60 * MINUTE), at(1), agent="a"),
        Started("kid", ago(59 * MINUTE), at(2), agent="b", parent="root"),
        Ended("root", ago(50 * MINUTE), at(3), Outcome.FAILED, Ending.RETURN, Report()),
    ]
    (root, kid) = sorted(told(events).troubles, key=lambda trouble: trouble.id, reverse=True)
    assert not kid.root_blocker
    assert not kid.blocks
    assert root.message == "It ended failed 50:00 ago and does not say why."


def test_the_agents_words_and_the_advice_of_delegtop_are_told_apart() -> None:
    failed = told(hang()).troubles[1]
    assert [(words.title, words.text) for words in failed.own_words] == [
        ("recommends", "Try it again when the network is back")
    ]
    assert failed.findings
    assert all(finding.by == "delegtop" for finding in failed.findings)


def test_the_timeline_is_in_order_and_marks_what_no_record_says() -> None:
    events = told(hang()).timeline
    assert [event.at for event in events] == sorted(event.at for event in events)
    concluded = [(event.what, event.subject.id if event.subject else None) for event in events if event.derived]
    assert concluded == [("slept", None), ("deadline", "impl"), ("report", None)]
    assert [event.text for event in events if event.subject and event.subject.id == "impl"] == [
        "started, by task-executor",
        "read a.py",
        "to resume: go on with phase 3",
        "last heard of: bash: lake build",
        "its deadline passed (timeout 1800 s)",
    ]
    assert "error: NET no network" in [event.text for event in events]


def test_what_happened_at_one_moment_is_told_in_the_order_in_which_it_must_have_happened() -> None:
    begun, over = ago(9 * MINUTE), ago(8 * MINUTE)
    events: list[Event] = [
        Ended("z", over, at(1), Outcome.COMPLETED, Ending.RETURN),
        Started("a", begun, at(2), agent="child", parent="z"),
        Noted("z", begun, at(3), "resume", "go on"),
        Started("z", begun, Origin("registry.json", 1, 0), agent="lead"),
        Ended("a", over, at(5), Outcome.FAILED, Ending.RETURN),
        Erred("a", over, at(6), Fault("no network")),
    ]
    moments = told(events).timeline[:-1]
    assert [(each.subject.name, each.what) for each in moments if each.subject] == [
        ("lead", "started"),
        ("child", "started"),
        ("lead", "note"),
        ("child", "error"),
        ("child", "ended"),
        ("lead", "ended"),
    ]


def test_who_has_only_begun_is_not_given_work_again() -> None:
    begun, listed = ago(9 * MINUTE), Origin("sessions/1.json", 1, 0)
    events: list[Event] = [Started("a", begun, at(1)), Started("a", begun, listed), Resumed("a", begun, listed)]
    assert [each.what for each in told(events).timeline] == ["started", "report"]
    later = told([*events, Resumed("a", ago(5 * MINUTE), listed)]).timeline
    assert [each.text for each in later][:2] == ["started", "given work again"]


def test_what_the_system_says_is_named_in_words() -> None:
    events: list[Event] = [
        Started("a", ago(9 * MINUTE), kernel(4711)),
        Erred("a", ago(MINUTE), kernel(), Fault("no memory")),
    ]
    incident = told(events)
    rows = {each.what: each for each in incident.timeline}
    places = {what: words.timeline_row(rows[what])[-1] for what in ("started", "error")}
    assert places == {"started": "the kernel, pid 4711", "error": "the kernel"}
    assert rows["started"].place == Place("kernel:4711", 0), "for programs it stays as it is"
    text = "\n".join((*incident_markdown.lines(incident), *incident_html.lines(incident)))
    assert "kernel:" not in text
    assert [in_words(source, line) for source, line in (("gpu1:kernel:7", 0), ("x/kernel:7", 0), ("kernel:7", 3))] == [
        "the kernel, pid 7, on gpu1",
        "x/kernel:7:0",
        "kernel:7:3",
    ]


def test_what_happened_later_than_the_moment_is_not_in_the_timeline() -> None:
    moments = told([*hang(), Noted("impl", Millis(NOW + SECOND), at(20), "resume", "later")]).timeline
    assert not [event for event in moments if "later" in event.text]


def test_what_is_left_out_of_a_long_timeline_is_counted_and_trouble_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incident_timeline, "MOST", 4)
    incident = told(hang())
    assert len(incident.timeline) == 5
    assert incident.left_out.timeline > 0
    assert "done" not in {event.subject.id for event in incident.timeline if event.subject}


def test_of_a_large_forest_those_in_trouble_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incident_gather, "NODES", 4)
    incident = told(hang())
    assert [node.id for node in incident.tree] == ["root", "exec", "impl", "rev"]
    assert incident.left_out.tree == 1


def test_evidence_is_the_line_itself_with_what_it_shows() -> None:
    evidence = {excerpt.place.line: excerpt for excerpt in told(hang()).troubles[0].evidence}
    assert evidence[5].text == '{"line": 5}'
    assert evidence[5].shows[:2] == ["verdict", "last sign of life"]
    assert evidence[3].text is None, "a line that is gone is told as gone"


def test_a_secret_is_masked_before_a_line_is_cut() -> None:
    line = b"x" * (EXCERPT - 20) + b" " + KEY.encode() + b" end"
    excerpt = incident_details.excerpt(at(1), ["start"], lambda _: line)
    assert excerpt.text is not None
    assert "Ab1" not in excerpt.text
    assert "sk-ant-[masked]" in excerpt.text


def test_secrets_are_masked_in_every_form() -> None:
    key = f"curl -H 'x-api-key: {KEY}'"
    events: list[Event] = [
        Started("a", ago(90 * MINUTE), at(1), agent="worker", timeout=MINUTE),
        Heard("a", ago(80 * MINUTE), at(2), doing=key, tool="bash", phase=Phase.TOOL),
        Noted("a", ago(80 * MINUTE), at(3), "resume", key),
        Started("b", ago(90 * MINUTE), at(4), agent="worker"),
        Ended("b", ago(80 * MINUTE), at(5), Outcome.FAILED, Ending.RETURN, Report("failed", key, (), (Fault(key),))),
    ]
    for form in (incident_markdown, incident_html, incident_json):
        text = "\n".join(form.lines(told(events)))
        assert "[masked]" in text
        assert "Ab1Ab1" not in text


def test_only_one_delegation_is_told_with_all_above_and_below_it() -> None:
    incident = told(hang(), only="exec")
    assert incident.only == "exec"
    assert [node.id for node in incident.tree] == ["root", "exec", "impl"]
    assert {trouble.id for trouble in incident.troubles} == {"root", "exec", "impl"}
    assert {event.subject.id for event in incident.timeline if event.subject} == {"root", "exec", "impl"}


def test_when_all_is_well_the_report_says_so() -> None:
    incident = told(hang()[-2:])
    assert incident.headline == "None of 1 delegation is in trouble."
    assert "Nothing." in "\n".join(incident_markdown.lines(incident))
    assert "<p>Nothing.</p>" in "\n".join(incident_html.lines(incident))


def test_what_is_late_only_because_the_machine_slept_is_no_trouble() -> None:
    slept: list[Event] = [
        Started("late", ago(300 * MINUTE), at(1), agent="a", timeout=10 * MINUTE),
        Heard("late", ago(295 * MINUTE), at(2)),
        Started("other", ago(300 * MINUTE), at(3), agent="b"),
        Heard("other", ago(0), at(4)),
    ]
    assert told(slept).headline == "None of 2 delegations is in trouble."


def test_one_that_a_person_must_look_at_is_called_so_and_not_ended() -> None:
    asked: list[Event] = [
        Started("open", ago(9 * MINUTE), at(1), agent="a"),
        Heard("open", ago(MINUTE), at(2)),
        Noted("open", ago(2 * MINUTE), at(3), "review", "Choose one of two."),
    ]
    (trouble,) = told(asked).troubles
    assert words.hung_row(trouble)[1:3] == ("running", "needs review")


def test_no_delegation_at_all_is_a_report_too() -> None:
    incident = told([])
    assert incident.headline == "There is no delegation in these sources."
    assert list(incident_html.lines(incident))
    assert list(incident_markdown.lines(incident))


def test_a_failure_that_is_handed_up_gets_one_section_and_loses_no_finding() -> None:
    wrong = (Fault("disk full"),)
    events: list[Event] = [
        Started("top", ago(9 * MINUTE), at(1), agent="outer"),
        Started("low", ago(8 * MINUTE), at(2), agent="inner", parent="top"),
        Ended("low", ago(7 * MINUTE), at(3), Outcome.FAILED, Ending.RETURN, Report("failed", "s", (), wrong)),
        Ended("top", ago(6 * MINUTE), at(4), Outcome.FAILED, Ending.RETURN, Report("failed", "s", (), wrong)),
    ]
    incident = told(events)
    page = "\n".join(incident_markdown.lines(incident))
    assert re.findall(r"^## \d\. (\w+)", page, re.MULTILINE) == ["inner"]
    assert all(finding.rule in page for trouble in incident.troubles for finding in trouble.findings)


# -- hostile words ---------------------------------------------------------------------------------------------------


class Seen(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def control_characters(text: str) -> list[str]:
    return re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)


def test_hostile_text_adds_no_tag_and_no_attribute_to_the_html() -> None:
    page, plain = ("\n".join(incident_html.lines(incident)) for incident in (hostile(), told(hang())))
    assert Seen(page).tags <= Seen(plain).tags
    assert Seen(page).attributes <= Seen(plain).attributes
    assert not control_characters(page)
    assert "&lt;script&gt;" in page


def test_the_html_has_nothing_that_runs_or_loads() -> None:
    page = "\n".join(incident_html.lines(told(hang())))
    seen = Seen(page)
    assert not seen.tags & {"script", "img", "link", "iframe", "a", "object", "embed", "form", "base"}
    assert not {
        name for name in seen.attributes if name.startswith("on") or name in ("href", "src", "srcset", "xlink:href")
    }
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough").render(text))


def test_hostile_text_stays_text_when_the_markdown_is_rendered() -> None:
    page = "\n".join(incident_markdown.lines(hostile()))
    assert not control_characters(page)
    seen, plain = Seen(rendered(page)), Seen(rendered("\n".join(incident_markdown.lines(told(hang())))))
    assert seen.tags <= plain.tags
    assert not seen.tags & {"a", "img", "script", "s", "del"}
    assert "evil.example" in rendered(page), "the words are there all the same"


def test_no_bare_address_or_mention_of_the_markdown_becomes_a_link_elsewhere() -> None:
    prose = re.sub(r"(`{3,})text\n.*?\n\1", "", "\n".join(incident_markdown.lines(hostile())), flags=re.DOTALL)
    assert "evil.example" in prose
    assert not re.search(r"https?://|www\.|@\w", prose)


@pytest.mark.parametrize(
    "text", ["# head", "- item", "+ item", "1. one", "23) two", "=====", "    code", "> quote", ": x"]
)
def test_a_word_that_would_begin_a_block_begins_none(text: str) -> None:
    for where in (f"- {incident_markdown.escaped(text)}", incident_markdown.escaped(text)):
        assert Seen(rendered(f"before\n\n{where}")).tags <= {"p", "ul", "li"}


def test_an_excerpt_cannot_end_its_own_fence() -> None:
    forest, journal = Forest(), IncidentJournal()
    forest.apply(hang())
    forest.advance(NOW)
    incident = gather(forest, (), journal, lambda _: b"```\n````\n# out\n")
    assert "<h1>out</h1>" not in rendered("\n".join(incident_markdown.lines(incident)))


def test_the_json_is_ascii_and_keeps_the_very_words() -> None:
    text = "\n".join(incident_json.lines(hostile()))
    assert text.isascii()
    assert not control_characters(text)
    assert json.loads(text)["troubles"][0]["id"] == HOSTILE


# -- the forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("incident", [told(hang()), hostile(), told([])], ids=["hang", "hostile", "empty"])
def test_the_json_keeps_to_its_contract(incident: Incident) -> None:
    text = "\n".join(incident_json.lines(incident))
    assert msgspec.json.decode(text, type=Incident) == incident


def test_the_schema_on_file_is_that_of_the_program(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "schema" / "report.schema.json"
    if update_golden:
        page.write_text(incident_json.schema(), "utf-8")
    assert page.read_text("utf-8") == incident_json.schema()


def test_the_page_tells_of_every_field_of_the_json(project: Path) -> None:
    page = (project / "docs" / "report.md").read_text("utf-8")
    assert not [field.name for field in msgspec.structs.fields(Incident) if f"`{field.name}" not in page]


def test_the_html_can_be_read_by_ear() -> None:
    page = "\n".join(incident_html.lines(told(hang())))
    assert '<html lang="en">' in page
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels)), "no level is skipped"
    assert page.count("<th ") == page.count('<th scope="col"') > 0
    assert 'role="img"' in page
    assert "<title id=" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {word for words in re.findall(r'aria-labelledby="([^"]+)"', page) for word in words.split()} <= set(ids)


def test_the_drawing_shows_bars_deadlines_and_the_state_in_words() -> None:
    page = "\n".join(incident_html.lines(told(hang())))
    assert page.count('class="bar"') == 4
    assert page.count('class="quiet"') == 1
    assert page.count('class="waits"') == 2
    assert 'class="deadline"' in page
    assert '<text class="state" x="290" y="46.0">waiting</text>' in page


def test_trees_without_trouble_are_drawn_only_if_there_is_no_other() -> None:
    assert [[node.id for node in tree] for tree in drawn_trees(told(hang()))] == [["root", "exec", "impl", "rev"]]
    assert [[node.id for node in tree] for tree in drawn_trees(told(hang()[-2:]))] == [["done"]]


# -- the command -----------------------------------------------------------------------------------------------------


def log_lines() -> Iterator[str]:
    path = ["orchestrator", "plan", "planner"]
    yield json.dumps(
        {"event": "register", "at": iso(ago(60 * MINUTE)), "session_id": "sess_1", "subagent": "planner", "timeout": 60}
        | {"delegation_depth": 1, "delegation_path": path}
    )
    yield json.dumps({"event": "heartbeat", "at": iso(ago(50 * MINUTE)), "session_id": "sess_1", "activity": "reads"})


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.jsonl").write_text("\n".join(log_lines()) + "\n")


def report(*arguments: str) -> int:
    return main(["report", "run.jsonl", "--at", iso(NOW), *arguments])


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("name", "begin"), [("r.md", "# Inc"), ("r.html", "<!doc"), ("r.JSON", "{\n")])
def test_the_name_of_the_file_tells_the_form(name: str, begin: str) -> None:
    assert report("-o", name) == Exit.OK
    path = Path(name)
    assert path.read_text().startswith(begin)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "sess_1" in path.read_text()
    assert sorted(each.name for each in Path().iterdir()) == sorted([name, "run.jsonl"]), "nothing else is left behind"


@pytest.mark.usefixtures("log")
def test_without_a_file_markdown_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert report() == Exit.OK
    assert capsys.readouterr().out.startswith("# Incident report\n")


@pytest.mark.usefixtures("log")
def test_a_file_that_exists_is_replaced_only_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.md").write_text("mine")
    assert report("-o", "r.md") == Exit.USAGE
    assert "--force replaces it" in capsys.readouterr().err
    assert Path("r.md").read_text() == "mine"
    assert report("-o", "r.md", "--force") == Exit.OK
    assert Path("r.md").read_text() != "mine"


def test_no_file_is_made_of_a_source_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "nowhere", "-o", "r.md"]) == Exit.UNREADABLE
    assert capsys.readouterr().err == "delegtop: nowhere: not found\n"
    assert not Path("r.md").exists()


@pytest.mark.usefixtures("log")
def test_a_link_is_never_written_through_or_replaced() -> None:
    Path("mine.txt").write_text("mine")
    Path("r.md").symlink_to("mine.txt")
    assert report("-o", "r.md", "--force") == Exit.USAGE
    assert Path("mine.txt").read_text() == "mine"
    assert Path("r.md").is_symlink()


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-o", "r.pdf"], "must end in .md, .html or .json"),
        (["-o", "nowhere/r.md"], "there is no folder nowhere"),
        (["--only", "sess_2"], "there is no such delegation"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(*arguments) == Exit.USAGE
    captured = capsys.readouterr()
    assert why in captured.err
    assert not captured.out
    assert [each.name for each in Path().iterdir()] == ["run.jsonl"]


@pytest.mark.usefixtures("log")
def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert report("--only", "sess") == Exit.OK
    assert "Only sess_1, with all above and below it" in capsys.readouterr().out


@pytest.mark.usefixtures("log")
def test_a_source_that_cannot_be_read_is_told_and_the_rest_is_written() -> None:
    assert main(["report", "run.jsonl", "gone.jsonl", "--at", iso(NOW), "-o", "r.json"]) == Exit.UNREADABLE
    incident = json.loads(Path("r.json").read_text())
    statuses = {source["path"]: source["status"] for source in incident["sources"]}
    assert (statuses["run.jsonl"], statuses["gone.jsonl"]) == ("live", "missing")


@pytest.mark.usefixtures("log")
def test_the_evidence_is_read_from_the_log() -> None:
    assert report("-o", "r.json") == Exit.OK
    (trouble,) = json.loads(Path("r.json").read_text())["troubles"]
    assert [excerpt["text"] for excerpt in trouble["evidence"]] == list(log_lines())


def moments(project: Path) -> list[tuple[str, str]]:
    told = tomllib.loads((project / "sample_logs" / "moments.toml").read_text("utf-8"))
    return [(name, sample["at"]) for name, sample in told.items()]


@pytest.mark.parametrize(("name", "moment"), moments(PROJECT))
def test_of_every_sample_a_report_can_be_made(name: str, moment: str, tmp_path: Path) -> None:
    for form in ("md", "html", "json"):
        source, path = PROJECT / "sample_logs" / name, tmp_path / f"report.{form}"
        assert main(["report", str(source), "--at", moment, "-o", str(path)]) == Exit.OK
    incident = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Incident)
    page, rendering = (tmp_path / "report.html").read_text(), rendered((tmp_path / "report.md").read_text())
    assert incident.tree
    for trouble in incident.troubles:
        assert incident_pieces.escaped(trouble.name) in page
        assert html.escape(trouble.name, quote=False) in rendering
        assert [excerpt for excerpt in trouble.evidence if excerpt.text is not None]
