"""Every command that may be advised is one that its program accepts, by what the program's own help told.

What it told is kept in `accepted_commands.toml`; where the programs are (`DELEGTOP_AGENT_PROGRAMS` names their folder),
they are asked again.
"""

import os
import re

import pytest
from tests.unit.diagnosis.command_facts import ID, PROMPT, RefusedError, accept, ask, commands, kept, level

from delegtop.dialects.products import products

PROGRAMS = {each.name: each for each in products() if each.is_session and any(commands(each))}
KNOWN = kept()
HERE = os.environ.get("DELEGTOP_AGENT_PROGRAMS")


@pytest.mark.parametrize(
    ("name", "words"), [(name, words) for name in KNOWN for words in commands(PROGRAMS[name])], ids=" ".join
)
def test_its_program_accepts_the_command(name: str, words: tuple[str, ...]) -> None:
    accept(words, KNOWN[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_product_says_with_which_version_its_commands_were_tried_or_that_they_are_only_documented(name: str) -> None:
    assert PROGRAMS[name].tried == (KNOWN[name].version if name in KNOWN else "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("claude", "--resume-session", ID), "has no --resume-session"),
        (("claude", "attach", ID, PROMPT), "does not take"),
        (("claude", "attach", "--session", ID), "has no --session"),
        (("claude", "--model", "--resume"), "wants a value"),
        (("claude", "reattach", ID), "does not take"),
        (("codex", "resume", ID), "is not claude"),
    ],
)
def test_what_a_program_does_not_accept_is_noticed(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(why)):
        accept(words, KNOWN["claude-code"])


@pytest.mark.skipif(not HERE, reason="DELEGTOP_AGENT_PROGRAMS names no folder with the programs")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_that_is_here_accepts_the_commands(name: str) -> None:
    here = ask(PROGRAMS[name], HERE)
    if here is None:
        pytest.skip("it is not here")
    for words in commands(PROGRAMS[name]):
        accept(words, here)


@pytest.mark.parametrize("style", ["commander", "clap", "yargs"])
def test_the_three_ways_in_which_help_is_written_are_read(style: str) -> None:
    top = level(HELP[style], ("relay",))
    assert ("--take-up" in top.takes, "--list" in top.flags, "open" in top.commands) == (True, True, True)
    assert top.arguments == 1


HELP = {
    "commander": """Usage: relay [options] [command] [prompt]

Options:
  -t, --take-up <id>   Takes one up
  --list               Lists them
  -w, --worktree [name]
      Somewhere else

Commands:
  open|o [options] <id>   Opens one
""",
    "clap": """Usage: relay [OPTIONS] [PROMPT] [COMMAND]

Commands:
  open  Opens one [aliases: o]
  help  Says this

Options:
  -t, --take-up <ID>
          Takes one up

      --list
          Lists them
""",
    "yargs": """Commands:
  relay [project]    start it   [default]
  relay open <url>   opens one

Options:
  -t, --take-up  takes one up   [string]
      --list     lists them
                                [boolean] [default: false]
""",
}


def test_every_program_that_can_be_had_was_asked() -> None:
    documented_only = {name for name in PROGRAMS if name not in KNOWN}
    assert documented_only == {"cursor", "crush"}, "their installers are not to be had from a registry of packages"
