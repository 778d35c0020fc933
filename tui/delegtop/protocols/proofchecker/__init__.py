"""The ProofChecker system: its vocabulary and conditions, the format of its folders, and the rules on both. Its page is
docs/proofchecker.md."""

from delegtop.agents.claude_code import PRODUCT as CLAUDE_CODE
from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="proofchecker",
    title="ProofChecker",
    basis=Basis.REAL,
    homes=(Home("specs"),),
    # What it hands out runs inside Claude Code; its rows are no sessions, but may name one.
    resume=CLAUDE_CODE.resume,
    tried=CLAUDE_CODE.tried,
    is_session=False,
    standard_returns=True,
)
CHAPTERS = dict.fromkeys(("condition_rules", "contract_rules"), frozenset({PRODUCT.name}))
