"""What the command line loads, and what it must not: looked up in `sys.modules` of a fresh process."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from delegtop.cli.command_table import COMMANDS
from delegtop.diagnosis.rules import JUDGED
from delegtop.dialects import OWN
from delegtop.dialects.format_table import PRODUCTS
from delegtop.feed import session_index

HEAVY = {"textual", "rich", "pydantic", "watchfiles", "msgspec", "mcp", "anyio"}


def loaded(*commands: list[str], folder: Path | None = None, environ: Mapping[str, str] | None = None) -> set[str]:
    """The modules that running these commands in one process adds."""
    runs = "".join(f"main({command!r}); " for command in commands)
    program = (
        "import sys; before = set(sys.modules); from delegtop.cli import main; "
        f"{runs}sys.stdout.write('\\n\\0' + ' '.join(set(sys.modules) - before))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder, env=environ
    )
    return set(told.stdout.rpartition("\0")[2].split())


def test_the_version_loads_nothing_but_the_command_line() -> None:
    assert loaded(["--version"]) == {"delegtop", "delegtop.cli"}


def test_help_and_usage_errors_load_no_heavy_library() -> None:
    helps = [["--help"], *([name, "--help"] for name in COMMANDS)]
    commands = [*helps, ["tre"], ["tree", "x", "--jsn"], ["demo", "--speed", "no"], []]
    if loaded(*commands) & HEAVY:  # which of them, is asked only where it matters
        assert {" ".join(each): loaded(each) & HEAVY for each in commands} == {
            " ".join(each): set() for each in commands
        }
        raise AssertionError("all of them together load what none loads alone")


def test_headless_commands_never_load_the_screen(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = loaded(["tree", "run.jsonl"], ["tree", "run.jsonl", "--json"], ["config", "show"], folder=tmp_path)
    assert "delegtop.report.tree_text" in modules
    assert not {"textual", "rich", "delegtop.app"} & modules
    assert not {"watchfiles", "delegtop.report.printed_gantt"} & modules  # whoever reads once watches nothing
    assert "locale" not in modules, "nobody looks for translations of what argparse says"


def test_only_whoever_sends_messages_away_loads_what_does(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("")
    watching = ["watch", "run.jsonl", "--timeout", "0.1"]
    network = {"http.client", "urllib.request", "ssl", "delegtop.notify.http_post", "delegtop.notify.courier"}
    modules = loaded(watching, [*watching, "--notify", "bell"], [*watching, "--exec", "true"], folder=tmp_path)
    assert "delegtop.notify.notifier" in modules
    assert not network & modules
    away = {**os.environ, "DELEGTOP_NOTIFICATIONS_WEBHOOK_URL": "http://127.0.0.1:9/x"}
    assert network <= loaded([*watching, "--notify", "webhook"], folder=tmp_path, environ=away)


def test_a_file_loads_no_format_but_those_it_may_be_of(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = loaded(["tree", "run.jsonl"], folder=tmp_path)
    formats = {name for name, each in OWN.items() if each.place.partition(":")[0] in modules}
    assert formats == {"session-log"}
    assert not {"importlib.metadata", "typing_extensions", "inspect"} & modules


def test_a_session_log_with_returns_is_not_asked_whether_it_is_a_registry() -> None:
    modules = loaded(["tree", "sample_logs/02_hang"], folder=Path(__file__).parents[2])
    assert "delegtop.protocols.standard.dialects.session_log" in modules
    assert "delegtop.protocols.standard.dialects.registry_snapshot" not in modules


def test_a_plain_log_loads_nothing_that_only_others_need(tmp_path: Path) -> None:
    """Long over, so that all is said of it that `tree` has to say."""
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = loaded(["tree", "run.jsonl"], folder=tmp_path)
    assert "delegtop.feed.recordings" in modules
    for who, needed in {
        "packed logs": {"delegtop.sources.packed", "hashlib"},
        "recordings": {"delegtop.feed.recorder", "delegtop.dialects.recording.tape"},
        "what is found, not named": {"delegtop.feed.recency"},
        "standard input": {"tempfile"},
        "a terminal": {"shutil"},
        "who mistypes": {"difflib"},
        "who filters": {"delegtop.model.query"},
        "lines that are not strict": {"json"},
        "who asks for all rules": {"delegtop.diagnosis.rule_table"},
    }.items():
        assert not needed & modules, who


def test_a_status_bar_is_answered_without_anything_that_reads_logs(tmp_path: Path) -> None:
    """The first answer reads them and keeps what it found, the second has it from the file."""
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-m", "delegtop", "status"], env=environ, check=True, capture_output=True)
    for command in (["status", "--short", "--for", "tmux"], ["status", "--format", "{running}"], ["status", "--json"]):
        modules = loaded(command, environ=environ)
        assert "delegtop.report.status.status_words" in modules
        assert not (HEAVY | {"inspect", "subprocess", "tomllib", "difflib", "shutil", "typing_extensions"}) & modules
        assert not {"delegtop.model", "delegtop.diagnosis", "delegtop.settings", "delegtop.dialects"} & modules
        assert not {"delegtop.observation", "delegtop.feed", "delegtop.sources"} & modules


COMPILED = {
    "delegtop.base.text": "every text that is printed needs it",
    "delegtop.protocols.standard.dialects.session_log": "the log is recognised by it",
}


def test_patterns_are_compiled_when_a_text_needs_them(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = {name for name in loaded(["tree", "run.jsonl"], folder=tmp_path) if name.startswith("delegtop.")}
    compiling = {
        name
        for name in modules
        for spec in [find_spec(name)]
        if spec is not None and re.search(r"^\S.*\bre\.compile\(", Path(spec.origin or "").read_text(), re.MULTILINE)
    }
    assert compiling <= set(COMPILED)


def test_the_end_of_a_command_looks_for_no_circles() -> None:
    """What is frozen is not looked at; this is asked after whatever the command does last."""
    program = (
        "import atexit, gc; atexit.register(lambda: print('frozen' if gc.get_freeze_count() else 'looked at'))\n"
        "from delegtop.cli import main; main(['config', 'show'])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split()[-1] == "frozen"


def test_what_is_known_of_a_program_is_told_without_its_formats() -> None:
    program = "import sys; from delegtop.dialects import products; print(len(list(products.products())), *sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, *modules = told.stdout.split()
    assert int(count) == len(PRODUCTS)
    assert not {each.place.partition(":")[0] for each in OWN.values()} & set(modules)


def test_the_dashboard_opens_without_what_only_some_logs_need() -> None:
    """Settings are given, as whoever has a file of them gives some."""
    program = (
        "import sys; from delegtop import settings; settings.load(environ={'DELEGTOP_SORT': 'start'}); "
        "import delegtop.app.main; from delegtop.app import workings; "
        "from delegtop.app.pages.inspector import inspector_pane; "
        "from delegtop.app.state import board, reader_thread; "
        "from delegtop.app.widgets import gantt_tree; "
        "from delegtop.observation import observation; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "delegtop.app.screens.monitor" in told.stdout.split()
    assert not {"pydantic", "yaml", "watchfiles", "tomllib", "importlib.metadata"} & set(told.stdout.split())
    assert not {"delegtop.diagnosis.rules", "delegtop.diagnosis.engine"} & set(told.stdout.split())


def test_no_format_needs_the_models_before_a_file_has_it() -> None:
    program = (
        "import sys; from delegtop.dialects import load, names; [load(name) for name in names()]; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "delegtop.protocols.standard.dialects.registry_snapshot" in told.stdout.split()
    assert "pydantic" not in told.stdout.split()


def test_a_rule_is_loaded_when_a_delegation_is_judged_by_it(tmp_path: Path) -> None:
    """What is long lost is judged: by the rules of the standard, not by those of protocols that nobody follows here."""
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = loaded(["tree", "run.jsonl"], folder=tmp_path)
    ours = {name for name, judged in JUDGED.items() if judged is None or None in judged}
    assert modules & set(JUDGED) == ours
    assert "delegtop.protocols.hyper.hyper_rules" in set(JUDGED) - ours


def test_reading_rests_on_nothing_in_the_folders_that_may_change_without_what_is_known_being_read_again() -> None:
    program = (
        "import sys; from delegtop.dialects import OWN, load; from delegtop.feed import live_feed, loader_process; "
        "[load(name) for name in OWN]; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    folders = {module.split(".")[1] for module in told.stdout.split() if module.startswith("delegtop.")}
    assert {"agents", "feed", "model", "protocols", "sources"} <= folders
    assert not folders & session_index._ABOVE
