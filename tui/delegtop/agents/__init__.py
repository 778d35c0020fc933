"""The agent programs whose logs are read: a folder each."""
