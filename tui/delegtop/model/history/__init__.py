"""What happened when."""
