"""For the authors of formats."""
