"""What delegations are judged by: limits in time, and how the protocols are read where they contradict each other."""

from fnmatch import fnmatchcase

import msgspec

from delegtop.base.clock import DAY, MINUTE, SECOND, Millis
from delegtop.model.prices import PriceBook
from delegtop.protocols.standard.contract.delegation_limits import TIMEOUTS
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions

Kind = tuple[str, str]
"""The program and the kind of agent."""
Usual = tuple[Millis, int]
"""The time within which nearly all of a kind were done, and how many that rests on."""

Counts = tuple[int, ...]
"""How many took less than a second, and in each step from there on (`duration_curve`)."""


class AgentLimits(msgspec.Struct, frozen=True):
    """What an agent's own definition file says of its delegations."""

    source: str
    """The path of the file."""
    timeout: int | None = None
    """Its own, in milliseconds."""
    child_timeout: int | None = None
    """What it gives those it delegates to."""
    child_timeout_max: int | None = None
    max_depth: int | None = None
    may_delegate_to: tuple[str, ...] | None = None
    """None if the file does not say."""
    project: str | None = None
    """The folder whose agents it is for; None if it is for all."""


class OperatorTimeout(msgspec.Struct, frozen=True):
    """A timeout the operator set for the agents whose name, kind or folder fits a pattern."""

    pattern: str
    timeout: int

    def fits(self, *names: str | None) -> bool:
        return any(name is not None and fnmatchcase(name, self.pattern) for name in names)


class Policy(msgspec.Struct, frozen=True):
    """Limits in milliseconds, and the reading of the protocols; each is a setting."""

    timeouts: tuple[OperatorTimeout, ...] = ()
    """The first that fits counts."""
    agents: dict[str, AgentLimits] = {}
    """By the name of the agent, from the definition files of the project."""
    usual: dict[Kind, Usual] = {}
    """By this machine's history. More may become known while delegations are judged by it."""
    durations: dict[Kind, Counts] = {}
    """By the same: of each tool, model and kind of agent, how many took how long."""
    prices: PriceBook = msgspec.field(default_factory=PriceBook)
    """What models cost."""

    silent_after: int = 3 * MINUTE
    """A running delegation that wrote nothing for this long is `silent`. Quiet is not hung."""
    suspect_after: int = 10 * MINUTE
    """One that wrote nothing for this long, and longer than its kind usually takes, is worth a look."""
    tool_suspect_after: int = 30 * MINUTE
    """The same inside a shell, inside a tool of which little is known, and where there is no log: that is healthy."""
    recent: int = 30 * MINUTE
    """What ended badly within this time is told before what is suspicious; what is older was earlier."""
    lost_after: int = DAY
    """A delegation that is past its deadline, or has none, and wrote nothing for this long is `lost`."""
    runaway_spawns: int = 30
    """A session below which more agents than that start within a minute runs away; 0 is no limit, here and next."""
    runaway_agents: int = 500
    """So do more than that in all."""
    runaway_depth: int = 8
    """So does one that hands work down more levels than that."""
    runaway_tokens: int = 20_000_000
    """So does a tree that used more new tokens than that."""
    runaway_dollars: int = 100
    """So does one that spent more than that."""
    research_timeout: int = TIMEOUTS["research"] * SECOND
    planning_timeout: int = TIMEOUTS["planning"] * SECOND
    implementation_timeout: int = TIMEOUTS["implementation"] * SECOND
    simple_timeout: int = TIMEOUTS["simple"] * SECOND
    reading: ProtocolOptions = ProtocolOptions()

    def limits_of(self, agent: str | None, folder: str | None) -> AgentLimits | None:
        """What the file of an agent says that works in that folder; where the folder is not known, any may be meant."""
        limits = self.agents.get(agent or "")
        if limits is None or limits.project is None or folder is None:
            return limits
        return limits if f"{folder}/".startswith(f"{limits.project.rstrip('/')}/") else None


def default_timeout(policy: Policy, kind: str) -> int:
    timeout: int = getattr(policy, f"{kind}_timeout")
    return timeout
