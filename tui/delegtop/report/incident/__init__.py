"""The incident report."""
