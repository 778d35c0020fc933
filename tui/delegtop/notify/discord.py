"""Discord, by a webhook of a channel.

Nobody is mentioned whatever the text says (`allowed_mentions`), its marks mean nothing, and links in it are not
unfolded. Discord is asked to wait until the message is there, since otherwise it takes what it does not keep.
"""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from delegtop.base.secret_references import shown
from delegtop.notify.http_post import Letter
from delegtop.notify.outbox import Taken
from delegtop.notify.web_way import WebWay, encoded, is_object_with

_LONGEST = 2000
_NO_PREVIEWS = 1 << 2
_MARKS = r"([\\*_~`|>#\[\]()<@:-])"


def discord(url: str) -> WebWay:
    parts = urlsplit(url)
    query = urlencode({**dict(parse_qsl(parts.query)), "wait": "true"})
    waiting = urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))

    def write(taken: Taken) -> Letter:
        notice, more = taken
        words = "\n".join([f"**{escaped(notice.subject)}**", *map(escaped, notice.lines(more))])
        message = {"content": words[:_LONGEST], "allowed_mentions": {"parse": []}, "flags": _NO_PREVIEWS}
        return Letter(waiting, encoded(message))

    return WebWay("discord", shown(url), write, _is_taken)


def _is_taken(status: int, body: bytes) -> bool:
    return status == 204 or (status == 200 and is_object_with("id", body))


def escaped(words: str) -> str:
    """Text without marks that mean something."""
    return re.sub(_MARKS, r"\\\1", words)
