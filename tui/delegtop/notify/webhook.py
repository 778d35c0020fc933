"""A webhook of one's own: the facts as JSON (docs/notifications.md), signed if there is a secret to sign them with."""

import hashlib
import hmac

from delegtop.base.secret_references import shown
from delegtop.notify.http_post import Letter
from delegtop.notify.notification import delivery
from delegtop.notify.outbox import Taken
from delegtop.notify.web_way import WebWay, encoded

SIGNATURE = "X-Delegtop-Signature"


def webhook(url: str, secret: str = "") -> WebWay:
    """`secret` is what the receiver knows, too: with it, it can tell that a message is ours."""

    def write(taken: Taken) -> Letter:
        body = encoded(taken.notice.facts(delivery(), taken.more))
        signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return Letter(url, body, {SIGNATURE: f"sha256={signed}"} if secret else {})

    return WebWay("webhook", shown(url), write, lambda status, _body: 200 <= status < 300)
