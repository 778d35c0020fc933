"""Whether what is shown is the present of this machine: only that can be acted on."""

import shlex
from collections.abc import Iterable
from pathlib import PurePath

from delegtop.feed.file_catalogue import STDIN
from delegtop.feed.followed_file import SourceStatus
from delegtop.model.delegation import Delegation
from delegtop.sources.discover import is_packed

PAST = "this is a moment of the past; only what is so now can be stopped"
RECORDED = "this is a recording; only what runs now can be stopped"
_BESIDE = "{} is a recording, and what it says of others cannot be told from what they say; leave it out first"
_RECORDING = "recording"


def refusal(facts: Delegation, statuses: Iterable[SourceStatus], via: str = "") -> str:
    """Why nothing can be done about a delegation, by where it is known from; nothing if it can. `via` is the name by
    which ssh reaches its host."""
    places = [each for each in (facts.started_origin, facts.heard_origin, *facts.origins) if each is not None]
    files = [each for each in places if not each.is_kernel]
    if any(each.host for each in places):
        on = next(each.host for each in places if each.host)
        there = shlex.join(("ssh", "-t", via, shlex.join(("delegtop", "stop", facts.id)))) if via else ""
        return f"it is on {on}; only what runs on this machine can be stopped{f', and there: {there}' if there else ''}"
    if any(each.source == STDIN for each in files):
        return "it was piped in, and nobody knows from which machine; only what is read from a file here can be stopped"
    known = list(statuses)
    read = {each.path for each in known if each.dialect != _RECORDING and not is_packed(each.path)}
    if not any(each.source in read for each in files):
        return "it is known from a recording, a bundle or a packed log; only what is read as it happens can be stopped"
    # It may name any process, of any delegation, and any file that it is said to stand in.
    beside = [each.path for each in known if each.dialect == _RECORDING and each.records]
    return _BESIDE.format(PurePath(beside[0]).name) if beside else ""
