"""The formats of those who follow the delegation guide."""

FORMATS = frozenset({"session-log", "registry", "delegation-context", "return"})
"""By the names that their files go by."""
