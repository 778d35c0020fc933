"""Settings: the user's file, the project's file, the environment, the flags; later wins.

The dashboard opens with them, so what only a few need (TOML, explanations, advice) is imported where it is.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import msgspec

from delegtop.base.clock import HOUR, MINUTE, SECOND, LocalZone
from delegtop.base.own_variables import PREFIX, setting_variables
from delegtop.base.paths import config_folder, is_there
from delegtop.base.secret_references import is_reference, others_can_read, shown
from delegtop.base.system_errors import reason_of
from delegtop.model.own_prices import PRICE
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy
from delegtop.model.prices import PriceBook, Rates
from delegtop.model.tree.order_names import ORDERS, PROBLEMS
from delegtop.setting_kinds import (
    COMMAND,
    SECRET,
    SPAN,
    TEXT,
    TRUTH,
    ByProject,
    ProjectMaySet,
    Refused,
    SettingKind,
    one_of,
    table,
    whole,
    words,
)
from delegtop.setting_tables import HOSTS, Act, Count, HostSetting, Notifications, Protocol, SettingTable

NOT_BY_ENVIRONMENT = frozenset({"act.enabled", "hosts"})
"""Those that a variable may not make either: a project may bring its variables along."""
STICKY = {"act.readonly": True, "index": False}
"""What nothing takes back, once somebody has said so."""

_POLICY = Policy()


THEMES = ("dark", "light", "safe")
WAYS = ("bell", "desktop", "command", "ntfy", "slack", "discord", "webhook")
Span = Annotated[int, SPAN]
Words = Annotated[tuple[str, ...], words()]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set. Spans are held in milliseconds."""

    theme: ByProject[Annotated[str, one_of(THEMES)]] = "dark"
    """The colours of the dashboard: dark, light, or safe for colour-blind eyes."""
    ascii: ByProject[bool] = False
    """Draw with plain ASCII characters only."""
    color: ByProject[bool] = True
    """Use colour where the terminal has it. A NO_COLOR that is not empty turns it off too."""
    mouse: ByProject[bool] = True
    """Let the dashboard use the mouse. Without it the terminal selects text as usual."""
    sort: ByProject[Annotated[str, one_of(tuple(ORDERS))]] = PROBLEMS
    """What the dashboard sorts siblings by: {sorts}."""
    reverse: ByProject[bool] = False
    """Let the dashboard sort the other way round."""
    columns: ByProject[Words] = ()
    """The columns of the tree, in their order: {columns}. The usual ones if there is none."""
    follow: ByProject[bool] = False
    """Keep the newest delegation in view."""
    frame_rate: ByProject[Annotated[int, whole(1, 60)]] = 15
    """How many times a second the screen may change, at most. While 200 events a second and more come and nobody types,
    it changes some three times a second."""
    mask_secrets: bool = True
    """Hide keys, tokens and passwords in foreign text; a key of the dashboard shows them."""
    naive_times: ByProject[Literal["utc", "local"]] = "utc"
    """How to read a time that does not say its zone: as UTC, or in the zone of this machine."""
    sources: Words = ()
    """Folders and files that are looked into when no source is named, beside the known places."""
    exclude: ByProject[Words] = ()
    """Patterns of names and paths that are left out of every folder: `"*/archive/*"`."""
    hosts: Annotated[tuple[HostSetting, ...], HOSTS] = ()
    """Other machines that `--hosts` and `delegtop hosts` connect to, each in a table `[[hosts]]` with `ssh`, `name`,
    `since`, `command` and `lines` (docs/fleet.md), or hubs, with `nats`, `name`, `since` and `credentials`
    (docs/nats.md). Neither a project nor the environment can set it."""
    since: Span = 2 * HOUR
    """When no source is named, only sessions that were heard of within this time, by their own records, are read."""
    learn: bool = True
    """Read the history of this machine once a day, to know how long agents, tools and models usually take."""
    index: ByProject[bool] = True
    """Keep in the cache folder what sessions told that have been quiet for an hour, so that they are not read again
    (docs/privacy.md). Whoever turns it off, nobody else turns it on."""
    notify: Annotated[tuple[str, ...], words(WAYS)] = ()
    """How the dashboard and `watch` tell of trouble and of what is done: bell, desktop, command, ntfy, slack, discord,
    webhook (docs/notifications.md)."""
    notify_command: Annotated[tuple[str, ...], COMMAND] = ()
    """The command that `notify = ["command"]` runs."""
    silent_after: ByProject[Span] = _POLICY.silent_after
    """A running delegation that wrote nothing for this long is silent. Quiet is not hung."""
    suspect_after: ByProject[Span] = _POLICY.suspect_after
    """One that wrote nothing for this long, and longer than such calls or its kind usually take, is worth a look."""
    tool_suspect_after: ByProject[Span] = _POLICY.tool_suspect_after
    """The same inside a shell or a tool of which little is known, and for an agent without a log of its own."""
    recent: ByProject[Span] = _POLICY.recent
    """What ended badly within this time stands above what is only suspicious; after it, among the earlier troubles."""
    lost_after: ByProject[Span] = _POLICY.lost_after
    """A delegation past its deadline, or without one, that wrote nothing for this long is lost."""
    runaway_spawns: ByProject[Count] = _POLICY.runaway_spawns
    """A session below which more agents than this start within a minute runs away. 0 is no limit, here and next."""
    runaway_agents: ByProject[Count] = _POLICY.runaway_agents
    """So does one with more agents than this below it in all."""
    runaway_depth: ByProject[Count] = _POLICY.runaway_depth
    """So does one whose work is handed down more levels than this."""
    runaway_tokens: ByProject[Annotated[int, whole(0, 10**12)]] = _POLICY.runaway_tokens
    """So does one that used more new tokens than this, with all below it."""
    runaway_dollars: ByProject[Count] = _POLICY.runaway_dollars
    """So does one that spent more US dollars than this, with all below it."""
    research_timeout: ByProject[Span] = _POLICY.research_timeout
    """The time research has when its log does not say."""
    planning_timeout: ByProject[Span] = _POLICY.planning_timeout
    """The time planning has when its log does not say."""
    implementation_timeout: ByProject[Span] = _POLICY.implementation_timeout
    """The time an implementation has when its log does not say."""
    simple_timeout: ByProject[Span] = _POLICY.simple_timeout
    """The time a simple operation has when its log does not say."""
    timeouts: ByProject[Annotated[dict[str, int], table(SPAN)]] = {}
    """The time agents have, by a pattern of their name, kind or folder: `"lean-*" = "2h"`. The first one counts."""
    prices: ByProject[Annotated[dict[str, Rates], table(PRICE)]] = {}
    """What models cost, by a pattern of their name, in dollars for a million tokens; it goes before the list prices
    (docs/cost.md): `"gpt-5*" = { input = 1.25, output = 10, cache_read = 0.125 }`. The first one counts."""
    keymap: Annotated[dict[str, str], table(TEXT)] = {}
    """Other keys for actions, by the action's name: `quit = "ctrl+q"`. Several keys are joined by commas."""
    notifications: Notifications = Notifications()
    """Where messages go, and when."""
    protocol: Protocol = Protocol()
    """How the protocol documents are read where they contradict each other."""
    act: Act = Act()
    """Whether delegtop may stop what is stuck."""

    def at_pace(self, recent: int) -> "Settings":
        """The same for work that is only played, at another pace, as in the demo: what happened just now is sooner long
        ago, and nobody elsewhere is told."""
        return msgspec.structs.replace(self, recent=recent, notify=tuple(set(self.notify) & {"bell"}))

    def policy(self, agents: Mapping[str, AgentLimits] | None = None) -> Policy:
        """The limits the model judges by, with what the agents' own files say."""
        limits = {name: getattr(self, name) for name in Policy.__struct_fields__ if hasattr(self, name)}
        limits["timeouts"] = tuple(OperatorTimeout(*each) for each in self.timeouts.items())
        limits["prices"] = PriceBook(self.prices)
        return Policy(**limits, agents=dict(agents or {}), reading=self.protocol.reading())

    def zone(self) -> tzinfo:
        """The zone of times that do not say theirs."""
        return LocalZone() if self.naive_times == "local" else UTC


class SettingField(NamedTuple):
    """What a setting may be, what it is unless somebody says otherwise, and whether a project may."""

    kind: SettingKind
    default: Any
    by_project: bool


def _fields(settings: type[msgspec.Struct], prefix: str = "") -> dict[str, SettingField]:
    defaults = settings()
    kinds = {name: _kind(hint) for name, hint in settings.__annotations__.items()}
    return {
        prefix + name: SettingField(kind, getattr(defaults, name), ProjectMaySet in _marks(settings, name))
        for name, kind in kinds.items()
        if kind is not None
    }


def _marks(settings: type[msgspec.Struct], name: str) -> tuple[Any, ...]:
    return getattr(settings.__annotations__[name], "__metadata__", ())


def _kind(hint: Any) -> SettingKind | None:
    """The kind of values an annotation asks for; None for a table of settings."""
    kinds = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, SettingKind)]
    if kinds:
        return kinds[-1]
    plain = getattr(hint, "__origin__", hint) if hasattr(hint, "__metadata__") else hint
    if plain in _PLAIN:
        return _PLAIN[plain]
    if isinstance(plain, type) and issubclass(plain, SettingTable):
        return None
    return one_of(get_args(plain))


_PLAIN: dict[Any, SettingKind] = {bool: TRUTH, str: TEXT}
TABLES: dict[str, type[SettingTable]] = {
    name: hint
    for name, hint in Settings.__annotations__.items()
    if isinstance(hint, type) and issubclass(hint, SettingTable)
}
"""The tables of settings within the settings: the keys of one are `protocol.max_depth` and so on."""
FIELDS = _fields(Settings) | {
    key: field for name, settings in TABLES.items() for key, field in _fields(settings, f"{name}.").items()
}
"""Every setting by its key."""
SECRETS = frozenset(key for key, field in FIELDS.items() if field.kind is SECRET)
SPANS = frozenset(key for key, field in FIELDS.items() if field.kind is SPAN) | {"timeouts"}


class ConfigError(Exception):
    """A setting is wrong; the message names the file or variable, and the key."""


class Loaded(NamedTuple):
    settings: Settings
    origins: dict[str, str]
    """For every setting, where its value came from."""


def candidates(environ: Mapping[str, str] = os.environ) -> tuple[Path, Path]:
    """The files settings are read from, whether they exist or not: the user's, then the project's."""
    return config_folder(environ) / "config.toml", Path("delegtop.toml")


def load(
    path_override: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """All settings. `path_override` (--config) stands in for both files; `flags` holds those that were given."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins = dict.fromkeys(FIELDS, "default")
    paths = [path_override] if path_override else [path for path in candidates(environ) if is_there(path)]
    for path in paths:
        found = _from_file(path)
        _check_owner(path, found, is_project=path != path_override and path == candidates(environ)[1])
        _check_secrets(path, found)
        for key, value in found.items():
            _put(values, origins, key, value, str(path))
    for key, value in _from_environment(environ).items():
        _put(values, origins, key, value, _variable(key))
    for key, value in (flags or {}).items():
        _put(values, origins, key, _judged(key, value, partial(_flag, value=value)), _flag(key, value))
    return Loaded(_settings(values), origins)


def _put(values: dict[str, Any], origins: dict[str, str], key: str, value: Any, origin: str) -> None:
    if key not in STICKY or values.get(key) is not STICKY[key]:
        values[key], origins[key] = value, origin


def _check_owner(path: Path, found: Mapping[str, Any], *, is_project: bool) -> None:
    """The file of a project may repeat the default of what is the user's own, and no more."""
    for key in found if is_project else ():
        if not FIELDS[key].by_project and found[key] != FIELDS[key].default:
            raise ConfigError(f"{path}: {key}: a project may not set this; it belongs into your own settings")


def _check_secrets(path: Path, found: Mapping[str, Any]) -> None:
    """A secret that stands in the file itself makes all of it one."""
    for key in SECRETS.intersection(found):
        if found[key] and not is_reference(found[key]) and others_can_read(str(path)):
            raise ConfigError(
                f"{path}: {key}: others can read this file; chmod 600 it, or write env:NAME or file:PATH in its place"
            )


def _settings(values: Mapping[str, Any]) -> Settings:
    """The settings of values that were all judged before."""
    told: dict[str, Any] = {name: {} for name in TABLES}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        (told[table] if table else told)[name] = value
    return Settings(**told | {name: TABLES[name](**told[name]) for name in TABLES})


def value_of(settings: Settings, key: str) -> Any:
    """The value of a setting by its key."""
    table, _, name = key.rpartition(".")
    return getattr(getattr(settings, table) if table else settings, name)


def _variable(key: str) -> str:
    return PREFIX + key.upper().replace(".", "_")


_FLAGS = {"act.enabled": "--act", "act.readonly": "--readonly"}
"""Flags that are called otherwise than their setting."""


def _flag(key: str, value: object) -> str:
    return _FLAGS.get(key) or (f"--no-{key}" if value is False else f"--{key.replace('_', '-')}")


def _from_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        if path.is_dir():
            raise ConfigError(f"{path}: is a folder, and should be a file")
        if path.exists() and not (path.is_file() or path.samefile(os.devnull)):
            raise ConfigError(f"{path}: is no file but a pipe or a device, which may never end")
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {reason_of(error)}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: is nested too deep") from None
    layer = _flat(table, place := lambda key: f"{path}{_line_of(key, text)}: {key}")
    return {key: _judged(key, value, place) for key, value in layer.items()}


def blamed(loaded: Loaded, key: str) -> str:
    """Who is to blame for the value of a setting: the flag, the variable, or the file, the line and the key."""
    origin = loaded.origins[key]
    if origin.startswith(("--", PREFIX)):
        return origin
    try:
        return f"{origin}{_line_of(key, Path(origin).read_text('utf-8'))}: {key}"
    except (OSError, UnicodeDecodeError):  # it was there a moment ago
        return f"{origin}: {key}"


def _line_of(key: str, text: str) -> str:
    """`:3` if a line of the file sets the key by its plain name."""
    match = re.search(rf"^[ \t]*{re.escape(key.split('.')[-1])}[ \t]*=", text, re.MULTILINE)
    return f":{text.count(chr(10), 0, match.start()) + 1}" if match else ""


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    layer = {_key(name): value for name, value in setting_variables(environ).items()}
    judged = {key: _judged(key, _spelled(key, text), _variable) for key, text in layer.items()}
    for key in NOT_BY_ENVIRONMENT.intersection(judged):
        if judged[key] != FIELDS[key].default:
            raise ConfigError(
                f"{_variable(key)}: the environment may not set this, a project may bring its own along; it belongs "
                "into your own settings"
            )
    return judged


def _key(variable: str) -> str:
    """The setting that a variable is of: `DELEGTOP_PROTOCOL_MAX_DEPTH` is `protocol.max_depth`."""
    name = variable.removeprefix(PREFIX).lower()
    table = next((table for table in TABLES if name.startswith(f"{table}_")), "")
    return f"{table}.{name.removeprefix(f'{table}_')}" if table else name


def _spelled(key: str, text: str) -> object:
    return FIELDS[key].kind.spelled(text) if key in FIELDS else text


def _flat(layer: Mapping[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    """The values of one layer by their keys; those of a table have its name before theirs."""
    flat: dict[str, Any] = {}
    for key, value in layer.items():
        if key not in TABLES:
            flat[key] = value
        elif isinstance(value, dict):
            flat |= {f"{key}.{name}": each for name, each in value.items()}
        else:
            raise ConfigError(f"{place(key)}: {value!r} will not do: it should be a table")
    return flat


def _judged(key: str, value: object, place: Callable[[str], str]) -> Any:
    """The value a setting has by what one layer says; `place` tells where that layer says it."""
    if key not in FIELDS:
        raise ConfigError(f"{place(key)}: no such setting; {_advice(key)}")
    try:
        return FIELDS[key].kind.judge(value)
    except Refused as error:
        where = place(f"{key}.{error.key}" if error.key else key)
        raise ConfigError(f"{where}: {error.value!r} will not do: {error.reason}") from None


def _advice(key: str) -> str:
    from delegtop.base.near_words import advice

    return advice(key, FIELDS, f"the keys are {', '.join(FIELDS)}")


def documentation(columns: Iterable[str]) -> dict[str, str]:
    """What each setting means, from the docstring below it; `columns` are those that there are to choose from."""
    told = dict(_meanings(Settings))
    for prefix, settings in TABLES.items():
        told |= {f"{prefix}.{name}": meaning for name, meaning in _meanings(settings)}
    told["sort"] = told["sort"].format(sorts=" or ".join(", ".join(ORDERS).rsplit(", ", 1)))
    told["columns"] = told["columns"].format(columns=", ".join(columns))
    return {key: told.get(key, "") for key in FIELDS}


def _meanings(settings: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """The fields of a class and the texts below them. Nobody but the reader of a help text needs them."""
    import ast
    import inspect
    from itertools import pairwise

    body = ast.parse(inspect.getsource(settings)).body[0]
    for field, below in pairwise(body.body if isinstance(body, ast.ClassDef) else []):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            yield field.target.id, " ".join(ast.literal_eval(below.value).split())


def toml(key: str, value: Any) -> str:
    """One setting as a line of TOML, or for a table as an inline one; secrets are masked."""
    return f"{key} = {_toml_value(shown(value) if key in SECRETS else value, span=key in SPANS)}"


def _toml_value(value: Any, span: bool = False) -> str:
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml_value(key)} = {_toml_value(part, span)}" for key, part in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if span:
        return f'"{_span(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    import json  # only who asks for the settings as a file needs it

    # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else str(value)


def _span(milliseconds: int) -> str:
    for unit, size in (("h", HOUR), ("m", MINUTE), ("s", SECOND)):
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"
