"""The delegation guide's numbers: how deep delegations may go and how long each kind of work may take."""

from delegtop.base.lazy_pattern import lazy_pattern

MAX_DEPTH = 3
"""The deepest a delegation may be: a command is 0, its agent 1, a specialist 2, a helper 3.

The guide counts in two ways. Its list of levels and its tests allow depth 3 and block depth 4; one step of its standard
pattern would block depth 3 already. The levels and the tests are followed.
"""

TIMEOUTS = {"research": 3600, "planning": 1800, "implementation": 7200, "simple": 300}
"""Seconds a delegation has, by its kind of operation."""
DEFAULT_TIMEOUT = 3600
"""Seconds a delegation has whose name says nothing of its kind: the guide lets none go without a limit."""

_KINDS = (
    ("simple", lazy_pattern(r"status-sync|git-workflow|task-number|^/?(task|todo)$")),
    ("research", lazy_pattern(r"research")),
    ("planning", lazy_pattern(r"plan")),
    ("implementation", lazy_pattern(r"implement")),
)


def kind_of(*names: str | None) -> str | None:
    """The kind of operation by the first of these names that says anything; None if none does.

    An agent's own name stands before the command that sent it: a researcher called by /implement does research.
    """
    said = (kind for name in names if name for kind, pattern in _KINDS if pattern.search(name.lower()))
    return next(said, None)


def timeout_of(agent: str) -> int:
    """Seconds for an agent that was given no timeout."""
    kind = kind_of(agent)
    return DEFAULT_TIMEOUT if kind is None else TIMEOUTS[kind]
