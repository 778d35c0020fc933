"""Paths of artifacts: relative to the root of the project, and within it."""

import re

from delegtop.base.lazy_pattern import lazy_pattern

ROOT_FOLDERS = (".opencode", "specs")
"""The folders in the root of a project that artifacts are kept in."""
_ABSOLUTE = lazy_pattern(r"[/\\~]|[A-Za-z]:[/\\]|[a-z][a-z0-9+.-]{1,20}://")

SCHEMA_PATTERN = r"^(?![/\\~]|[A-Za-z]:[/\\]|[a-z][a-z0-9+.-]{1,20}://)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))"
"""The same for JSON Schema: a path that is relative and does not climb."""


def is_absolute(path: str) -> bool:
    """True for a path from the root of a file system, from a home, or of a server."""
    return _ABSOLUTE.match(path) is not None


def climbs(path: str) -> bool:
    """True for a path that goes upwards somewhere, and so may leave the project."""
    return ".." in re.split(r"[/\\]", path)
