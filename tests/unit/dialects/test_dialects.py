"""Formats as plugins: listed without importing, loaded one by one, chosen by shape, and loud when broken."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.test_format_pages import program, row

from delegtop import dialects
from delegtop.base.origin import Origin
from delegtop.diagnosis.session_commands import session_command
from delegtop.dialects import Dialect, Sample, UnknownDialect, known, load, names, products, recognise
from delegtop.model.events import Deviation, Ended, Heard, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.protocols.standard.dialects.registry_snapshot import Registry
from delegtop.protocols.standard.dialects.session_log import SessionLog
from delegtop.report.redaction import Redactor
from delegtop.sources.records import Line, Record, Unreadable

RELAY = b"""\
{"t": 1770109200, "what": "start", "job": "a1", "who": "miller"}
{"t": 1770109201, "what": "start", "job": "b7", "who": "baker", "for": "a1"}
{"t": 1770109202.5, "what": "say", "job": "b7", "text": "kneading"}
{"t": 1770109260, "what": "done", "job": "b7", "ok": true, "text": "twelve loaves"}
{"t": 1770109261, "what": "sing", "job": "b7"}
{"t": 1770109262, "what": "start"}
half a li
"""


def install(folder: Path, package: str, points: dict[str, str], files: dict[str, str]) -> None:
    """Put a package and what an installer would write about it into `folder`."""
    info = folder / f"{package}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[delegtop.dialects]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
    )
    for name, text in files.items():
        (folder / name).write_text(text)


def _forget() -> None:
    for asked in (dialects.plugins, load, products.product, products._of_plugins):
        asked.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that Python looks for packages in; formats are looked for anew."""
    monkeypatch.syspath_prepend(tmp_path)
    _forget()
    yield tmp_path
    _forget()
    for module in [name for name in sys.modules if name.startswith("delegtop_relay")]:
        del sys.modules[module]


@pytest.fixture
def example(site: Path, project: Path) -> type[Dialect]:
    """The example of the documentation, installed by what its own pyproject.toml says."""
    source = project / "tests" / "example_dialect"
    points = tomllib.loads((source / "pyproject.toml").read_text())["project"]["entry-points"][dialects.GROUP]
    module = "delegtop_relay.py"
    install(site, "delegtop_relay", points, {module: (source / module).read_text()})
    return load("relay")


def test_our_own_formats_are_installed() -> None:
    assert {"registry", "session-log"} <= set(names())
    assert (load("session-log"), load("registry")) == (SessionLog, Registry)


def test_names_are_listed_without_importing_any_format() -> None:
    program = (
        "import sys; from delegtop.dialects import OWN, names; names();"
        "own = {each.place.partition(':')[0] for each in OWN.values()} | {'pydantic', 'textual', 'importlib.metadata'};"
        "print(sorted(own & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_nobody_has_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UnknownDialect, match=r"no format named 'klingon'; known: .*session-log"):
        load("klingon")


def test_a_third_party_format_is_found_by_its_entry_point(example: type[Dialect]) -> None:
    assert "relay" in names()
    assert issubclass(example, Dialect)
    assert example.title == "relay log"


def test_a_third_party_format_is_chosen_by_the_shape_of_the_file(example: type[Dialect]) -> None:
    assert recognise(Sample("x.jsonl", RELAY, True), known()) is example


def test_a_third_party_format_reads_its_lines_and_says_what_it_cannot(example: type[Dialect]) -> None:
    dialect = example()
    found = [
        event
        for number, data in enumerate(RELAY.splitlines(), 1)
        for event in dialect.read(Line(Origin("x.jsonl", number, 0), data))
    ]
    assert [type(each) for each in found] == [Started, Started, Heard, Ended, Deviation, Deviation, Unreadable]
    child, heard, ended = found[1], found[2], found[3]
    assert isinstance(child, Started)
    assert (child.id, child.agent, child.parent, child.at) == ("b7", "baker", "a1", 1_770_109_201_000)
    assert isinstance(heard, Heard)
    assert heard.doing == "kneading"
    assert isinstance(ended, Ended)
    assert (ended.outcome, ended.report.summary) == (Outcome.COMPLETED, "twelve loaves")


def test_the_program_of_a_third_party_format_is_known_like_ours(example: type[Dialect]) -> None:
    assert products.product("relay") is example.product is not None
    assert "relay" in [each.name for each in products.products()]
    [started] = example().translate(Record(Origin("x.jsonl", 1, 0), json.loads(RELAY.splitlines()[0])))
    forest = Forest()
    forest.apply([started])
    assert session_command(forest.delegation(next(forest.walk()))) == "relay take-up a1"
    assert Redactor(users=["relay", "ann"]).text("relay of ann") == "relay of user-1"
    assert "| `relay`<br>relay log | Relay | `~/.relay/runs/*.jsonl` |" in row("relay")
    assert "| Relay | `~/.relay/runs` | `relay take-up ID` |" in program("relay")


@pytest.mark.usefixtures("example")
def test_the_logs_of_a_third_party_format_are_found_in_the_home_of_its_program(site: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(site), "HOME": str(site / "home")}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "delegtop", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environ, cwd=site).stdout

    assert f"  {site}/home/.relay/runs\n" in run("sources")
    (site / "home" / ".relay" / "runs").mkdir(parents=True)
    (site / "home" / ".relay" / "runs" / "today.jsonl").write_bytes(RELAY)
    assert "relay" in run("sources", "--all")
    assert [node["agent"] for node in json.loads(run("tree", "--all", "--json"))["delegations"]] == ["miller", "baker"]


def test_a_format_in_a_package_that_is_no_folder_is_found_too(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = "delegtop_relay_packed-0.1.0.dist-info"
    with zipfile.ZipFile(site / "packed.zip", "w") as archive:
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: delegtop_relay_packed\nVersion: 0.1.0\n")
        archive.writestr(f"{info}/entry_points.txt", "[delegtop.dialects]\npacked = delegtop_relay_packed:Packed\n")
    assert "packed" not in names()
    monkeypatch.syspath_prepend(site / "packed.zip")
    _forget()
    assert "packed" in names()


def test_a_third_party_format_does_not_take_the_name_of_ours(site: Path) -> None:
    install(site, "delegtop_relay_twin", {"codex": "delegtop_relay_twin:Codex"}, {})
    assert load("codex").__module__ == "delegtop.agents.codex.rollouts"


def made(name: str, surest: int, says: int, asked: list[str]) -> type[Dialect]:
    """A format that is always equally sure, and tells when it is asked."""

    def sniff(_cls: type[Dialect], _sample: Sample) -> int:
        asked.append(name)
        return says

    return type(name, (Registry,), {"name": name, "surest": surest, "sniff": classmethod(sniff)})


@pytest.mark.parametrize(
    ("scores", "chosen", "asked"),
    [
        ({"a": (95, 60), "b": (80, 80), "c": (70, 70)}, "b", ["a", "b"]),
        ({"a": (80, 80), "b": (95, 80)}, "a", ["b", "a"]),
        ({"a": (80, 80), "b": (80, 80)}, "a", ["a"]),
        ({"a": (95, 0), "b": (80, 0)}, None, ["a", "b"]),
    ],
    ids=["surer", "a tie goes to the first name", "a tie needs no asking", "nobody"],
)
def test_the_surest_format_is_chosen_and_none_is_asked_that_cannot_be_surer(
    scores: dict[str, tuple[int, int]], chosen: str | None, asked: list[str]
) -> None:
    for order in (1, -1):
        questions: list[str] = []
        among = [made(name, *scores[name], questions) for name in sorted(scores)[::order]]
        found = recognise(Sample("x", b"{}", True), among)
        assert (found.name if found else None, questions) == (chosen, asked)


def test_a_broken_plugin_fails_loudly_by_name_and_leaves_the_others_alone(site: Path) -> None:
    points = {
        "burst": "delegtop_relay_burst:Burst",
        "absent": "delegtop_relay_none:X",
        "hollow": "delegtop_relay_hollow:Hollow",
    }
    files = {"delegtop_relay_burst.py": "raise RuntimeError('boom')", "delegtop_relay_hollow.py": "Hollow = 5"}
    install(site, "delegtop_relay_broken", points, files)
    assert set(points) < set(names())
    with pytest.raises(UnknownDialect, match=r"format 'burst' \(delegtop_relay_burst:Burst\) cannot be loaded: boom"):
        load("burst")
    with pytest.raises(UnknownDialect, match=r"format 'absent' .* cannot be loaded: No module named"):
        load("absent")
    with pytest.raises(UnknownDialect, match=r"format 'hollow' .* is not a delegtop Dialect"):
        load("hollow")
    assert load("session-log").name == "session-log"


def test_a_file_goes_to_the_surest_format_and_to_none_if_none_is_sure() -> None:
    among: list[type[Dialect]] = [Registry, SessionLog]
    line = b'{"event":"cancel","at":"2026-02-03T09:00:00Z","session_id":"sess_20260203_abc123"}\n'
    assert recognise(Sample("registry.json", line, True), among) is SessionLog
    assert recognise(Sample("session.jsonl", b'{"sess_20260203_abc123": {}}', True), among) is Registry
    assert recognise(Sample("session.jsonl", b"dear diary", True), among) is None
