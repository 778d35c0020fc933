"""The tables of the settings: settings that belong together stand in a table of their own, such as `[protocol]`."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from delegtop.base.hub_address import HubAddressError, hub_address
from delegtop.base.ssh_command import HostNameError, checked_command, checked_host
from delegtop.protocols.standard.contract.protocol_options import IdForm, ProtocolOptions, SessionIdPlace
from delegtop.setting_kinds import (
    COMMAND,
    HOURS,
    SECRET,
    SPAN,
    TEXT,
    ByProject,
    Refused,
    SettingKind,
    one_of,
    whole,
    words,
)

_READING = ProtocolOptions()

Count = Annotated[int, whole(0, 1_000_000)]
SomeWords = Annotated[tuple[str, ...], words(least=1)]


class SettingTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table. Its settings are called `table.name`."""


class Protocol(SettingTable, frozen=True, kw_only=True):
    """How the protocol documents are read where they contradict each other: the table `[protocol]`."""

    max_depth: ByProject[Count] = _READING.max_depth
    """The deepest a delegation may be. The guide's levels end at 3; its check would stop at 2."""
    command_depth: ByProject[Annotated[int, whole(0, 1)]] = _READING.command_depth
    """The depth of a command: 0 as the delegation guide counts, 1 as the structure standard does."""
    summary_sentences_min: ByProject[Count] = _READING.summary_sentences_min
    """The least sentences of a summary. Two of the documents have examples with one."""
    summary_sentences_max: ByProject[Count] = _READING.summary_sentences_max
    """The most sentences of a summary."""
    summary_tokens: ByProject[Count] = _READING.summary_tokens
    """The most tokens of a summary, four characters each. The structure standard wants fewer than 100: 99."""
    summary_characters: ByProject[Count] = _READING.summary_characters
    """A return whose summary has more characters is refused, as the delegation guide does."""
    session_id_place: ByProject[Literal["metadata", "beside", "either"]] = "either"
    """Where a return names its session: in the metadata, beside it, or either."""
    session_id_form: ByProject[Literal["day", "epoch", "either"]] = "either"
    """What the middle of a session id is: a day, an epoch second, or either."""
    session_id_random: ByProject[Annotated[int, whole(0, 32)]] = _READING.session_id_random
    """Characters of the random part of a session id: 6 in the delegation guide, 0 for any number."""
    metadata: ByProject[Annotated[tuple[str, ...], words(_READING.metadata)]] = _READING.metadata
    """What the metadata of a return must name. The structure standard asks for nothing in particular: []."""
    errors_required: ByProject[bool] = _READING.errors_required
    """A return that is not completed must have errors. The structure standard calls them optional."""
    error_types: ByProject[SomeWords] = _READING.error_types
    """The types an error may have. The guide's example has build_error, the structure standard has others."""
    artifact_types: ByProject[SomeWords] = _READING.artifact_types
    """The types an artifact may have. The structure standard has review where this has documentation."""
    agent_file_lines: ByProject[Count] = _READING.agent_file_lines
    """The least lines of an agent file: 150 in the size guidelines, 200 in the overview and the checklist."""

    def reading(self) -> ProtocolOptions:
        """The same, as the rules take it."""
        values = {name: getattr(self, name) for name in ProtocolOptions._fields}
        values["session_id_place"] = SessionIdPlace(self.session_id_place)
        values["session_id_form"] = IdForm(self.session_id_form)
        return ProtocolOptions(**values)


class Act(SettingTable, frozen=True, kw_only=True):
    """Whether delegtop may stop what is stuck: the table `[act]` (docs/acting.md)."""

    enabled: bool = False
    """Let `K` and `delegtop stop` act, not only show their plan. Neither a project nor the environment can set it."""
    readonly: ByProject[bool] = False
    """Never act, whatever else is set. Whoever says so last or first is heeded: nothing takes it back."""


class HostSetting(msgspec.Struct, frozen=True, omit_defaults=True):
    """One other machine: a table `[[hosts]]` (docs/fleet.md)."""

    ssh: str = ""
    """As in ~/.ssh/config; `user@host` works."""
    name: str = ""
    """What it is called here; else by its ssh name."""
    since: str = ""
    """How far back it is read; else as here."""
    command: tuple[str, ...] = ("delegtop",)
    lines: str = "ask"
    nats: str = ""
    """The address of a hub that hosts ship to, in the place of `ssh`: `tls://hub.example:4222`."""
    credentials: str = ""
    """The file of the key to it; else the one that `delegtop hub join` keeps."""

    @property
    def called(self) -> str:
        return self.name or self.ssh or self.nats


LINES = ("never", "ask", "all")
_SPELLED = tuple(HostSetting.__struct_fields__)


def _hosts(value: object) -> tuple[HostSetting, ...]:
    """A list of tables; every name is there once."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, dict) for each in value):
        raise Refused(value, "it should be tables: [[hosts]]")
    hosts = tuple(_host(each) for each in value)
    for host in hosts:
        if sum(each.called == host.called for each in hosts) > 1:
            raise Refused(host.called, "another host has this name", "name")
    return hosts


def _host(told: dict[str, object]) -> HostSetting:
    for key in told:
        if key not in _SPELLED:
            raise Refused(key, f"a host has {', '.join(_SPELLED)}", key)
    if "ssh" not in told and not told.get("nats"):
        raise Refused(told, "it should say how ssh reaches it, or nats and the address of a hub", "ssh")
    by_hub = bool(told.get("nats"))
    values = {key: _JUDGED[key](value) for key, value in told.items() if value != "" or (key == "ssh" and not by_hub)}
    for key in sorted(_BY_SSH & set(values)) if by_hub else ():
        if values[key] != _DEFAULTS[key]:
            raise Refused(told[key], "a hub has nats, name, since and credentials", key)
    return HostSetting(**values)


def _of_host(key: str, judge: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def judged(value: Any) -> Any:
        try:
            return judge(value)
        except Refused as error:
            raise Refused(error.value, error.reason, key) from None
        except (HostNameError, HubAddressError) as error:
            raise Refused(value, str(error), key) from None

    return judged


def _since(value: object) -> str:
    if value != "all":
        SPAN.judge(value)
    return str(value)


def _nats(value: object) -> str:
    told: str = TEXT.judge(value)
    hub_address(told)
    return told


_JUDGED: dict[str, Callable[[Any], Any]] = {
    "ssh": _of_host("ssh", lambda value: checked_host(TEXT.judge(value))),
    "name": _of_host("name", lambda value: checked_host(TEXT.judge(value))),
    "since": _of_host("since", _since),
    "command": _of_host("command", lambda value: checked_command(COMMAND.judge(value))),
    "lines": _of_host("lines", one_of(LINES).judge),
    "nats": _of_host("nats", _nats),
    "credentials": _of_host("credentials", TEXT.judge),
}
_DEFAULTS = {key: getattr(HostSetting(), key) for key in _SPELLED}
_BY_SSH = frozenset({"ssh", "command", "lines"})
HOSTS = SettingKind(_hosts)


Secret = Annotated[str, SECRET]


class Notifications(SettingTable, frozen=True, kw_only=True):
    """Where messages go and when: the table `[notifications]`."""

    ntfy_url: Secret = ""
    """The topic of `ntfy`, such as `https://ntfy.sh/your-topic`; best as `env:NAME` or `file:PATH`, here and next."""
    ntfy_token: Secret = ""
    """The access token of a topic that is protected."""
    slack_url: Secret = ""
    """The incoming webhook that `slack` sends to."""
    discord_url: Secret = ""
    """The webhook of the channel that `discord` sends to."""
    webhook_url: Secret = ""
    """Where `webhook` sends its JSON (docs/notifications.md)."""
    webhook_secret: Secret = ""
    """What that JSON is signed with (HMAC-SHA256), if anything."""
    otlp_url: Secret = ""
    """The collector that `watch` sends each change of a verdict to (docs/watch.md), as `--otlp` does."""
    otlp_headers: Secret = ""
    """What the collector wants to be sent along: `name=value,name=value`."""
    quiet_hours: Annotated[str, HOURS] = ""
    """Nobody is told anything between these times of the day, such as `"22:00-07:00"`; then one message sums it up."""
    per_minute: Annotated[int, whole(1, 600)] = 10
    """So many messages a minute are sent by each way, at most; what is more waits, and beyond a hundred is counted."""
    allow_http: bool = False
    """Send to addresses without TLS on other machines, too, where others can read it."""
