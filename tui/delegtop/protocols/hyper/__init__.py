"""hyper's sub-agents: the contract of their output, the formats of their files, and the rules on both. Its page is
docs/hyper.md."""

from delegtop.agents.claude_code import PRODUCT as CLAUDE_CODE
from delegtop.agents.codex import PRODUCT as CODEX
from delegtop.agents.opencode import PRODUCT as OPENCODE
from delegtop.base.product import Basis, Contract, Home, Product

PRODUCT = Product(
    name="hyper",
    title="hyper",
    basis=Basis.DOCUMENTED,
    homes=(Home(".prose", "runs"), Home("~/.hyper", "sessions")),
    workspace_variable="HYPER_WORKSPACE_ROOT",
    contracts=(
        Contract("hyper-output", "output of a hyper sub-agent", "hyper.output_model:AgentOutput", "docs/hyper.md"),
    ),
)
CHAPTERS = {"hyper_rules": frozenset(each.name for each in (PRODUCT, CLAUDE_CODE, OPENCODE, CODEX))}
"""Its sub-agents run inside of other programs, whose logs have their answers."""
