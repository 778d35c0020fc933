"""`delegtop hosts`: which other machines can be reached, which version they have, how old their news is."""

from argparse import ArgumentParser, Namespace

from delegtop.base.ssh_command import SCHEME
from delegtop.cli import diagnostics, options, output, reading
from delegtop.cli.exit_codes import Exit
from delegtop.cli.watch import seconds

DESCRIPTION = (
    "Connect to the [[hosts]] of your settings, or to those named, and say how each stands: reachable or why not, its "
    "version, how old its news is, how far its clock is off (docs/fleet.md)."
)
PAGE = "docs/fleet.md"
EXAMPLES = {
    "delegtop hosts": "all [[hosts]] of your settings",
    "delegtop hosts --json": "for scripts; a name asks one of them, or any host that ssh knows",
}


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="HOST", help="a name of your settings, or one that ssh knows, or nats://HUB"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, a stable contract (docs/fleet.md)")
    parser.add_argument(
        "--timeout", dest="patience", type=seconds, metavar="TIME", help="wait so long for a host; 15s if not said"
    )
    options.add(parser, "since", "config")


def run(arguments: Namespace) -> int:
    from delegtop.observation.observation import opened
    from delegtop.observation.source_discovery import Places, addresses, is_host
    from delegtop.report import host_table

    settings = options.load(arguments).settings
    named = [name if is_host(name) else f"{SCHEME}{name}" for name in arguments.names]
    with options.refusals():
        hosts = tuple(addresses(named, settings, arguments.since, every=not named))
    reading.check_hubs(hosts)
    if not hosts:
        diagnostics.say("no hosts are known; name one, or write [[hosts]] into your settings (docs/fleet.md)")
        if not arguments.json:
            return Exit.OK
    with opened(Places([], hosts=hosts), settings, patience=arguments.patience) as seen:
        seen.catch_up()
    told = seen.hosts
    form = host_table.as_json if arguments.json else host_table.table
    output.emit(form(seen.forest, told))
    return Exit.OK if all(host.state == "live" for host in told) else Exit.UNREADABLE
