"""What the command lines of agent programs accept: read from their own help, kept as facts, and asked of by a test.

    python -m tests.unit.diagnosis.command_facts FOLDER

asks the programs that are in a folder (or `PATH`) and writes anew what is known of them. Kept are names of sub-commands
and options, whether an option takes a value, and how many words may follow; nothing of what a help says in prose.
"""

import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from delegtop.base.product import Product
from delegtop.dialects.products import products

KEPT = Path(__file__).with_name("accepted_commands.toml")
ANY = -1
ID, PROMPT, URL = "the-id", "one more prompt", "http://127.0.0.1:4096"
_PATIENCE = 120


class Level(NamedTuple):
    """What a program, or one of its sub-commands, accepts."""

    flags: frozenset[str]
    """Options without a value."""
    takes: frozenset[str]
    """Options with one."""
    may_take: frozenset[str]
    commands: frozenset[str]
    arguments: int
    """How many words may follow that are no options."""


_NAMES = Level._fields[:-1]


class Accepted(NamedTuple):
    """What one version of a program accepts, by the words of its sub-commands."""

    program: str
    version: str
    day: datetime.date
    levels: dict[str, Level]


class RefusedError(Exception):
    """A command line is not accepted, and why."""


def commands(known: Product) -> Iterator[tuple[str, ...]]:
    """Every command line that may be advised of a program."""
    if known.resume:
        yield (*known.resume, ID)
    if known.resume_headless:
        yield (*known.resume_headless, ID, *known.prompt_option, PROMPT)
    for words in (known.attach, known.logs, known.stop):
        if words:
            yield (*words, ID)
    if known.attach_server:
        yield tuple({"{url}": URL, "{id}": ID}.get(word, word) for word in known.attach_server)


def accept(words: Sequence[str], by: Accepted) -> None:
    """Read a command line as its program would; raises if it would not take it."""
    program, *rest = words
    if program != by.program:
        raise RefusedError(f"{program} is not {by.program}")
    path, free, rest = "", 0, list(rest)
    while rest:
        word, level = rest.pop(0), by.levels[path]
        if word.startswith("-"):
            if word in level.takes:
                if not rest or rest[0].startswith("-"):
                    raise RefusedError(f"{word} wants a value")
                rest.pop(0)
            elif word in level.may_take:
                if rest and not rest[0].startswith("-"):
                    rest.pop(0)
            elif word not in level.flags:
                raise RefusedError(f"{program} {path} has no {word}")
        elif not free and f"{path} {word}".strip() in by.levels:
            path = f"{path} {word}".strip()
        else:
            free += 1
            if level.arguments != ANY and free > level.arguments:
                raise RefusedError(f"{program} {path} does not take {word!r} as well")


# -- what is kept ------------------------------------------------------------------------------------------------------


def kept() -> dict[str, Accepted]:
    """By the name of the product."""
    found = {}
    for name, told in tomllib.loads(KEPT.read_text("utf-8")).items():
        levels = {path: _level(level) for path, level in told["levels"].items()}
        found[name] = Accepted(told["program"], told["version"], told["recorded"], levels)
    return found


def _level(told: dict[str, Any]) -> Level:
    flags, takes, may_take, commands = (frozenset(told.get(part, ())) for part in _NAMES)
    return Level(flags, takes, may_take, commands, told["arguments"])


def written(found: dict[str, Accepted]) -> str:
    lines = [
        "# What the command lines of agent programs accept, as their own help told on that day.",
        "# Written by `python -m tests.unit.diagnosis.command_facts`; `arguments` is -1 where any number may follow.",
    ]
    for name, told in found.items():
        lines += [
            "",
            f"[{name}]",
            f'program = "{told.program}"',
            f'version = "{told.version}"',
            f"recorded = {told.day}",
        ]
        for path, level in told.levels.items():
            lines += ["", f'[{name}.levels."{path}"]', f"arguments = {level.arguments}"]
            for part in _NAMES:
                if names := sorted(getattr(level, part)):
                    listed = textwrap.wrap(", ".join(f'"{each}"' for each in names), 118, break_on_hyphens=False)
                    lines += [f"{part} = [", *(f"  {line}" for line in listed), "]"]
    return "\n".join(lines) + "\n"


# -- what a help says --------------------------------------------------------------------------------------------------


def ask(known: Product, folder: str | None = None) -> Accepted | None:
    """What an installed program says of itself; None if it is not there."""
    program = known.resume[0]
    path = shutil.which(program, path=folder and os.pathsep.join((folder, os.environ["PATH"])))
    if path is None:
        return None
    levels = {"": level(_help(path, folder), (program,))}
    for words in commands(known):
        at = ""
        for word in words[1:]:
            if word not in levels[at].commands:
                break
            at = f"{at} {word}".strip()
            if at not in levels:
                levels[at] = level(_help(path, folder, *at.split()), (program, *at.split()))
    version = re.search(r"\d+\.\d+\.\d+", _said(path, folder, "--version"))
    return Accepted(program, version.group() if version else "", datetime.date.today(), levels)


def _help(path: str, folder: str | None, *words: str) -> str:
    return _said(path, folder, *words, "--help")


def _said(path: str, folder: str | None, *words: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        search = os.pathsep.join(filter(None, (folder, os.environ["PATH"])))
        environment = {"PATH": search, "HOME": home, "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
        done = subprocess.run(
            [path, *words],
            env=environment,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    return re.sub(r"\x1b\[[0-9;]*m", "", f"{done.stdout}\n{done.stderr}")


def level(help: str, words: Sequence[str]) -> Level:
    """What the help of a program, or of a sub-command (`words`), tells."""
    flags, takes, may_take = set[str](), set[str](), set[str]()
    typed = "[boolean]" in help
    for entry in _options(help):
        spec = re.split(r"\s{2,}|\n", entry.strip(), maxsplit=1)[0]
        names = set(re.findall(r"(?<![\w<\[-])--?[A-Za-z][\w-]*", spec))
        if typed:
            kind = re.search(r"\[(boolean|string|number|array|count)\]", entry)
            (takes if kind and kind.group(1) in ("string", "number", "array") else flags).update(names)
        else:
            (may_take if "[" in spec else takes if "<" in spec else flags).update(names)
    return Level(
        frozenset(flags),
        frozenset(takes),
        frozenset(may_take),
        frozenset(_commands(help, " ".join(words))),
        _arguments(help, words),
    )


def _options(help: str) -> Iterator[str]:
    """Each option with all that is said of it."""
    entry = ""
    for line in help.splitlines():
        if re.match(r"\s{1,8}-{1,2}[A-Za-z]", line):
            if entry:
                yield entry
            entry = line
        elif entry and not re.match(r"\S", line):
            entry += f"\n{line}"
        elif entry:
            yield entry
            entry = ""
    if entry:
        yield entry


def _commands(help: str, words: str) -> Iterator[str]:
    listed = help.partition("Commands:\n")[2].split("\n\n")[0]
    for line in listed.splitlines():
        told = re.match(rf" {{2}}(?:{re.escape(words)} )?([a-z][\w|-]*)(?=\s|$)", line)
        if told:
            yield from told.group(1).split("|")
            for alias in re.findall(r"\[alias(?:es)?: ([\w, -]+)\]", line):
                yield from alias.split(", ")


def _arguments(help: str, words: Sequence[str]) -> int:
    """How many words may follow, by its line of use."""
    begins = re.compile(rf"\s*(?:Usage: )?{re.escape(' '.join(words))}(?:\|\w+)?((?: +(?:<[^>]*>|\[[^\]]*\]|--\S+))*)")
    for line in help.splitlines():
        if (told := begins.match(line)) and (used := told.group(1)):
            named = re.findall(r"(--\S+ )?[<\[]([^>\]]*)[>\]]", used)
            names = [
                name for option, name in named if not option and name.lower() not in ("options", "command", "args")
            ]
            if names or "options" not in used.lower() or len(words) > 1:
                return ANY if any(".." in name for name in names) else len(names)
    return 0


def main() -> None:
    folder = sys.argv[1] if sys.argv[1:] else None
    found = kept() if KEPT.exists() else {}
    for known in products():
        if known.is_session and known.resume and (told := ask(known, folder)) is not None:
            found[known.name] = told
            sys.stdout.write(f"{known.name} {told.version}\n")
    KEPT.write_text(written(found), "utf-8")


if __name__ == "__main__":
    main()
