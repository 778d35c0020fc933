"""Recordings that delegtop makes."""

MAGIC = b'","is":"recording","version":'
"""What follows the checksum of the first line."""
