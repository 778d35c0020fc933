"""The protocols that delegations follow: for each its contract, the formats of its files, and its rules."""
