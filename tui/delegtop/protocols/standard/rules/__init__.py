"""The rules on delegations and returns."""

from collections.abc import Container

from delegtop.diagnosis.return_findings import STANDARD

_GUIDE = frozenset({None})
"""Only who follows the guide hands out ids, timeouts, depths and paths, and has a registry and returns that end a
delegation."""
CHAPTERS: dict[str, Container[str | None] | None] = {
    "return_rules": _GUIDE,
    "return_content_rules": STANDARD,
    "return_error_rules": _GUIDE,
    "delegation_rules": _GUIDE,
    "path_rules": _GUIDE,
    "supervision_rules": None,
    "handover_rules": _GUIDE,
    "agent_limit_rules": None,
}
