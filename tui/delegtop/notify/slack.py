"""Slack, by an incoming webhook.

What Slack would read as a mention, a link or an entity is escaped as its documentation says, and marks of its own
Markdown are turned off.
"""

from delegtop.base.secret_references import shown
from delegtop.notify.http_post import Letter
from delegtop.notify.outbox import Taken
from delegtop.notify.web_way import WebWay, encoded


def slack(url: str) -> WebWay:
    def write(taken: Taken) -> Letter:
        notice, more = taken
        words = "\n".join([f"delegtop: {notice.subject}", *notice.lines(more)])
        message = {"text": escaped(words), "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
        return Letter(url, encoded(message))

    return WebWay("slack", shown(url), write, lambda status, body: status == 200 and body.strip() == b"ok")


def escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
