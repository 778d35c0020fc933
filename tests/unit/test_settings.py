"""Settings: where they come from, who wins, and what is said when one is wrong."""

import re
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from textwrap import fill

import pytest

from delegtop.act.acting import READ_ONLY, Acting, acting
from delegtop.base.clock import HOUR, MINUTE, LocalZone, parse_span, parse_time
from delegtop.model.policy import Policy
from delegtop.model.prices import Rates
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions, SessionIdPlace
from delegtop.report.table import cells  # noqa: F401 -- the columns are declared there
from delegtop.report.table.columns import choice
from delegtop.settings import FIELDS, ConfigError, Settings, candidates, documentation, load, toml, value_of


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DELEGTOP_REAL_LOGS", raising=False)


def user_file(text: str) -> Path:
    path = candidates()[0]
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return path


def test_without_files_every_setting_is_a_default() -> None:
    settings, origins = load()
    assert settings == Settings()
    assert set(origins) == set(FIELDS)
    assert set(origins.values()) == {"default"}


def test_later_sources_win_and_each_is_named() -> None:
    path = user_file('theme = "dark"\nsort = "name"\nascii = true\nframe_rate = 5\n')
    Path("delegtop.toml").write_text('theme = "light"\nsort = "age"\nascii = false\n')
    environ = {"XDG_CONFIG_HOME": str(path.parent.parent), "DELEGTOP_THEME": "dark", "DELEGTOP_SORT": "quiet"}
    settings, origins = load(flags={"theme": "safe", "color": False}, environ=environ)
    assert (settings.theme, origins["theme"]) == ("safe", "--theme")
    assert (settings.sort, origins["sort"]) == ("quiet", "DELEGTOP_SORT")
    assert (settings.ascii, origins["ascii"]) == (False, "delegtop.toml")
    assert (settings.frame_rate, origins["frame_rate"]) == (5, str(path))
    assert (settings.color, origins["color"]) == (False, "--no-color")
    assert (settings.mouse, origins["mouse"]) == (True, "default")


def test_a_file_named_by_hand_stands_in_for_both() -> None:
    user_file('theme = "user"')
    Path("delegtop.toml").write_text('theme = "project"')
    Path("mine.toml").write_text("ascii = true")
    settings, origins = load(Path("mine.toml"))
    assert settings.theme == Settings().theme
    assert origins["ascii"] == "mine.toml"


@pytest.mark.parametrize(
    ("text", "expected"), [('"3m"', 3 * MINUTE), ('"90s"', 90_000), ('"24h"', 24 * HOUR), ("90", 90_000), ("0.5", 500)]
)
def test_a_span_is_words_or_seconds(text: str, expected: int) -> None:
    Path("delegtop.toml").write_text(f"silent_after = {text}")
    assert load().settings.silent_after == expected


def test_limits_reach_the_policy_and_the_defaults_are_its_own() -> None:
    assert Settings().policy() == Policy()
    Path("delegtop.toml").write_text('lost_after = "2h"\nresearch_timeout = "7s"')
    policy = load().settings.policy()
    assert (policy.lost_after, policy.research_timeout) == (2 * HOUR, 7_000)


def test_the_protocol_table_is_merged_key_by_key() -> None:
    path = user_file('[protocol]\nmax_depth = 2\nsummary_tokens = 99\nsession_id_place = "beside"\n')
    Path("delegtop.toml").write_text("[protocol]\nmax_depth = 4\n")
    environ = {
        "XDG_CONFIG_HOME": str(path.parent.parent),
        "DELEGTOP_PROTOCOL_ERROR_TYPES": "timeout, build_error",
        "DELEGTOP_PROTOCOL_METADATA": "session_id",
        "DELEGTOP_PROTOCOL_ERRORS_REQUIRED": "no",
        "DELEGTOP_PROTOCOLS": "/somewhere",
    }
    settings, origins = load(environ=environ)
    reading = settings.policy().reading
    assert (reading.max_depth, origins["protocol.max_depth"]) == (4, "delegtop.toml")
    assert (reading.summary_tokens, origins["protocol.summary_tokens"]) == (99, str(path))
    assert (reading.error_types, reading.metadata) == (("timeout", "build_error"), ("session_id",))
    assert (reading.errors_required, reading.command_depth) == (False, 0)
    assert reading.session_id_place is SessionIdPlace.BESIDE
    assert origins["protocol.errors_required"] == "DELEGTOP_PROTOCOL_ERRORS_REQUIRED"


def test_every_reading_of_the_protocols_is_a_setting_with_its_default() -> None:
    assert [f"protocol.{name}" for name in ProtocolOptions._fields] == [
        key for key in FIELDS if key.startswith("protocol.")
    ]
    assert Settings().policy().reading == ProtocolOptions()


def test_all_defaults_as_toml_read_back_the_same() -> None:
    defaults = Settings()
    Path("delegtop.toml").write_text("\n".join(toml(key, value_of(defaults, key)) for key in FIELDS), "utf-8")
    assert load().settings.policy() == defaults.policy()
    assert set(load().origins.values()) == {"delegtop.toml"}


def test_the_environment_can_say_everything() -> None:
    environ = {
        "DELEGTOP_KEYMAP": "quit=q,ctrl+q help=h",
        "DELEGTOP_MOUSE": "off",
        "DELEGTOP_FRAME_RATE": "30",
        "DELEGTOP_SILENT_AFTER": "90",
        "DELEGTOP_THEME": "",
        "DELEGTOP_REAL_LOGS": "/somewhere",
    }
    settings, origins = load(environ=environ)
    assert settings.keymap == {"quit": "q,ctrl+q", "help": "h"}
    assert settings.mouse is False
    assert settings.frame_rate == 30
    assert settings.silent_after == 90_000
    assert origins["theme"] == "default"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a = 1\nthmee = "x"', "delegtop.toml:1: a: no such setting; the keys are theme"),
        ('\nthmee = "x"', "delegtop.toml:2: thmee: no such setting; did you mean theme?"),
        ("theme = 3", "delegtop.toml:1: theme: 3 will not do"),
        ("frame_rate = true", "delegtop.toml:1: frame_rate: True will not do"),
        ("frame_rate = 0", "frame_rate: 0 will not do: it should be greater than or equal to 1"),
        ('ascii = "yes"', "ascii: 'yes' will not do"),
        ('silent_after = "soon"', 'it must be a time such as "90s"'),
        ('silent_after = "0s"', "silent_after: '0s' will not do: it should be greater than 0"),
        ("lost_after = true", "lost_after: True will not do"),
        ("[keymap]\nquit = 3", "delegtop.toml:2: keymap.quit: 3 will not do"),
        ('sort = "size"', "sort: 'size' will not do: it should be 'problems'"),
        ("= 3", "delegtop.toml: is not TOML: Invalid statement (at line 1, column 1)"),
        ("[protocol]\nmax_dept = 2", "delegtop.toml:2: protocol.max_dept: no such setting; did you mean protocol.max_"),
        ("[protocol]\nmax_depth = -1", "delegtop.toml:2: protocol.max_depth: -1 will not do"),
        ("protocol = 3", "delegtop.toml:1: protocol: 3 will not do"),
        ("protocol.command_depth = 2", "protocol.command_depth: 2 will not do: it should be less than or equal to 1"),
        ('protocol.session_id_form = "week"', "it should be 'day', 'epoch' or 'either'"),
        ('protocol.metadata = ["mood"]', "it may name session_id, duration_seconds"),
        ("protocol.error_types = []", "protocol.error_types: [] will not do"),
        ("frame_rate = 5.0", "frame_rate: 5.0 will not do: it should be a whole number"),
        ("sources = [3]", "sources: 3 will not do: it should be text"),
        ("sources = 3", "sources: 3 will not do: it should be a list"),
        ("sort = []", "sort: [] will not do: it should be 'problems'"),
        ('notify_command = "say \'"', "it is no command: No closing quotation"),
        ("keymap = 3", "keymap: 3 will not do: it should be a table"),
        ("[prices]\nx = 3", "delegtop.toml:2: prices.x: 3 will not do: it should have input and output, and may have"),
        ("prices.x = { input = 1 }", "it should have input and output"),
        ("prices.x = { input = 1, output = 2, thought = 3 }", "and may have cache_read, cache_write, cache_write_1h"),
        ('prices.x = "1/cheap"', "it should have dollars for a million tokens, such as 1.25"),
        ("prices.x = { input = 1, output = -2 }", "it should have dollars for a million tokens"),
        ("prices.x = { input = 1, output = nan }", "it should have dollars for a million tokens"),
        ('[timeouts]\nx = "soon"', "delegtop.toml:2: timeouts.x: 'soon' will not do: it must be a time"),
    ],
)
def test_a_wrong_file_is_told_with_its_key_and_line(text: str, message: str) -> None:
    Path("delegtop.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load()


@pytest.mark.parametrize(
    "text",
    [
        "mask_secrets = false",
        'notify_command = "rm x"',
        'notify = ["bell"]',
        "[notifications]\nper_minute = 600",
        "[act]\nenabled = true",
        'sources = ["/etc"]',
        'since = "9d"',
        "learn = false",
        'keymap = { stop = "j" }',
    ],
)
def test_a_project_may_not_decide_what_belongs_to_the_user(text: str, tmp_path: Path) -> None:
    Path("delegtop.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"delegtop\.toml: [\w.]+: a project may not set this"):
        load()
    own = tmp_path / "own.toml"
    own.write_text(text)
    load(own)


def test_a_project_may_repeat_that_secrets_are_masked() -> None:
    Path("delegtop.toml").write_text("mask_secrets = true")
    assert load().settings.mask_secrets


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(ConfigError, match=r"DELEGTOP_TEME: no such setting; did you mean theme\?"):
        load(environ={"DELEGTOP_TEME": "x"})
    with pytest.raises(ConfigError, match="DELEGTOP_MOUSE: 'maybe' will not do"):
        load(environ={"DELEGTOP_MOUSE": "maybe"})
    with pytest.raises(ConfigError, match="DELEGTOP_KEYMAP: 'quit' will not do: it must look like"):
        load(environ={"DELEGTOP_KEYMAP": "quit"})


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(ConfigError, match="--sort: 'size' will not do"):
        load(flags={"sort": "size"})


def test_a_file_that_cannot_be_read_is_named() -> None:
    Path("latin.toml").write_bytes(b'theme = "\xff"')
    with pytest.raises(ConfigError, match=r"latin\.toml: is not UTF-8 text"):
        load(Path("latin.toml"))
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read: No such file"):
        load(Path("nowhere.toml"))


def test_settings_stay_as_they_are() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Settings().theme = "other"  # type: ignore[misc] # that is what is tried


def test_a_value_written_as_toml_reads_back_the_same() -> None:
    hostile = {"quit": 'a"b\\c\x1b\x7f\n é 😀', "with space": ""}
    Path("own.toml").write_text(toml("keymap", hostile), "utf-8")
    assert load(Path("own.toml")).settings.keymap == hostile


def test_spans_in_a_table_written_as_toml_read_back_the_same() -> None:
    Path("delegtop.toml").write_text('timeouts = { "lean-*" = "2h", writer = 90 }')
    timeouts = load().settings.timeouts
    assert timeouts == {"lean-*": 2 * HOUR, "writer": 90_000}
    Path("delegtop.toml").write_text(toml("timeouts", timeouts), "utf-8")
    assert load().settings.timeouts == timeouts


def test_prices_written_as_toml_or_in_the_environment_read_back_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("delegtop.toml").write_text('[prices]\n"gpt-5*" = { input = 2, output = 8, cache_read = 0.5 }\nx = "1/2"')
    prices = load().settings.prices
    assert prices == {"gpt-5*": Rates(2, 8, 0.5, 2, 2), "x": Rates(1, 2, 1, 1, 1)}
    Path("delegtop.toml").write_text(toml("prices", prices), "utf-8")
    assert load().settings.prices == prices
    monkeypatch.setenv("DELEGTOP_PRICES", "a-*=3/15/0.3/3.75/6 b=1/2/0")
    found = load().settings
    assert found.prices == {"a-*": Rates(3, 15, 0.3, 3.75, 6), "b": Rates(1, 2, 0, 1, 1)}
    assert found.policy().prices.rates(("a-1", 0, False), None) == Rates(3, 15, 0.3, 3.75, 6)


def test_every_setting_is_explained() -> None:
    assert all(documentation(choice()).values())


def test_zones_follow_the_setting() -> None:
    assert Settings().zone() is UTC
    Path("delegtop.toml").write_text('naive_times = "local"')
    assert isinstance(load().settings.zone(), LocalZone)


def test_the_local_zone_knows_summer_time() -> None:
    program = (
        "from delegtop.base.clock import LocalZone, iso, parse_time\n"
        "for day in ('2025-01-15', '2025-07-15'): print(iso(parse_time(day + 'T12:00:00', LocalZone())))"
    )
    told = subprocess.run([sys.executable, "-c", program], env={"TZ": "Europe/Berlin"}, capture_output=True, text=True)
    assert told.stdout.split() == ["2025-01-15T11:00:00.000Z", "2025-07-15T10:00:00.000Z"]
    assert parse_time("2025-07-15T12:00:00+02:00", LocalZone()) == parse_time("2025-07-15T10:00:00Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90_000), ("1.5h", 90 * MINUTE), ("1h30m", 90 * MINUTE), ("2d", 48 * HOUR), ("500ms", 500)]
    + [(text, None) for text in ("", "m", "5x", "-5m", "1h30", "5 m", "1e9", "٣m", "9" * 400)],
)
def test_spans_are_read_as_people_write_them(text: str, expected: int | None) -> None:
    assert parse_span(text) == expected


def test_the_page_explains_every_setting_as_the_program_does(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "configuration.md"
    begin, end = "<!-- settings: begin -->\n", "<!-- settings: end -->"
    before, rest = page.read_text("utf-8").split(begin)
    table = "| setting and default | what it does |\n| --- | --- |\n"
    for key, meaning in documentation(choice()).items():
        table += f"| `{toml(key, value_of(Settings(), key))}` | {meaning} |\n"
    if update_golden:
        page.write_text(before + begin + table + end + rest.split(end)[1], "utf-8")
    assert rest.split(end)[0] == table or update_golden


def test_the_page_lists_what_a_project_may_set(project: Path, update_golden: bool) -> None:
    page = project / "docs" / "configuration.md"
    begin, end = "<!-- project: begin -->\n", "<!-- project: end -->"
    before, rest = page.read_text("utf-8").split(begin)
    listed = fill(", ".join(f"`{key}`" for key, field in FIELDS.items() if field.by_project), 120) + "\n"
    if update_golden:
        page.write_text(before + begin + listed + end + rest.split(end)[1], "utf-8")
    assert rest.split(end)[0] == listed or update_golden


def test_acting_is_turned_on_by_the_user_alone() -> None:
    assert not Settings().act.enabled
    environ = {"DELEGTOP_ACT_ENABLED": "true"}
    with pytest.raises(ConfigError, match="DELEGTOP_ACT_ENABLED: the environment may not set this"):
        load(environ=environ)
    Path("delegtop.toml").write_text("[act]\nenabled = true\n")
    with pytest.raises(ConfigError, match="a project may not set this"):
        load()
    Path("delegtop.toml").unlink()
    user_file("[act]\nenabled = true\n")
    assert load().settings.act.enabled
    assert load(flags={"act.enabled": True}).origins["act.enabled"] == "--act"


def test_nothing_takes_back_that_it_must_not_act() -> None:
    user_file("[act]\nenabled = true\nreadonly = true\n")
    Path("delegtop.toml").write_text("[act]\nreadonly = false\n")
    settings, origins = load(environ={"XDG_CONFIG_HOME": str(candidates()[0].parents[1]), "DELEGTOP_ACT_READONLY": "0"})
    assert settings.act.readonly
    assert origins["act.readonly"].endswith("config.toml")
    assert not acting(settings).enabled
    assert acting(load(flags={"act.enabled": True}).settings) == Acting(why_not=READ_ONLY)


def test_a_project_may_ask_for_restraint() -> None:
    user_file("[act]\nenabled = true\n")
    Path("delegtop.toml").write_text("[act]\nreadonly = true\n")
    assert not acting(load().settings).enabled


def test_of_what_is_only_played_nobody_elsewhere_is_told() -> None:
    settings = Settings(notify=("bell", "slack", "command"))
    assert settings.at_pace(1_000).notify == ("bell",)
