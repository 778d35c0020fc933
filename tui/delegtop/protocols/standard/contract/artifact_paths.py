"""Paths of artifacts: relative to the root of the project, and within it."""

import re

from delegtop.base.lazy_pattern import lazy_pattern

ROOT_FOLDERS = (".opencode", "specs")
"""The folders in the root of a project that artifacts are kept in."""
_FROM_ELSEWHERE = r"[/\\~]|[A-Za-z]:[/\\]|[a-z][a-z0-9+.-]{1,20}://|\$\{?[A-Z_]|%[A-Za-z_]+%"
_ABSOLUTE = lazy_pattern(_FROM_ELSEWHERE)
_CONTROL = lazy_pattern(r"[\x00-\x1f\x7f]")

SCHEMA_PATTERN = rf"^(?!{_FROM_ELSEWHERE})(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^\x00-\x1f\x7f]*$"
"""The same for JSON Schema: a path that is relative, does not climb, and can be one."""


def is_absolute(path: str) -> bool:
    """True for a path from the root of a file system, from a home or another variable, or of a server."""
    return _ABSOLUTE.match(path) is not None


def climbs(path: str) -> bool:
    """True for a path that goes upwards somewhere, and so may leave the project."""
    return ".." in re.split(r"[/\\]", path)


def is_usable(path: str) -> bool:
    """False for what names no file: nothing, or characters that stand in no name."""
    return bool(path.strip()) and _CONTROL.search(path) is None
