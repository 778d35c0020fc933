"""The delegation guide, the standard return and the structure standard of agent files: the contract, its two formats,
the rules on delegations and returns, and those on agent files. Its page is docs/protocols.md."""
