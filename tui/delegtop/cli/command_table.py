"""Which commands there are, and how arguments find theirs. Listing them imports none of them."""

import argparse
import atexit
import gc
from argparse import SUPPRESS, Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from delegtop.base import signals
from delegtop.base.near_words import advice, nearest
from delegtop.base.paths import is_there
from delegtop.base.signals import ToldToEnd
from delegtop.cli import diagnostics, options, output
from delegtop.cli.diagnostics import UsageError, fail
from delegtop.cli.exit_codes import MEANING, Exit

LIVE = "live"
COMMANDS = {
    "tree": "print the tree of delegations once, as text or JSON",
    "check": "judge the delegations: what is wrong, where, and what to do",
    "report": "write an incident report that can be sent: Markdown, HTML or JSON",
    "watch": "print a line for each change, tell of trouble, stop when something is done or wrong",
    "notify": "send one test message by each way of telling, and say what was answered",
    "wait": "wait until one delegation has ended, and exit by its outcome",
    "stop": "show how to stop one delegation that is stuck, mildest first; with --act, do it",
    "status": "say in one line how everything stands, for status bars and prompts",
    "serve": "show what is stuck as a live page in a browser, on this machine only (read-only)",
    "mcp": "answer an orchestrating agent: which of its delegations is stuck, and why (MCP, read-only)",
    "metrics": "print or write counts, ages and missed deadlines for Prometheus",
    "record": "record the sources as they grow, in one file that replays anywhere",
    "find": "find words in everything this machine's agents ever did",
    "stats": "durations, outcomes, timeouts and breaches by agent, as tables and a plot",
    "learn": "remember how long each kind of agent usually takes on this machine",
    "diff": "compare two runs: what was delegated, how long it took, how it ended",
    "bundle": "put what happened into one masked file to send to somebody else",
    "hosts": "say which other machines can be reached, and how old their news is",
    "hub": "start a NATS server of one's own that hosts ship to, and give out its keys",
    "ship": "tell a hub what happens on this machine, masked, as it happens",
    "sources": "list the logs that are found, of which agents, and what is left out",
    "replay": "watch recorded logs in their own time: play, seek, step, jump to problems",
    "run": "run a command as a delegation: tracked, limited in time, and in the tree",
    "demo": "watch a simulated orchestrator at work",
    "rules": "list the rules that findings come from, or explain one",
    "migrate": "print an old return in the standard form",
    "schema": "print a contract as JSON Schema, or list the contracts",
    "lint": "check agent definition files against the structure standard",
    "index": "say what is kept of finished sessions so that they are not read again, or delete it",
    "config": "show the settings, where they came from, and the defaults",
    "completion": "print the completion of a shell: bash, zsh or fish",
    "help": "show the help of a command",
}
"""The commands by name. Without one, `delegtop [SOURCE…]` watches live."""

_ONGOING = frozenset(
    {LIVE, "watch", "wait", "stop", "serve", "mcp", "metrics", "record", "replay", "run", "demo", "hub", "ship"}
)
"""Those that may go on for days."""

PASSED_ON = "passed_on"
"""The default a parser sets if what stands after `--` is not its own; the words are put there."""

_SUMMARY = "top for AI-agent delegation: which delegation is stuck, why, and what to do"


class Command(Protocol):
    """A module of this package that is a command."""

    DESCRIPTION: str
    PAGE: str
    """The page of the documentation that tells more."""
    EXAMPLES: Mapping[str, str]
    """Command lines that work, and what each is for."""

    def add(self, parser: ArgumentParser) -> None: ...

    def run(self, arguments: Namespace) -> int: ...


argparse._ = str  # type: ignore[attr-defined] # its words stay as they are; to look for others takes longer than to parse


class Parser(ArgumentParser):
    """argparse that leaves exiting to `dispatch` and knows what was probably meant."""

    def add_argument(self, *names: Any, **how: Any) -> Action:
        """The same; of words of which there may be none argparse says that they are required unless they have a
        default."""
        if how.get("nargs") == "*":
            how.setdefault("default", [])
        return super().add_argument(*names, **how)

    def error(self, message: str) -> NoReturn:
        fail(f"{message} (see {self.prog} --help)")

    def parse(self, arguments: Sequence[str]) -> Namespace:
        """Options and sources in any order. For a command that runs another, all after `--` is that one's."""
        own, passed_on = list(arguments), None
        if self.get_default(PASSED_ON) is not None and "--" in own:
            cut = own.index("--")
            own, passed_on = own[:cut], own[cut + 1 :]
        self.usage = ""  # argparse would write one for its messages, which are ours (see `error`)
        parsed, rest = self.parse_known_intermixed_args(own)
        if not rest:
            if passed_on is not None:
                setattr(parsed, PASSED_ON, passed_on)
            return parsed
        flag = rest[0].partition("=")[0]
        known = self._option_string_actions
        raise UsageError(f"no such option {flag}; {advice(flag, known, f'see {self.prog} --help')}")


def parser(name: str) -> Parser:
    """The parser of one command."""
    command = module(name)
    live = name == LIVE
    made = Parser(
        prog="delegtop" if live else f"delegtop {name}",
        description=f"{_SUMMARY}\n\n{command.DESCRIPTION}" if live else command.DESCRIPTION,
        epilog=f"{_overview()}\n\n{epilog(command)}" if live else epilog(command),
        formatter_class=partial(RawDescriptionHelpFormatter, width=80),  # see below
        allow_abbrev=False,
        add_help=False,
    )
    made.add_argument("-h", "--help", action="store_true", default=SUPPRESS, help="show this help")
    if live:
        made.add_argument("-V", "--version", action="store_true", default=SUPPRESS, help="show the version")
    command.add(made)
    made.formatter_class = RawDescriptionHelpFormatter  # a width of its own is looked for, once, when help is printed
    return made


def dispatch(arguments: list[str]) -> int:
    """Run the command the arguments ask for. Every way a command can end becomes an exit code here."""
    atexit.register(gc.freeze)  # the end of the process frees all: nobody needs to look for circles first
    try:
        with signals.raised():
            return _run(*_choose(arguments))
    except UsageError as error:
        diagnostics.say(str(error))
        return Exit.USAGE
    except ToldToEnd as told:
        return Exit(told.status)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except RuntimeError as error:  # before Python 3.12 this is what Ctrl-C amid the making of a class becomes
        if isinstance(error.__cause__, KeyboardInterrupt):
            return Exit.INTERRUPTED
        raise


def _run(name: str, rest: list[str]) -> int:
    if {"-h", "--help"} & set(rest[: rest.index("--")] if "--" in rest else rest):
        output.emit([parser(name).format_help().rstrip("\n")])
        return Exit.OK
    if name not in _ONGOING:
        gc.disable()  # what is loaded and read stays until the end, which is soon
    return module(name).run(parser(name).parse(rest))


def module(name: str) -> Command:
    """The command of that name."""
    return cast(Command, import_module(f"delegtop.cli.{name}"))


def _choose(arguments: list[str]) -> tuple[str, list[str]]:
    """The command, and the arguments without its name; options may stand before it."""
    skip = False
    for index, argument in enumerate(arguments):
        if skip or (argument.startswith("-") and argument not in ("-", "--")):
            skip = not skip and argument in options.WITH_VALUE
            continue
        if argument in COMMANDS:
            return argument, arguments[:index] + arguments[index + 1 :]
        _suspect_command(argument, arguments[:index])
        break
    return LIVE, arguments


def _suspect_command(word: str, before: Sequence[str]) -> None:
    """A word that is no file and looks like a command is a slip of the fingers, not a source to wait for."""
    if not (word.isalpha() and word.islower()) or is_there(word):
        return
    flags = [argument.partition("=")[0] for argument in before if argument.startswith("-")]
    known = parser(LIVE)._option_string_actions
    unknown = next((flag for flag in flags if flag not in known), None)
    if unknown is not None and nearest(word, COMMANDS) is None:  # the word was meant for the option
        fail(f"no such option {unknown}; {advice(unknown, known, 'see delegtop --help')}")
    otherwise = f"the commands are {', '.join(COMMANDS)}"
    fail(f"{word} is neither a command nor a file; {advice(word, COMMANDS, otherwise)}")


def epilog(command: Command) -> str:
    """The end of the help of a command."""
    width = max(map(len, command.EXAMPLES)) + 2
    shown = "\n".join(f"  {line:<{width}}{what}" for line, what in command.EXAMPLES.items())
    return f"examples:\n{shown}\n\nmore: {command.PAGE}"


def _overview() -> str:
    commands = "\n".join(f"  {name:<12}{summary}" for name, summary in COMMANDS.items())
    codes = "\n".join(f"  {code.value:<12}{meaning}" for code, meaning in MEANING.items())
    return (
        f"commands:\n{commands}\n\n"
        "`delegtop COMMAND --help` tells more. A file that is named like a command is given as ./tree\n\n"
        f"exit codes:\n{codes}"
    )
