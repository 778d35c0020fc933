"""What each way really sends, to a server that records it: bounded, masked, and nothing in it means anything there."""

import hashlib
import hmac
import json
from typing import Any

import pytest
from tests.loopback_server import Asked, reply, serving
from tests.patience import PATIENCE

from delegtop.base.clock import MINUTE, Millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.model.states import State
from delegtop.notify.courier import Courier
from delegtop.notify.discord import discord
from delegtop.notify.http_post import AddressError
from delegtop.notify.notification import Notification, in_words, summary, trial
from delegtop.notify.ntfy import ntfy
from delegtop.notify.outbox import Taken
from delegtop.notify.slack import slack
from delegtop.notify.web_way import WebWay
from delegtop.notify.webhook import SIGNATURE, webhook

NOW = Millis(1_790_000_000_000)
TOKEN = "tk_s3cr3t"  # noqa: S105 - made up
HOSTILE = "<!channel> @everyone <@U123> *b* [x](http://evil.example)\r\nPriority: 5\x1b]0;x\x07 password=hunter2hunter2"


def alert(cause: Cause = Cause.HUNG, **more: Any) -> Alert:
    given: dict[str, Any] = {
        "id": "toolu_01ABC",
        "name": "implementer",
        "title": "Make the parser faster",
        "state": State.SILENT,
        "message": "It hangs in Bash for 12:00.",
        "at": NOW,
        "since": Millis(NOW - 12 * MINUTE),
        "root": "5506-session",
        "folder": "/home/ada/webapp",
        "todo": "End the process 4711.",
    }
    return Alert(cause=cause, handle=0, **given | more)


def hostile() -> Notification:
    return in_words(alert(name=HOSTILE, title=HOSTILE, message=HOSTILE, todo=HOSTILE, folder=HOSTILE, id=HOSTILE))


def sent(
    make: Any, answer: bytes, told: Notification, *, path: str = "/hook/s3cr3t", more: int = 0, **given: str
) -> Asked:
    """The request, as the server got it."""
    with serving(answer) as server:
        courier = Courier(make(server.url + path, **given), pytest.fail, timeout=PATIENCE)
        letter = courier.way.write(Taken(told, more))
        arrived = courier._send(letter, courier.way.accepts, PATIENCE)
        assert arrived.delivered, arrived
        assert "s3cr3t" not in arrived.words
        assert "s3cr3t" not in courier.way.where
    (asked,) = server.asked
    assert len(asked.body) < 16_384
    assert asked.body.isascii()
    assert all("\n" not in value for value in asked.headers.values())
    return asked


OK = {
    "ntfy": reply("200 OK", b'{"id":"x","event":"message"}'),
    "slack": reply("200 OK", b"ok"),
    "discord": reply("200 OK", b'{"id":"1","content":"x"}'),
    "webhook": reply("202 Accepted"),
}
MAKE: dict[str, Any] = {"ntfy": ntfy, "slack": slack, "discord": discord, "webhook": webhook}


class TestNtfy:
    def test_it_is_published_as_json_at_the_root_of_the_server(self) -> None:
        asked = sent(ntfy, OK["ntfy"], in_words(alert()), path="/my-topic", token=TOKEN, more=2)
        assert asked.line == "POST / HTTP/1.1"
        assert asked.headers["authorization"] == f"Bearer {TOKEN}"
        assert asked.json == {
            "topic": "my-topic",
            "title": "webapp: implementer is hung",
            "message": "Make the parser faster: It hangs in Bash for 12:00.\n"
            "What to do: End the process 4711.\n"
            "since 14:01:20, toolu_01ABC\n"
            "2 more were held back.",
            "priority": 4,
            "tags": ["warning"],
        }

    def test_a_server_below_a_path_and_a_topic_without_a_token(self) -> None:
        asked = sent(ntfy, OK["ntfy"], in_words(alert(Cause.PERSON)), path="/push/my-topic/")
        assert asked.line == "POST /push/ HTTP/1.1"
        assert "authorization" not in asked.headers
        assert (asked.json["topic"], asked.json["tags"]) == ("my-topic", ["raising_hand"])

    def test_what_is_over_is_no_alarm(self) -> None:
        over = alert(Cause.RESOLVED, state=State.RUNNING, was=Cause.HUNG)
        told = sent(ntfy, OK["ntfy"], in_words(over), path="/t").json
        assert (told["title"], told["priority"], told["tags"]) == (
            "webapp: implementer goes on",
            3,
            ["white_check_mark"],
        )

    def test_nothing_of_a_log_becomes_a_header(self) -> None:
        asked = sent(ntfy, OK["ntfy"], hostile(), path="/t")
        assert set(asked.headers) == {
            *("host", "user-agent", "content-type", "content-length", "accept-encoding", "connection")
        }

    def test_a_message_is_never_so_long_that_ntfy_makes_a_file_of_it(self) -> None:
        long = in_words(alert(message="😀" * 5000, todo="😀" * 5000, title="😀" * 500))
        assert 3_000 < len(sent(ntfy, OK["ntfy"], long, path="/t").json["message"].encode()) <= 4_000

    def test_an_answer_may_be_as_long_as_a_message(self) -> None:
        answer = reply("200 OK", json.dumps({"id": "1", "content": "x" * 20_000}).encode())
        sent(ntfy, answer, in_words(alert()), path="/t")

    def test_a_server_that_repeats_the_topic_does_not_give_it_away(self) -> None:
        """On a public server nothing but its name protects it."""
        answer = reply("200 OK", b'{"id":"x","event":"message","topic":"s3cr3t-topic","message":"m"}')
        sent(ntfy, answer, in_words(alert()), path="/s3cr3t-topic")

    def test_without_a_topic_it_does_not_work(self) -> None:
        with pytest.raises(AddressError, match="names no topic"):
            ntfy("https://ntfy.sh/")


class TestSlack:
    def test_it_is_one_text(self) -> None:
        asked = sent(slack, OK["slack"], in_words(alert()))
        assert asked.line == "POST /hook/s3cr3t HTTP/1.1"
        assert asked.json == {
            "text": "delegtop: webapp: implementer is hung\n"
            "Make the parser faster: It hangs in Bash for 12:00.\n"
            "What to do: End the process 4711.\n"
            "since 14:01:20, toolu_01ABC",
            "mrkdwn": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }

    def test_nobody_is_called_by_a_log(self) -> None:
        text = sent(slack, OK["slack"], hostile()).json["text"]
        assert "<" not in text
        assert ">" not in text
        assert "&lt;!channel&gt;" in text


class TestDiscord:
    def test_it_is_one_message_that_mentions_nobody(self) -> None:
        asked = sent(discord, OK["discord"], in_words(alert()), path="/api/webhooks/1/s3cr3t?thread_id=7")
        assert asked.line == "POST /api/webhooks/1/s3cr3t?thread_id=7&wait=true HTTP/1.1"
        assert asked.json["allowed_mentions"] == {"parse": []}
        assert asked.json["flags"] == 4
        assert asked.json["content"].startswith("**webapp\\: implementer is hung**\nMake the parser faster\\: It hangs")

    def test_marks_of_a_log_mean_nothing_and_it_is_no_longer_than_discord_takes(self) -> None:
        content = sent(discord, OK["discord"], hostile()).json["content"]
        assert "\\@everyone" in content
        assert "\\<\\@U123\\>" in content
        assert "\\*b\\*" in content
        long = alert(message="*" * 5000, todo="*" * 5000, title="*" * 500, name="*" * 500)
        assert len(sent(discord, OK["discord"], in_words(long)).json["content"]) <= 2000


class TestWebhook:
    def test_it_is_the_facts(self) -> None:
        asked = sent(webhook, OK["webhook"], in_words(alert()), more=3)
        told = asked.json
        assert len(told.pop("delivery")) == 16
        assert told == {
            "schema_version": 1,
            "event": "hung",
            "at": "2026-09-21T14:13:20.000Z",
            "headline": "implementer is hung",
            "message": "It hangs in Bash for 12:00.",
            "todo": "End the process 4711.",
            "id": "toolu_01ABC",
            "name": "implementer",
            "title": "Make the parser faster",
            "state": "silent",
            "project": "webapp",
            "host": None,
            "session": "5506-session",
            "since": "2026-09-21T14:01:20.000Z",
            "was": None,
            "seconds": None,
            "still_open": None,
            "held_back": 3,
        }
        assert SIGNATURE.lower() not in asked.headers

    def test_that_something_is_over_says_what_it_was_and_for_how_long(self) -> None:
        over = alert(Cause.RESOLVED, state=State.RUNNING, was=Cause.HUNG, message="It goes on after 12:00 (hung).")
        told = sent(webhook, OK["webhook"], in_words(over)).json
        assert (told["event"], told["was"], told["seconds"]) == ("resolved", "hung", 720)

    def test_it_is_signed_if_there_is_a_secret(self) -> None:
        asked = sent(webhook, OK["webhook"], in_words(alert()), secret=TOKEN)
        proof = hmac.new(TOKEN.encode(), asked.body, hashlib.sha256).hexdigest()
        assert asked.headers[SIGNATURE.lower()] == f"sha256={proof}"


@pytest.mark.parametrize("name", MAKE)
def test_what_is_sent_is_masked_and_bounded(name: str) -> None:
    asked = sent(MAKE[name], OK[name], hostile())
    assert b"hunter2" not in asked.body
    long = in_words(alert(message="x" * 10**6, todo="y" * 10**6, title="z" * 10**6, name="n" * 10**6, id="i" * 10**6))
    assert len(sent(MAKE[name], OK[name], long).body) < 8_192
    for told in _texts(asked.json):
        assert told.replace("\n", "").isprintable()


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", MAKE)
def test_a_summary_and_a_test_can_be_sent_by_each(name: str) -> None:
    for told in (summary([in_words(alert())], "22:00-07:00", NOW), trial(NOW)):
        assert told.headline.encode() in sent(MAKE[name], OK[name], told).body.replace(b"\\\\", b"")


@pytest.mark.parametrize("name", ["ntfy", "slack", "discord"])
def test_a_page_that_wants_a_login_has_not_taken_it(name: str) -> None:
    way: WebWay = MAKE[name]("https://host.example/a/b")
    assert not way.accepts(200, b"<html>Log in</html>")
    assert not way.accepts(200, json.dumps(["id"]).encode())
    assert not way.accepts(500, b"ok")
