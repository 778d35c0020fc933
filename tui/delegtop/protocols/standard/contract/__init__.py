"""What the documents prescribe, as data."""
