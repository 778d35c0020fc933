"""`delegtop serve`: what is stuck, why and what to do as a live page in a browser, on this machine only."""

import ipaddress
import socket
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from delegtop.base.system_errors import reason_of
from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

DESCRIPTION = (
    "Show what is stuck, why and what to do as a live page, for a browser on this machine or a phone that reaches it "
    "by ssh or a private network. It only reads, secrets are masked, and it listens on loopback alone (docs/serve.md)."
)
PAGE = "docs/serve.md"
PORT = 8377
EXAMPLES = {
    "delegtop serve": "print an address to open in a browser on this machine",
    "delegtop serve --name box.tailnet.ts.net": "also by that name, behind `tailscale serve 8377`",
    "delegtop serve --port 0 logs/": "of these logs, at any port that is free",
}


def add(parser: ArgumentParser) -> None:
    reading.add(parser)
    parser.add_argument(
        "--port",
        type=_port,
        default=PORT,
        metavar="PORT",
        help=f"the port, {PORT} by default; 0 takes one that is free",
    )
    parser.add_argument(
        "--listen",
        type=_loopback,
        default="127.0.0.1",
        metavar="ADDRESS",
        help="another loopback address; any that others can reach is refused",
    )
    parser.add_argument(
        "--name",
        action="append",
        type=_name,
        default=[],
        metavar="HOST",
        help="a name by which a browser reaches it through ssh -L or tailscale serve; may be repeated",
    )
    options.add(parser, "filter", "format", "config")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > 65_535:
        raise ArgumentTypeError(f"{text} is no port")
    return int(text)


def _loopback(text: str) -> str:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        raise ArgumentTypeError(f"{text} is no IPv4 address") from None
    if not address.is_loopback:
        raise ArgumentTypeError(
            f"{text} can be reached by others; it listens on this machine only: from elsewhere, look through ssh -L or "
            "tailscale serve (docs/serve.md)"
        )
    return text


def _name(text: str) -> str:
    from delegtop.page_server.access_rules import is_host_name

    if not is_host_name(text):
        raise ArgumentTypeError(
            f"{text} is no name of a host; write it as a browser shows it, such as box.example:8377"
        )
    return text


def run(arguments: Namespace) -> int:
    settings = options.load(arguments).settings
    options.query(arguments)  # a wrong filter is told before anything is read
    listening = _listening(arguments.listen, arguments.port)
    with listening, reading.followed(arguments, settings) as seen:
        from delegtop.page_server.access_rules import AccessRules
        from delegtop.page_server.page_listener import PageListener
        from delegtop.page_server.page_watch import PageWatch

        host, port = listening.getsockname()
        rules = AccessRules(port, [f"{host}:{port}", *arguments.name])
        watch = PageWatch(seen, options.query(arguments, seen.places.only))
        listener = PageListener(watch, rules, listening, diagnostics.say)
        listener.start()
        output.emit_now([f"http://{host}:{port}/?token={rules.token}"])
        diagnostics.say("that address opens the page in a browser on this machine; Ctrl-C ends it")
        try:
            watch.run()
        finally:
            listener.close()
    return Exit.OK


def _listening(address: str, port: int) -> socket.socket:
    """A socket at which somebody may knock; who does so early waits until the logs are read."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address, port))
        made.listen()
    except OSError as error:
        made.close()
        fail(f"--port {port}: {reason_of(error)}; --port 0 takes one that is free")
    return made
