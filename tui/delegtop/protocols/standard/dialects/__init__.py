"""The formats of the protocol: session log and registry snapshot."""
