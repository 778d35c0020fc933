"""What delegations are judged by: the settings, the agents' own files, and what is usual on this machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from delegtop.cli.agent_files import limits_near

if TYPE_CHECKING:
    from delegtop.config import Settings
    from delegtop.model.policy import Policy


def policy_for(settings: "Settings", sources: Sequence[str], *, learned: bool = False) -> "Policy":
    """The policy for these sources; `learned` adds the history, which says nothing of logs from elsewhere or of a
    moment before it was learned."""
    policy = settings.policy(limits_near(sources))
    if learned and settings.learn:
        from delegtop import usual

        policy.usual.update(usual.load().usual())
    return policy
