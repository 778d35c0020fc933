"""The limits by which time alone changes a state, and the default timeouts of the delegation guide."""

import re

import msgspec

from delegtop.clock import DAY, MINUTE, SECOND


class Policy(msgspec.Struct, frozen=True):
    """Limits in milliseconds; each is a setting."""

    silent_after: int = 3 * MINUTE
    """A running delegation that wrote nothing for this long is `silent`. Quiet is not hung."""
    lost_after: int = DAY
    """A delegation that is past its deadline, or has none, and wrote nothing for this long is `lost`."""
    research_timeout: int = 3600 * SECOND
    planning_timeout: int = 1800 * SECOND
    implementation_timeout: int = 7200 * SECOND
    simple_timeout: int = 300 * SECOND


_KINDS = (
    ("simple", re.compile(r"status-sync|git-workflow|task-number|^/?(task|todo)$")),
    ("research", re.compile(r"research")),
    ("planning", re.compile(r"plan")),
    ("implementation", re.compile(r"implement")),
)


def kind_of(agent: str | None, command: str | None) -> str | None:
    """The kind of operation by its name: research, planning, implementation, simple, or None if the name says nothing.

    The agent's own name speaks before the command that sent it: a researcher called by /implement does research.
    """
    for name in filter(None, (agent, command)):
        for kind, pattern in _KINDS:
            if pattern.search(name.lower()):
                return kind
    return None


def default_timeout(policy: Policy, kind: str) -> int:
    timeout: int = getattr(policy, f"{kind}_timeout")
    return timeout
