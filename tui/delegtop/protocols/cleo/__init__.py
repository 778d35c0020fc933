"""The CLEO subagent protocol: the contract of its manifest, the formats of its files, and the rules on subagents and
entries. Its page is docs/cleo.md."""

from delegtop.agents.claude_code import PRODUCT as CLAUDE_CODE
from delegtop.agents.codex import PRODUCT as CODEX
from delegtop.agents.opencode import PRODUCT as OPENCODE
from delegtop.base.product import Basis, Contract, Home, Product

PRODUCT = Product(
    name="cleo",
    title="CLEO",
    basis=Basis.REAL,
    homes=(Home(".cleo"), Home("claudedocs", "agent-outputs")),
    outputs_beside=True,
    contracts=(
        Contract("cleo-manifest", "entry of a CLEO manifest", "cleo.manifest_model:ManifestEntryModel", "docs/cleo.md"),
    ),
)
_ANSWERS = frozenset(each.name for each in (PRODUCT, CLAUDE_CODE, OPENCODE, CODEX))
"""It runs inside of other programs: what some of its rules are about may be told by their logs."""
CHAPTERS = {
    "response_rules": _ANSWERS,
    "subagent_rules": _ANSWERS,
    "entry_rules": frozenset({PRODUCT.name}),
}
