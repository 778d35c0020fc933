"""What formats are built from."""
