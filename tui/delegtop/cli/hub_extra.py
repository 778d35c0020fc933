"""What hubs need beside delegtop itself, and what is said where it is missing."""

from importlib.util import find_spec

from delegtop.cli.diagnostics import fail

_NEEDED = {"nats": "nats-py", "nkeys": "nkeys"}


def check() -> None:
    """A usage error that says what to install."""
    missing = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if missing:
        from delegtop.base.own_extras import what_to_type

        fail(f"this needs {' and '.join(missing)}, which come with the extra: {what_to_type('nats')}")
