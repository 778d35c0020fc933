"""Telling somebody who does not look: by the terminal's bell, the desktop, a command of one's own, or a message to a
phone, a chat or another program.

What is told comes from logs, so it is masked, cut and on one line, and each way writes it so that it means nothing
there. Where it goes is the user's choice alone. Nothing here waits: programs run beside, messages are sent by a thread
of their own, and what fails is said once and stops nothing.
"""

from collections.abc import Callable

Say = Callable[[str], None]
"""Says something to whoever looks, once."""


class NotifyError(Exception):
    """A way of telling that does not work here; the message is one sentence for people."""
