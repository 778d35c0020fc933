"""Stopping what is stuck: a plan of what can be done, mildest first, and doing it when somebody asks (docs/acting.md).

Nothing here happens by itself, and nothing at all unless the user's own settings or `--act` allow it.
"""
