"""When the program fails: one sentence for the operator, the traceback in a private file, and never a local variable.

Locals hold log text, and log text holds whatever an agent was given, keys and tokens among it.
"""

import traceback

from delegtop import __version__
from delegtop.app.clipboard import state_directory, write_private
from delegtop.text import line, safe


def record(error: BaseException) -> str:
    """Write the traceback to `crash.log`; returns the sentence to print."""
    what = line(f"delegtop stopped by an internal error ({type(error).__name__})")
    try:
        path = state_directory() / "crash.log"
        write_private(path, f"delegtop {__version__}\n{safe(''.join(traceback.format_exception(error)))}")
    except OSError as reason:
        return f"{what}; its traceback could not be written: {line(str(reason))}"
    return f"{what}; its traceback is in {line(str(path))}"
