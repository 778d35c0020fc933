"""The live page: what is stuck, why, what to do, and the tree; in blocks, so that only what changed is told again."""
