"""The command line: `main` answers `--version` before importing anything, then hands over to one module a command."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] in (["--version"], ["-V"]):
        from delegtop import __version__

        sys.stdout.write(f"delegtop {__version__}\n")
        return 0
    from delegtop.cli.command_table import dispatch

    return dispatch(arguments)
