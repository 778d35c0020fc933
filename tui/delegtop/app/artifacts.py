"""Where the files are that a delegation says it made, for the inspector."""

from delegtop.sources.artifacts import Presence, look

__all__ = ["Presence", "look"]
