"""How tests are dealt to the workers: file by file, and what waits beside what computes.

A file at a time: what its tests share is made once, and no worker asks for its next test after each of some thousand
short ones. Half of the workers begin with what waits for processes and terminals, the others with what computes: on two
cores neither is idle while the other is done.
"""

import pytest
from tests.waiting_places import waits
from xdist.scheduler.loadgroup import LoadGroupScheduling  # type: ignore[import-untyped] # xdist tells no types


class ByFile(LoadGroupScheduling):  # type: ignore[misc] # as above
    """A group of tests as one piece of work, else a file."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # what takes longest comes first as it is; many tests are no long ones

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group

    def _assign_work_unit(self, node: object) -> None:
        is_first = self.nodes.index(node) % 2 == 0
        wanted = next((each for each in self.workqueue if waits(each) == is_first), None)
        if wanted is not None:
            self.workqueue.move_to_end(wanted, last=False)
        super()._assign_work_unit(node)
