"""The marker comments around an agent's output in its final message: hyper's, also around a return."""

import re

# In four spellings. A bare word counts only on a line of its own: prose may speak of it.
_MARKER = r"(?:<!--[ \t]*{0}[ \t]*-->|---[ \t]*{0}[ \t]*---|<<<[ \t]*{0}[ \t]*>>>|^[ \t]*{0}[ \t\r]*$)"
START = re.compile(_MARKER.format("AGENT_OUTPUT_START"), re.MULTILINE)
END = re.compile(_MARKER.format("AGENT_OUTPUT_END"), re.MULTILINE)
