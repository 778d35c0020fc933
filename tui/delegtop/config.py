"""Settings: the user's file, the project's file, the environment, the flags; later wins.

Importing this module imports pydantic, so commands import it only when they need a setting.
"""

import ast
import inspect
import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, tzinfo
from difflib import get_close_matches
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from delegtop.clock import HOUR, MINUTE, SECOND, LocalZone, parse_span
from delegtop.contract.reading import IdForm, Place, Reading
from delegtop.model.policy import AgentLimits, OperatorTimeout, Policy

PREFIX = "DELEGTOP_"
NOT_SETTINGS = frozenset(
    {
        "DELEGTOP_REAL_LOGS",
        "DELEGTOP_PROTOCOLS",
        "DELEGTOP_CONTEXT",
        "DELEGTOP_SESSION_ID",
        "DELEGTOP_LOG",
        "DELEGTOP_REGISTRY",
        "DELEGTOP_EVENT",
        "DELEGTOP_ID",
        "DELEGTOP_STATE",
        "DELEGTOP_NAME",
        "DELEGTOP_TITLE",
        "DELEGTOP_MESSAGE",
        "DELEGTOP_NOTICED_AT",
        "DELEGTOP_MORE",
    }
)
"""Variables with our prefix that are no settings."""
USER_ONLY = frozenset({"notify_command"})
"""Settings that the file of a project may not make: whoever looks into a folder does not want to run what it says."""

_POLICY = Policy()
_READING = Reading()


def _milliseconds(value: object) -> object:
    """A span of time as text or as a number of seconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    span = parse_span(value) if isinstance(value, str) else None
    if span is None:
        raise ValueError('it must be a time such as "90s", "5m" or "1h30m", or a number of seconds')
    return span


def _bindings(value: object) -> object:
    """A table, or in the environment `action=key action=key,key`."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split()]
    if not all(action and keys for action, _, keys in pairs):
        raise ValueError('it must look like "quit=q,ctrl+q help=h"')
    return {action: keys for action, _, keys in pairs}


def _words(value: object) -> object:
    """A list, or in the environment words with commas between them."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return tuple(value) if isinstance(value, list) else value


def _command(value: object) -> object:
    """A list of words, or one text in which they are quoted as for a shell; no shell ever sees it."""
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise ValueError(f"it is no command: {error}") from None
    return tuple(value) if isinstance(value, list) else value


def _known_ways(names: tuple[str, ...]) -> tuple[str, ...]:
    if not set(names) <= set(WAYS):
        raise ValueError(f"it may name {', '.join(WAYS)}")
    return names


def _known_metadata(names: tuple[str, ...]) -> tuple[str, ...]:
    if not set(names) <= set(_READING.metadata):
        raise ValueError(f"it may name {', '.join(_READING.metadata)}")
    return names


WAYS = ("bell", "desktop", "command")
Span = Annotated[int, BeforeValidator(_milliseconds), Field(gt=0)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
SomeWords = Annotated[Words, Field(min_length=1)]
Sort = Literal["start", "deadline", "age", "quiet", "name", "problems"]


# The validators take a tenth of a second to build: without a setting to judge, none is built.
_FROZEN = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Protocol(BaseModel):
    """How the protocol documents are read where they contradict each other: the table `[protocol]`."""

    model_config = _FROZEN

    max_depth: Count = _READING.max_depth
    """The deepest a delegation may be. The guide's levels end at 3; its check would stop at 2."""
    command_depth: Annotated[int, Field(ge=0, le=1)] = _READING.command_depth
    """The depth of a command: 0 as the delegation guide counts, 1 as the structure standard does."""
    summary_sentences_min: Count = _READING.summary_sentences_min
    """The least sentences of a summary. Two of the documents have examples with one."""
    summary_sentences_max: Count = _READING.summary_sentences_max
    """The most sentences of a summary."""
    summary_tokens: Count = _READING.summary_tokens
    """The most tokens of a summary, four characters each. The structure standard wants fewer than 100: 99."""
    summary_characters: Count = _READING.summary_characters
    """A return whose summary has more characters is refused, as the delegation guide does."""
    session_id_place: Literal["metadata", "beside", "either"] = "either"
    """Where a return names its session: in the metadata, beside it, or either."""
    session_id_form: Literal["day", "epoch", "either"] = "either"
    """What the middle of a session id is: a day, an epoch second, or either."""
    session_id_random: Annotated[int, Field(ge=0, le=32)] = _READING.session_id_random
    """Characters of the random part of a session id: 6 in the delegation guide, 0 for any number."""
    metadata: Annotated[Words, AfterValidator(_known_metadata)] = _READING.metadata
    """What the metadata of a return must name. The structure standard asks for nothing in particular: []."""
    errors_required: bool = _READING.errors_required
    """A return that is not completed must have errors. The structure standard calls them optional."""
    error_types: SomeWords = _READING.error_types
    """The types an error may have. The guide's example has build_error, the structure standard has others."""
    artifact_types: SomeWords = _READING.artifact_types
    """The types an artifact may have. The structure standard has review where this has documentation."""
    agent_file_lines: Count = _READING.agent_file_lines
    """The least lines of an agent file: 150 in the size guidelines, 200 in the overview and the checklist."""

    def reading(self) -> Reading:
        """The same, as the rules take it."""
        values = {name: getattr(self, name) for name in Reading._fields}
        values["session_id_place"] = Place(self.session_id_place)
        values["session_id_form"] = IdForm(self.session_id_form)
        return Reading(**values)


class Settings(BaseModel):
    """Everything that can be set. Spans are held in milliseconds."""

    model_config = _FROZEN

    theme: str = "dark"
    """The colours of the dashboard: dark, light, or safe for colour-blind eyes."""
    ascii: bool = False
    """Draw with plain ASCII characters only."""
    color: bool = True
    """Use colour where the terminal has it. A NO_COLOR that is not empty turns it off too."""
    mouse: bool = True
    """Let the dashboard use the mouse. Without it the terminal selects text as usual."""
    sort: Sort = "problems"
    """What the dashboard sorts siblings by: start, deadline, age, quiet, name or problems."""
    reverse: bool = False
    """Let the dashboard sort the other way round."""
    follow: bool = False
    """Keep the newest delegation in view."""
    frame_rate: Annotated[int, Field(ge=1, le=60)] = 15
    """How many times a second the screen may change, at most."""
    mask_secrets: bool = True
    """Hide keys, tokens and passwords in foreign text. In the dashboard a key shows them."""
    naive_times: Literal["utc", "local"] = "utc"
    """How to read a time that does not say its zone: as UTC, or in the zone of this machine."""
    sources: Words = ()
    """Folders and files that are looked into when no source is named, beside the known places."""
    exclude: Words = ()
    """Patterns of names and paths that are left out of every folder: `"*/archive/*"`."""
    since: Span = 2 * HOUR
    """When no source is named, only sessions that were written within this time are read."""
    notify: Annotated[Words, AfterValidator(_known_ways)] = ()
    """How the dashboard and `watch` tell of trouble and of what is done: bell, desktop, command (docs/watch.md)."""
    notify_command: Annotated[tuple[str, ...], BeforeValidator(_command)] = ()
    """The command that `notify = ["command"]` runs. The file of a project cannot set it."""
    silent_after: Span = _POLICY.silent_after
    """A running delegation that wrote nothing for this long is silent. Quiet is not hung."""
    suspect_after: Span = _POLICY.suspect_after
    """One that wrote nothing for this long, and longer than its kind usually takes, is worth a look."""
    tool_suspect_after: Span = _POLICY.tool_suspect_after
    """The same while it is inside a tool: a long quiet tool is healthy."""
    lost_after: Span = _POLICY.lost_after
    """A delegation past its deadline, or without one, that wrote nothing for this long is lost."""
    research_timeout: Span = _POLICY.research_timeout
    """The time research has when its log does not say."""
    planning_timeout: Span = _POLICY.planning_timeout
    """The time planning has when its log does not say."""
    implementation_timeout: Span = _POLICY.implementation_timeout
    """The time an implementation has when its log does not say."""
    simple_timeout: Span = _POLICY.simple_timeout
    """The time a simple operation has when its log does not say."""
    timeouts: Annotated[dict[str, Span], BeforeValidator(_bindings)] = {}
    """The time agents have, by a pattern of their name, kind or folder: `"lean-*" = "2h"`. The first one counts."""
    keymap: Annotated[dict[str, str], BeforeValidator(_bindings)] = {}
    """Other keys for actions, by the action's name: `quit = "ctrl+q"`. Several keys are joined by commas."""
    protocol: Protocol = Protocol.model_construct()
    """How the protocol documents are read where they contradict each other."""

    def policy(self, agents: Mapping[str, AgentLimits] | None = None) -> Policy:
        """The limits the model judges by, with what the agents' own files say."""
        return Policy(
            timeouts=tuple(OperatorTimeout(pattern, timeout) for pattern, timeout in self.timeouts.items()),
            agents=dict(agents or {}),
            silent_after=self.silent_after,
            suspect_after=self.suspect_after,
            tool_suspect_after=self.tool_suspect_after,
            lost_after=self.lost_after,
            research_timeout=self.research_timeout,
            planning_timeout=self.planning_timeout,
            implementation_timeout=self.implementation_timeout,
            simple_timeout=self.simple_timeout,
            reading=self.protocol.reading(),
        )

    def zone(self) -> tzinfo:
        """The zone of times that do not say theirs."""
        return LocalZone() if self.naive_times == "local" else UTC


TABLE = "protocol"
"""The table of settings within the settings: its keys are `protocol.max_depth` and so on."""
FIELDS = {name: field for name, field in Settings.model_fields.items() if name != TABLE} | {
    f"{TABLE}.{name}": field for name, field in Protocol.model_fields.items()
}
"""Every setting by its key."""
SPANS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is int) - {"frame_rate"}


class ConfigError(Exception):
    """A setting is wrong; the message names the file or variable, and the key."""


class Loaded(NamedTuple):
    settings: Settings
    origins: dict[str, str]
    """For every setting, where its value came from."""


def candidates(environ: Mapping[str, str] | None = None) -> tuple[Path, Path]:
    """The files settings are read from, whether they exist or not: the user's, then the project's."""
    environ = os.environ if environ is None else environ
    home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "delegtop" / "config.toml", Path("delegtop.toml")


def load(
    path_override: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """All settings. `path_override` (--config) stands in for both files; `flags` holds those that were given."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins = dict.fromkeys(FIELDS, "default")
    paths = [path_override] if path_override else [path for path in candidates(environ) if path.is_file()]
    for path in paths:
        found = _from_file(path)
        _check_owner(path, found, is_project=path != path_override and path == candidates(environ)[1])
        for key, value in found.items():
            values[key], origins[key] = value, str(path)
    for key, value in _from_environment(environ).items():
        values[key], origins[key] = value, _variable(key)
    for key, value in (flags or {}).items():
        values |= _checked({key: value}, partial(_flag, value=value))
        origins[key] = _flag(key, value)
    return Loaded(_settings(values), origins)


def _check_owner(path: Path, found: Mapping[str, Any], *, is_project: bool) -> None:
    """The file of a project may repeat the default of what is the user's own, and no more."""
    for key in USER_ONLY.intersection(found) if is_project else ():
        if found[key] != FIELDS[key].default:
            raise ConfigError(f"{path}: {key}: a project may not set this; it belongs into your own settings")


def _settings(values: Mapping[str, Any]) -> Settings:
    """The settings of values that were all judged before."""
    table = {key.removeprefix(f"{TABLE}."): value for key, value in values.items() if key.startswith(f"{TABLE}.")}
    others = {key: value for key, value in values.items() if "." not in key}
    return Settings.model_construct(**others, protocol=Protocol.model_construct(**table))


def value_of(settings: Settings, key: str) -> Any:
    """The value of a setting by its key."""
    table, _, name = key.rpartition(".")
    return getattr(getattr(settings, table) if table else settings, name)


def _variable(key: str) -> str:
    return PREFIX + key.upper().replace(".", "_")


def _flag(key: str, value: object) -> str:
    return f"--no-{key}" if value is False else f"--{key.replace('_', '-')}"


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from None
    return _checked(table, lambda key: f"{path}{_line_of(key, text)}: {key}", strict=True)


def _line_of(key: str, text: str) -> str:
    """`:3` if a line of the file sets the key by its plain name."""
    match = re.search(rf"^[ \t]*{re.escape(key.split('.')[-1])}[ \t]*=", text, re.MULTILINE)
    return f":{text.count(chr(10), 0, match.start()) + 1}" if match else ""


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    names = [name for name in environ if name.startswith(PREFIX) and name not in NOT_SETTINGS]
    layer: dict[str, Any] = {name.removeprefix(PREFIX).lower(): environ[name] for name in names if environ[name]}
    table = {key.removeprefix(f"{TABLE}_"): layer.pop(key) for key in list(layer) if key.startswith(f"{TABLE}_")}
    if table:
        layer.setdefault(TABLE, table)
    return _checked(layer, _variable)


def _checked(layer: Mapping[str, Any], place: Callable[[str], str], strict: bool = False) -> dict[str, Any]:
    """The values of one layer, each judged on its own so that an error can say which layer it stands in."""
    if not layer:
        return {}
    try:
        settings = Settings.model_validate(layer, strict=strict)
    except ValidationError as error:
        raise ConfigError(_sentence(error.errors()[0], place)) from None
    given = [key for key in layer if key != TABLE] + [f"{TABLE}.{name}" for name in layer.get(TABLE, ())]
    return {key: value_of(settings, key) for key in given}


def _sentence(error: ErrorDetails, place: Callable[[str], str]) -> str:
    where = ".".join(str(part) for part in error["loc"] if isinstance(part, str))
    if error["type"] == "extra_forbidden":
        near = get_close_matches(where.lower(), FIELDS, 1)
        advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(FIELDS)}"
        return f"{place(where)}: no such setting; {advice}"
    reason = error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    return f"{place(where)}: {error['input']!r} will not do: {reason}"


def documentation() -> dict[str, str]:
    """What each setting means, from the docstring below it."""
    told = {f"{TABLE}.{name}": meaning for name, meaning in _meanings(Protocol)}
    told |= dict(_meanings(Settings))
    return {key: told.get(key, "") for key in FIELDS}


def _meanings(settings: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The fields of a class and the texts below them. Nobody but the reader of a help text needs them."""
    body = ast.parse(inspect.getsource(settings)).body[0]
    for field, below in pairwise(body.body if isinstance(body, ast.ClassDef) else []):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            yield field.target.id, inspect.cleandoc(ast.literal_eval(below.value))


def toml(key: str, value: Any) -> str:
    """One setting as a line of TOML, or for a table as an inline one."""
    return f"{key} = {_toml_value(value, span=key in SPANS)}"


def _toml_value(value: Any, span: bool = False) -> str:
    if span:
        return f'"{_span(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml_value(key)} = {_toml_value(part)}" for key, part in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else str(value)


def _span(milliseconds: int) -> str:
    for unit, size in (("h", HOUR), ("m", MINUTE), ("s", SECOND)):
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"
