"""Examples for every command, and the page that tells more: the end of its help."""

from typing import NamedTuple

SESSION = "sess_1772532120_h9w4dg"


class Examples(NamedTuple):
    """How a command is used."""

    page: str
    """The page of the documentation about it."""
    lines: tuple[tuple[str, str], ...]
    """Commands that work, and what each is for."""


EXAMPLES = {
    "live": Examples(
        "README.md",
        (
            ("delegtop", "every agent that is at work on this machine"),
            ("delegtop logs/ registry.json", "folders, files, globs in quotes"),
            ("my-orchestrator | delegtop -", "a stream"),
        ),
    ),
    "tree": Examples(
        "docs/tree-json.md",
        (
            ("delegtop tree", "what is at work on this machine"),
            ("delegtop tree logs/ --at 2026-03-03T10:59:40Z", "as it was at that moment"),
            ("delegtop tree logs/ --filter 'state:overdue,lost' --exit-code", "for scripts: exits 3 if there is one"),
        ),
    ),
    "check": Examples(
        "docs/check.md",
        (
            ("delegtop check logs/ --fail-on warning", "exits 1 on a breach, 3 if something is stuck or just lost"),
            ("delegtop check logs/ --sarif > findings.sarif", "for code scanning"),
        ),
    ),
    "report": Examples(
        "docs/report.md",
        (
            ("delegtop report logs/ -o incident.html", "one page to send"),
            (f"delegtop report logs/ --only {SESSION} > one.md", "one delegation, with all above and below it"),
        ),
    ),
    "watch": Examples(
        "docs/watch.md",
        (
            ("delegtop watch --notify desktop", "tells once when something hangs, fails or needs you"),
            ("delegtop watch logs/ --exit-when problem --timeout 10m", "the exit code says what happened"),
        ),
    ),
    "wait": Examples(
        "docs/watch.md",
        (
            (f"delegtop wait {SESSION} logs/ --timeout 5m", "exits by its outcome"),
            ("delegtop wait toolu_01ABC --appear", "one that is not there yet"),
        ),
    ),
    "metrics": Examples(
        "docs/metrics.md",
        (
            ("delegtop metrics", "print them once"),
            ("delegtop metrics -o delegtop.prom --every 15", "for the textfile collector, every 15 seconds"),
        ),
    ),
    "record": Examples(
        "docs/recording.md",
        (
            ("delegtop record logs/ -o run.delegtop", "until Ctrl-C"),
            ("delegtop record logs/ --once -o run.delegtop.gz", "what is there now"),
        ),
    ),
    "stats": Examples(
        "docs/stats.md",
        (
            ("delegtop stats --since 7d", "of the last week"),
            ("delegtop stats logs/ --json", "for scripts"),
        ),
    ),
    "learn": Examples(
        "docs/stats.md",
        (
            ("delegtop learn", "from the last 30 days"),
            ("delegtop learn --since 90d --quiet", "from longer, for a timer"),
        ),
    ),
    "diff": Examples(
        "docs/stats.md",
        (
            ("delegtop diff before/ after/", "two runs; exits 1 if they differ"),
            ("delegtop diff before/ after/ --json", "for scripts"),
        ),
    ),
    "bundle": Examples(
        "docs/recording.md",
        (
            ("delegtop bundle logs/ -o incident.zip", "masked, to send"),
            (f"delegtop bundle logs/ --only {SESSION} -o one.zip", "one delegation, with all above and below it"),
        ),
    ),
    "sources": Examples(
        "docs/sources.md",
        (
            ("delegtop sources", "what is found, and what is left out and why"),
            ("delegtop sources --all", "the whole history"),
            ("delegtop sources logs/ --json", "for scripts"),
        ),
    ),
    "replay": Examples(
        "docs/replay.md",
        (
            ("delegtop replay logs/ --speed 60", "a minute a second"),
            ("delegtop replay incident.zip --from 20m", "from 20 minutes after the beginning"),
        ),
    ),
    "run": Examples(
        "docs/make-your-orchestrator-visible.md",
        (
            ("delegtop run -- sh -c 'echo working; sleep 1'", "any command, named by its program"),
            ("delegtop run --agent tester --timeout 600 -- ls", "with a name and ten minutes"),
        ),
    ),
    "demo": Examples(
        "README.md",
        (
            ("delegtop demo --speed 5", "five times as fast"),
            ("delegtop demo --write made", "only write the logs"),
        ),
    ),
    "rules": Examples(
        "docs/rules.md",
        (
            ("delegtop rules", "all of them"),
            ("delegtop rules DEL-020", "one explained"),
        ),
    ),
    "migrate": Examples(
        "docs/check.md",
        (
            ("delegtop migrate return.json", "print it in the standard form"),
            ("delegtop migrate - < return.json", "from standard input"),
        ),
    ),
    "lint": Examples(
        "docs/lint.md",
        (
            ("delegtop lint .claude/agents", "the agent files of a project"),
            ("delegtop lint .claude/agents --json", "for scripts"),
        ),
    ),
    "config": Examples(
        "docs/configuration.md",
        (
            ("delegtop config show", "every setting, and where it came from"),
            ("delegtop config default > delegtop.toml", "a file to start from"),
        ),
    ),
    "completion": Examples(
        "README.md",
        (
            ("delegtop completion bash > delegtop.bash", "to be sourced by ~/.bashrc"),
            ("delegtop completion zsh > _delegtop", "to be put into a folder of fpath"),
            ("delegtop completion fish > delegtop.fish", "to be put into ~/.config/fish/completions"),
        ),
    ),
    "help": Examples(
        "docs/commands.md",
        (
            ("delegtop help", "all commands"),
            ("delegtop help watch", "one of them"),
        ),
    ),
}


def epilog(name: str) -> str:
    """The end of the help of a command."""
    page, lines = EXAMPLES[name]
    width = max(len(command) for command, _ in lines) + 2
    shown = "\n".join(f"  {command:<{width}}{what}" for command, what in lines)
    return f"examples:\n{shown}\n\nmore: {page}"
