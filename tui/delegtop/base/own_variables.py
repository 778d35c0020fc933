"""The variables of the environment that are delegtop's own: settings, and what it tells to those that it starts."""

from collections.abc import Mapping

PREFIX = "DELEGTOP_"
NOT_SETTINGS = frozenset(
    {
        "DELEGTOP_REAL_LOGS",
        "DELEGTOP_PROTOCOLS",
        "DELEGTOP_CONTEXT",
        "DELEGTOP_SESSION_ID",
        "DELEGTOP_LOG",
        "DELEGTOP_REGISTRY",
        "DELEGTOP_EVENT",
        "DELEGTOP_ID",
        "DELEGTOP_STATE",
        "DELEGTOP_NAME",
        "DELEGTOP_TITLE",
        "DELEGTOP_MESSAGE",
        "DELEGTOP_NOTICED_AT",
        "DELEGTOP_MORE",
        "DELEGTOP_TODO",
        "DELEGTOP_PROJECT",
        "DELEGTOP_HOST",
        "DELEGTOP_SESSION",
        "DELEGTOP_WAS",
        "DELEGTOP_PROBLEM_SINCE",
    }
)
"""Variables with our prefix that are no settings."""


def setting_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Those that are settings; one that is empty says nothing."""
    return {
        name: value for name, value in environ.items() if name.startswith(PREFIX) and name not in NOT_SETTINGS and value
    }
