"""The writing side: session logs and registries as an orchestrator keeps them, and a simulated orchestrator."""
