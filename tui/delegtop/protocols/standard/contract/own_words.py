"""Advice that delegtop itself writes into returns, where it stands in for an agent that did not answer or gave none.

Whoever reads such a return later must not take it for the agent's own word.
"""

RESUME = "Resume with the same command to continue"
INSTALL = "Install the command or correct its name"
RUN_AGAIN = "Look at what it printed, remove the cause and run the same command again"
RETURN_STANDARD = "Let the agent return the standard format, then delegate again."

OWN = frozenset({RESUME, INSTALL, RUN_AGAIN, RETURN_STANDARD})
