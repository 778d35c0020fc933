"""Keeps the file fresh while somebody looks anyway: a dashboard or a watch, of the places that are the same for all."""

from collections.abc import Callable, Sequence

from delegtop.base.clock import WallClock, monotonic, spent
from delegtop.diagnosis.assessments import Assessments
from delegtop.report.health import Health
from delegtop.report.status import status_file
from delegtop.report.status.status_gather import Counted, everything, gather

_SHARE = 50
"""Counting and writing takes one part in so many of the processor, at most."""
_PACE = 0.9
"""Seconds between two writings, at least."""


class StatusKeeper:
    """Looks when it is told to, and writes if things stand otherwise, or if nobody has written for a while."""

    def __init__(
        self, assessments: Assessments, by: str, *, counted: Counted = everything, masked: bool = True
    ) -> None:
        self._assessments, self._by, self._counted, self._masked = assessments, by, counted, masked
        self._seen: tuple[object, ...] = ()
        """By what it would be noticed that things stand otherwise than they were told to."""
        self._rests_until = float("-inf")

    def look(self, statuses: Callable[[], Sequence[Health]] = tuple) -> None:
        """Call it about once a second, when all that has arrived is taken in; how the sources stand is asked when it is
        written."""
        if self._assessments.waiting or monotonic() < self._rests_until:
            return
        forest = self._assessments.forest
        seen = (self._assessments.version, forest.epoch, dict(forest.counts))
        if seen == self._seen and not _is_due():
            return
        began = spent()
        try:
            status_file.write(
                gather(
                    self._assessments,
                    self._by,
                    counted=self._counted,
                    masked=self._masked,
                    statuses=statuses(),
                )
            )
            self._seen = seen
        except OSError:  # a full disk: whoever asks reads the logs for himself
            pass
        self._rests_until = monotonic() + max(_SHARE * (spent() - began), _PACE)


def _is_due() -> bool:
    """Whether nobody, we or another, has written lately."""
    written = status_file.written_at()
    return written is None or not 0 <= WallClock().now() - written < status_file.BEAT
