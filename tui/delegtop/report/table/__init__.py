"""The table of delegations: each column declared once, with what its cells say, for the dashboard and for print."""
