"""Leaves: time, text, secrets, origins, signals. They import nothing of ours."""
