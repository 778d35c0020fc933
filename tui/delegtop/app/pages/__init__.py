"""What is said on the larger pages."""
