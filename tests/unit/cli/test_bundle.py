"""`delegtop bundle`: what is in it, what is not, and that it shows the same elsewhere. Every secret here is made up."""

import json
import zipfile
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.filled import filled

from delegtop.base.clock import FrozenClock, Millis, iso
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed.recorder import Recorder
from delegtop.model.events import Described, Ended, Ending, Event, Heard, Outcome, Started, Surveyed
from delegtop.sources import processes
from delegtop.sources.records import Line, Unreadable

SAMPLES = Path(__file__).parents[3] / "sample_logs"
AT = Millis(1_770_000_000_000)
NOW = iso(Millis(AT + 60_000))
KEY = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
SECRETS = {
    "key": KEY[-24:],
    "github": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[-24:],
    "password": "Winter77green",
    "bearer": "tok3n4bearer5word6long",
    "mail": "ada.quill",
    "mail host": "lamplight.example",
    "user": "adaquill",
    "host": "gaslamp-7",
    "full name": "Wilhelmina Quill",
}
TEXT = (
    f"{KEY} ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 password=Winter77green "
    "Authorization: Bearer tok3n4bearer5word6long "
    "ada.quill@lamplight.example /home/adaquill/lantern adaquill gaslamp-7 Wilhelmina Quill"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(processes, "hostname", lambda: "gaslamp-7.attic")
    monkeypatch.setattr("delegtop.cli.bundle._users", lambda: iter(["adaquill", "Wilhelmina Quill"]))


def record(path: str, *told: tuple[Line | None, list[Event | Unreadable]]) -> None:
    recorder = Recorder(FrozenClock(AT), "delegtop test")
    Path(path).write_bytes(recorder.header() + b"".join(recorder.record(*each) for each in told) + recorder.end())


def contents(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def tree(source: str, capsys: pytest.CaptureFixture[str], at: str = NOW) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["tree", "--json", source, "--at", at]) == Exit.OK
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["delegations"]
    return found


@pytest.mark.parametrize("options", [[], ["--prompts", "--lines"]], ids=["lean", "full"])
def test_no_secret_in_any_field_of_any_event_is_in_any_byte_of_it(options: list[str]) -> None:
    place = Origin(f"/home/adaquill/{KEY}.jsonl", 1, 0)
    events: list[Event | Unreadable] = [filled(kind, TEXT) for kind in get_args(Event)]
    events.append(Unreadable(place, TEXT, TEXT))
    record("run.delegtop", (Line(place, json.dumps({"text": TEXT, "naïve": TEXT}).encode()), events), (None, events))
    assert all(secret.encode() in Path("run.delegtop").read_bytes() for secret in SECRETS.values())
    assert main(["bundle", "run.delegtop", "-o", "incident.zip", "--at", NOW, *options]) == Exit.OK
    for name, data in {"the zip": Path("incident.zip").read_bytes(), **contents("incident.zip")}.items():
        for what, secret in SECRETS.items():
            assert secret.lower().encode() not in data.lower(), f"{what} in {name}"


def test_a_secret_in_the_definition_of_an_agent_is_not_in_it_either() -> None:
    agents = Path(".claude/agents")
    agents.mkdir(parents=True)
    (agents / "adaquill.md").write_text("---\nname: adaquill\ndescription: x\ntimeout: 60\n---\nwords\n")
    record("run.delegtop", (None, [Started("a", AT, Origin("x.jsonl", 1, 0), "adaquill")]))
    main(["bundle", "run.delegtop", "-o", "incident.zip", "--at", NOW])
    assert all(b"adaquill" not in data for data in contents("incident.zip").values())


def test_its_own_name_does_not_give_away_who_made_it() -> None:
    record("run.delegtop", (None, [Started("a", AT, Origin("x.jsonl", 1, 0))]))
    main(["bundle", "run.delegtop", "-o", "of-adaquill.zip", "--at", NOW])
    assert b"delegtop tree of-user-1.zip" in contents("of-adaquill.zip")["bundle.json"]


def test_what_it_holds_and_for_whom(capsys: pytest.CaptureFixture[str]) -> None:
    record("run.delegtop", (None, [Started("a", AT, Origin("/home/adaquill/x.jsonl", 1, 0), "planner")]))
    assert main(["bundle", "run.delegtop", "-o", "incident.zip", "--at", NOW]) == Exit.OK
    told = capsys.readouterr().out
    found = contents("incident.zip")
    assert list(found) == [
        *("recording.delegtop", "report.md", "report.html", "sources.json", "bundle.json", "redactions.json")
    ]
    assert Path("incident.zip").stat().st_mode & 0o777 == 0o600
    assert json.loads(found["redactions.json"])["masked"]["home path"] >= 1
    about = json.loads(found["bundle.json"])
    assert (about["bundle"], about["at"], about["delegations"]) == (1, NOW, 1)
    assert f"delegtop tree incident.zip --at {NOW}" in told
    assert "home path" in told
    assert [source["dialect"] for source in json.loads(found["sources.json"])] == ["recording"]


def test_a_file_is_not_overwritten_without_force(capsys: pytest.CaptureFixture[str]) -> None:
    record("run.delegtop", (None, [Started("a", AT, Origin("x.jsonl", 1, 0))]))
    Path("incident.zip").write_text("precious")
    assert main(["bundle", "run.delegtop", "-o", "incident.zip"]) == Exit.USAGE
    assert "--force" in capsys.readouterr().err
    assert Path("incident.zip").read_text() == "precious"
    assert main(["bundle", "run.delegtop", "-o", "incident.zip", "--force"]) == Exit.OK
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == ["incident.zip", "run.delegtop"]


def test_a_name_that_is_no_zip_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "run.delegtop", "-o", "incident.tar"]) == Exit.USAGE
    assert ".zip" in capsys.readouterr().err


@pytest.mark.parametrize("run", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_the_bundle_of_a_sample_shows_the_same_tree(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    at = "2026-12-01T00:00:00.000Z"
    assert main(["bundle", str(SAMPLES / run), "-o", "incident.zip", "--at", at]) == Exit.OK
    shape = ("id", "parent", "link", "state", "agent", "depth", "started_at", "ended_at", "deadline", "phase", "tokens")
    ours, theirs = tree("incident.zip", capsys, at), tree(str(SAMPLES / run), capsys, at)
    assert [[each[name] for name in shape] for each in ours] == [[each[name] for name in shape] for each in theirs]


def family() -> list[Event | Unreadable]:
    def started(id: str, line: int, parent: str | None) -> Started:
        return Started(
            id, AT, Origin("x.jsonl", line, line), "planner", parent=parent, depth=0 if parent is None else 1
        )

    def said(id: str, line: int, text: str) -> Heard:
        return Heard(id, Millis(AT + 1_000), Origin("x.jsonl", line, line), text)

    return [
        *(started("top", 1, None), started("one", 2, "top"), started("two", 3, "top"), started("below", 4, "one")),
        *(started("stranger", 5, None), said("two", 6, "quiet words"), said("stranger", 7, "strange words")),
        *(said("below", 8, "loud words"), Described("two", AT, Origin("x.jsonl", 9, 9), title="a quiet title")),
        Ended("two", Millis(AT + 2_000), Origin("x.jsonl", 10, 10), Outcome.FAILED, Ending.RETURN),
        Surveyed(AT, Origin("x.jsonl", 11, 11), ("top", "one", "two", "below", "stranger")),
    ]


def test_only_one_delegation_comes_with_all_above_and_below_it_and_without_the_words_of_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record("run.delegtop", *((None, [event]) for event in family()))
    assert main(["bundle", "run.delegtop", "--only", "one", "-o", "incident.zip", "--at", NOW]) == Exit.OK
    shown = {each["id"]: each for each in tree("incident.zip", capsys)}
    assert set(shown) == {"top", "one", "two", "below"}
    assert shown["below"]["doing"] == "loud words"
    assert shown["two"]["doing"] is None
    assert shown["two"]["state"] == "failed"
    everything = b"".join(contents("incident.zip").values())
    assert not [words for words in (b"quiet words", b"quiet title", b"strange") if words in everything]
    assert json.loads(contents("incident.zip")["bundle.json"])["delegations"] == 3


def test_an_id_that_is_not_there_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    record("run.delegtop", *((None, [event]) for event in family()))
    assert main(["bundle", "run.delegtop", "--only", "nobody", "-o", "incident.zip"]) == Exit.USAGE
    assert "no such delegation" in capsys.readouterr().err
    assert not Path("incident.zip").exists()


def test_nothing_is_written_of_a_source_that_is_not_there_and_the_next_try_works(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record("run.delegtop", *((None, [event]) for event in family()))
    for sources in (["nowhere"], ["run.delegtop", "nowhere"], ["no*where"]):
        assert main(["bundle", *sources, "-o", "incident.zip"]) == Exit.UNREADABLE
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err in ("delegtop: nowhere: not found\n", "delegtop: no*where: no file matches\n")
        assert not Path("incident.zip").exists()
    assert main(["bundle", "run.delegtop", "-o", "incident.zip"]) == Exit.OK


def test_nothing_is_written_where_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    Path("page.txt").write_text("no log")
    for sources, code in ((["empty"], Exit.FINDINGS), ([], Exit.FINDINGS), (["page.txt"], Exit.UNREADABLE)):
        assert main(["bundle", *sources, "-o", "incident.zip"]) == code
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err
        assert not Path("incident.zip").exists()


def test_prompts_and_lines_are_in_it_only_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    place = Origin("x.jsonl", 1, 0)
    told: list[Event | Unreadable] = [Started("a", AT, place), Described("a", AT, place, prompt="please be kind")]
    record("run.delegtop", (Line(place, b'{"the": "very line"}'), told))
    main(["bundle", "run.delegtop", "-o", "lean.zip", "--at", NOW])
    assert "left out: 1 prompts, 1 lines" in capsys.readouterr().out
    main(["bundle", "run.delegtop", "-o", "full.zip", "--at", NOW, "--prompts", "--lines"])
    lean, full = (b"".join(contents(name).values()) for name in ("lean.zip", "full.zip"))
    assert (b"be kind" in lean, b"very line" in lean) == (False, False)
    assert (b"be kind" in full, b"very line" in full) == (True, True)


def test_what_came_later_than_the_moment_is_not_in_it() -> None:
    record("run.delegtop", *((None, [event]) for event in family()))
    main(["bundle", "run.delegtop", "-o", "incident.zip", "--at", iso(AT)])
    assert b"words" not in contents("incident.zip")["recording.delegtop"]


def test_the_bundle_of_a_bundle_shows_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bundle", str(SAMPLES / "02_hang"), "-o", "one.zip", "--at", "2026-03-03T10:59:40Z"])
    main(["bundle", "one.zip", "-o", "two.zip", "--at", "2026-03-03T10:59:40Z"])
    at = "2026-03-03T10:59:40.000Z"
    assert tree("one.zip", capsys, at) == tree("two.zip", capsys, at)


def test_a_bundle_in_a_folder_is_found_and_every_command_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("box").mkdir()
    main(["bundle", str(SAMPLES / "02_hang"), "-o", "box/incident.zip", "--at", "2026-03-03T10:59:40Z"])
    assert len(tree("box", capsys, "2026-03-03T10:59:40Z")) == 4
    assert main(["check", "box", "--fail-on", "never", "--at", "2026-03-03T10:59:40Z"]) == Exit.OK
    assert "session.jsonl" in capsys.readouterr().out
    assert main(["record", "box", "--once", "-o", "again.delegtop"]) == Exit.OK
    assert len(tree("again.delegtop", capsys, "2026-03-03T10:59:40Z")) == 4
