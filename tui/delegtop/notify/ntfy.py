"""ntfy (https://ntfy.sh, or a server of one's own): a notification on a phone.

It is published as JSON at the root of the server: nothing of a log becomes a header.
"""

from urllib.parse import unquote, urlsplit, urlunsplit

from delegtop.base.secret_references import shown
from delegtop.notify.http_post import AddressError, Letter
from delegtop.notify.notification import Notification
from delegtop.notify.outbox import Taken
from delegtop.notify.web_way import WebWay, encoded, is_object_with

HIGH, USUAL = 4, 3
_LONGEST = 4000
"""Bytes of a message: of more than 4096, ntfy makes a file."""


def ntfy(url: str, token: str = "") -> WebWay:
    """`url` is that of the topic; `token` an access token, if the topic is protected."""
    parts = urlsplit(url)
    above, _, topic = parts.path.rstrip("/").rpartition("/")
    if not topic:
        raise AddressError("names no topic: it should look like https://ntfy.sh/your-topic")
    server = urlunsplit((parts.scheme, parts.netloc, f"{above}/", "", ""))
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    def write(taken: Taken) -> Letter:
        notice, more = taken
        message = {
            "topic": unquote(topic),
            "title": notice.subject,
            "message": "\n".join(notice.lines(more)).encode()[:_LONGEST].decode("utf-8", "ignore"),
            "priority": HIGH if notice.is_urgent else USUAL,
            "tags": [_tag(notice)],
        }
        return Letter(server, encoded(message), headers, unquote(topic))

    return WebWay("ntfy", shown(url), write, lambda status, body: status == 200 and is_object_with("id", body))


def _tag(notice: Notification) -> str:
    """What ntfy shows as an emoji."""
    if notice.event == "needs-person":
        return "raising_hand"
    return "warning" if notice.is_urgent else "white_check_mark"
