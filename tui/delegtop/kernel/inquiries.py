"""Which inquiry this system allows: where it tells what processes wait for, that; else what their looks tell."""

from collections.abc import Collection

from delegtop.kernel import proc_files
from delegtop.kernel.inquirer import Inquirer, Moves
from delegtop.kernel.open_files import KnownHolders
from delegtop.kernel.process_table import ProcessTable


def inquiry(table: ProcessTable, moves: Moves, agents: Collection[int], holders: KnownHolders) -> Inquirer:
    """Of one look. `agents` are the processes of the agent programs themselves, `holders` who had what open
    before."""
    if proc_files.is_mounted():
        from delegtop.kernel.blocked_on import Inquiry  # only the one of this system is needed

        return Inquiry(table, moves, agents, holders)
    from delegtop.kernel.plain_inquiry import PlainInquiry

    return PlainInquiry(table, moves)
