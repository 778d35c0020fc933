"""The demo: a simulated orchestrator that writes real files."""
