"""`delegtop hub`: a NATS server of one's own that hosts ship to and others look at, and who may do what there."""

import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.clock import SECOND, parse_span, sleep
from delegtop.base.hub_address import PORT, HubAddressError, checked_hub_host, hub_address
from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, hub_extra, output
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.hub.hub_folder import HubFolder
    from delegtop.hub.hub_key import HubKey
    from delegtop.hub.hub_server import HubServer

DESCRIPTION = (
    "Start a hub, a NATS server that hosts tell what happens there (delegtop ship) and others look at "
    "(delegtop nats://HUB). It ends with this command, and listens on this machine alone unless --listen says "
    "otherwise. `invite` makes a key for a host (or with --view for who looks) and prints it as one line, `join` reads "
    "such a line from standard input and keeps it here, `revoke` takes keys back, `prepare` makes the stream on a NATS "
    "that is there already (docs/nats.md)."
)
PAGE = "docs/nats.md"
EXAMPLES = {
    "delegtop hub --listen 10.0.0.5": "start one for others, too; without --listen for this machine alone",
    "delegtop hub invite gpu1": "a key with which the host gpu1 may ship, in one line",
    "delegtop hub invite me --view | delegtop hub join": "a key to look, kept on this machine",
}
ACTIONS = ("invite", "join", "revoke", "keys", "prepare")
_PAUSE = 0.25
_TRIES = 20
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, metavar="|".join(ACTIONS), help="what to do beside starting one"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="whose key it is: of a host that ships, its name")
    parser.add_argument(
        "--listen",
        type=_listen,
        default=("127.0.0.1", PORT),
        metavar="ADDRESS",
        help=f"listen there, as 10.0.0.5 or 0.0.0.0:{PORT}; this machine alone if not said",
    )
    parser.add_argument(
        "--folder", type=Path, metavar="FOLDER", help="where it keeps all; else the folder of the state"
    )
    parser.add_argument(
        "--keep", type=_span, default="7d", metavar="TIME", help="how long it keeps what it is told: 7d"
    )
    parser.add_argument("--disk", type=_size, default=1 << 30, metavar="SIZE", help="and how much of it, at most: 1G")
    parser.add_argument("--view", action="store_true", help="invite: a key to look at all hosts, not to ship")
    parser.add_argument("--raw", action="store_true", help="invite: the same, and to ask for single lines of logs")
    parser.add_argument(
        "--address", metavar="ADDRESS", help="invite: how the hub is reached from there, tls://hub:4222"
    )
    parser.add_argument("--to", metavar="ADDRESS", help="prepare: the NATS that is there, nats://host:4222")
    parser.add_argument("--credentials", metavar="FILE", help="prepare: the file of a key that may make streams")
    parser.add_argument(
        "--replicas", type=int, default=1, choices=(1, 3, 5), metavar="N", help="prepare: on so many servers; 1"
    )


def _listen(text: str) -> tuple[str, int]:
    try:
        server = hub_address(f"nats://{text}").servers[0]
    except HubAddressError as error:
        raise ArgumentTypeError(str(error)) from None
    host, _, port = server.rpartition(":")
    return host.strip("[]"), int(port)


def _span(text: str) -> str:
    if (span := parse_span(text)) is None or span < SECOND:
        raise ArgumentTypeError(f"{text} is no time; write it like 12h or 7d")
    return text


def _size(text: str) -> int:
    number, unit = text[:-1] if text[-1:].isalpha() else text, text[-1:].lower()
    if not number.isdecimal() or (unit.isalpha() and unit not in _UNITS):
        raise ArgumentTypeError(f"{text} is no size; write it like 500M or 2G")
    return int(number) * _UNITS.get(unit, 1)


def run(arguments: Namespace) -> int:
    hub_extra.check()
    if arguments.action in ("invite", "revoke") and not arguments.name:
        fail(f"{arguments.action} takes a NAME: whose key it is")
    if arguments.action not in ("invite", "revoke") and arguments.name:
        fail(f"{arguments.name}: only invite and revoke take a name")

    from delegtop.hub.hub_folder import HubFolder
    from delegtop.hub.hub_key import HubKeyError

    folder = HubFolder(arguments.folder)
    try:
        match arguments.action:
            case "invite":
                return _invite(arguments, folder)
            case "join":
                return _join()
            case "revoke":
                return _revoke(arguments, folder)
            case "keys":
                output.emit(f"{each.name}  {each.can}  {each.public}" for each in folder.known_keys())
                return Exit.OK
            case "prepare":
                return _prepare(arguments)
        return _serve(arguments, folder)
    except (HubKeyError, HubAddressError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or folder.path}: {reason_of(error)}")


# -- keys --------------------------------------------------------------------------------------------------------------


def _invite(arguments: Namespace, folder: "HubFolder") -> int:
    from delegtop.hub.hub_key import RAW, SHIP, VIEW, invitation

    can = RAW if arguments.raw else VIEW if arguments.view else SHIP
    name = checked_hub_host(arguments.name)
    if arguments.address:
        hub_address(arguments.address)
    key = folder.invite(name, can, arguments.address or "")
    output.emit([invitation(key)])
    if output.is_terminal():
        then = f"`delegtop ship --to {key.address}`" if can == SHIP else f"`delegtop {key.address}`"
        diagnostics.say(f"whoever has this line has the key: give it to `delegtop hub join` there, then {then}")
    return Exit.OK


def _join() -> int:
    from delegtop.hub.hub_key import HubKeyError, accepted, keep

    if sys.stdin is None:
        fail("join reads the line that `delegtop hub invite` printed from standard input, which is closed")
    if sys.stdin.isatty():
        diagnostics.say("paste the line that `delegtop hub invite` printed")
    key = accepted(sys.stdin.readline())
    if not key.address or not (key.seed and key.can):
        raise HubKeyError("that is no line that `delegtop hub invite` printed")
    path = keep(key)
    diagnostics.say(f"kept in {path}")
    return Exit.OK


def _revoke(arguments: Namespace, folder: "HubFolder") -> int:
    gone = folder.revoke(arguments.name)
    diagnostics.say(f"{arguments.name} has no key any more" if gone else f"{arguments.name} had no key")
    return Exit.OK


# -- a server of one's own ---------------------------------------------------------------------------------------------


def _serve(arguments: Namespace, folder: "HubFolder") -> int:
    from delegtop.hub.hub_folder import HubState
    from delegtop.hub.hub_server import HubServer, HubServerError

    host, port = arguments.listen
    folder.make()
    address = f"tls://{_reached(host)}:{port}"
    folder.write_config(host, port, arguments.disk)
    try:
        server = HubServer(folder, host, port)
    except HubServerError as error:
        fail(str(error))
    try:
        try:
            server.wait_until_it_listens()
            folder.write_state(HubState(address=address, keep=arguments.keep))
            _make_streams(f"tls://{_asked(host)}:{port}", folder.own_key(address), arguments)
        except HubServerError as error:
            fail(str(error))
        diagnostics.say(f"the hub listens at {address}; its folder is {folder.path}; Ctrl-C ends it")
        return _stay(server)
    finally:
        server.end()


def _stay(server: "HubServer") -> int:
    while server.look():
        sleep(_PAUSE)
    diagnostics.say(f"the server ended: {server.last_words()}")
    return Exit.UNREADABLE


def _reached(host: str) -> str:
    """How others are told to reach what listens there."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 -- it is looked for, not bound
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _asked(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, _reached(host))  # noqa: S104 -- as above


def _prepare(arguments: Namespace) -> int:
    from delegtop.hub.hub_key import VIEW, key_for

    if not arguments.to:
        fail("prepare takes --to ADDRESS: the NATS that is there already")
    address = hub_address(arguments.to)._replace(credentials=arguments.credentials or "")
    _make_streams(arguments.to, key_for(address, VIEW), arguments)
    diagnostics.say(f"{address.name}: what is told is kept there for {arguments.keep}")
    return Exit.OK


def _make_streams(to: str, key: "HubKey", arguments: Namespace) -> None:
    import asyncio

    from delegtop.hub.nats_client import HubError, connect
    from delegtop.hub.streams import prepare

    async def make() -> None:
        client = await connect(hub_address(to), key, "delegtop hub")
        try:
            keep, most = parse_span(arguments.keep), arguments.disk
            for left in reversed(range(_TRIES)):
                try:
                    await prepare(
                        client, keep or 0, most, replicas=arguments.replicas, stream=key.stream, hosts=key.hosts
                    )
                except HubError:  # one that has only begun to run may not be ready
                    if not left:
                        raise
                    await asyncio.sleep(_PAUSE)
                else:
                    return
        finally:
            await client.close()

    try:
        asyncio.run(make())
    except HubError as error:
        fail(f"the streams cannot be made: {error}")
