"""What is taken out of what is sent away, and what must still join afterwards. Every secret here is made up."""

import pytest

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Heard, Outcome, Phase, Report, Started
from delegtop.report.redaction import Redactor

KEY = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
AT = Millis(1)
HERE = Origin("/home/adaquill/logs/run.jsonl", 1, 0)


def redacted(
    *texts: str, users: tuple[str, ...] = (), hosts: tuple[str, ...] = (), ids: tuple[str, ...] = ()
) -> list[str]:
    redactor = Redactor(users, hosts, ids)
    for text in texts:
        redactor.learn(text)
    return [redactor.redact(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mail ada@lamplight.example now", "mail mail-1@masked.invalid now"),
        ("Ada.Quill+x@post.lamplight.example", "mail-1@masked.invalid"),
        ("/home/adaquill/lantern/x.py", "/home/user-1/lantern/x.py"),
        ("/Users/ada.quill/x", "/Users/user-1/x"),
        ("/var/home/adaquill", "/var/home/user-1"),
        (r"C:\Users\AdaQuill\x", r"C:\Users\user-1\x"),
        (r"C:\\Users\\AdaQuill\\x", r"C:\\Users\\user-1\\x"),
        ("/mnt/c/Users/adaquill/x", "/mnt/c/Users/user-1/x"),
        ("file:///home/adaquill/x", "file:///home/user-1/x"),
        ("in /home/adaquill, and", "in /home/user-1, and"),
        (r"\n/home/adaquill/x", r"\n/home/user-1/x"),
        ("/logs/-home-adaquill-lantern/a.jsonl", "/logs/-home-user-1-lantern/a.jsonl"),
        (f"use {KEY}!", "use sk-ant-[masked]-1!"),
        ("password=Winter77green", "password=[masked]-1"),
    ],
)
def test_what_points_at_a_person_or_opens_a_door_is_replaced(text: str, shown: str) -> None:
    assert redacted(text) == [shown]


@pytest.mark.parametrize(
    "text",
    [
        "sess_1766743200_abc123",
        "5d0f3a52-8b1e-4c67-9a40-2f6be1c7d301",
        "toolu_01ABCdefGHIjklMNOpqrSTU",
        "src/home/page.tsx and https://lamplight.example/home/index.html",
        "/root/x /home/user/x /home/runner/work",
        "lodash@4.17.21, git@lamplight.example:quill/lantern.git, @decorator",
        "[masked] password=[masked] mail-3@masked.invalid /home/user-7/x",
        "",
    ],
)
def test_what_tells_of_nobody_stays(text: str) -> None:
    assert redacted(text) == [text]


def test_the_same_thing_gets_the_same_stand_in_and_another_another() -> None:
    first, second, third = redacted(
        "ada@lamplight.example wrote to bo@lamplight.example", "from ADA@lamplight.example", "eve@lamplight.example"
    )
    assert first == "mail-1@masked.invalid wrote to mail-2@masked.invalid"
    assert second == "from mail-1@masked.invalid"
    assert third == "mail-3@masked.invalid"


def test_a_name_known_from_a_path_is_replaced_wherever_it_stands_as_a_word() -> None:
    [_, said] = redacted("/home/adaquill/x", "Adaquill and adaquill_2, but not adaquillian")
    assert said == "user-1 and user-1_2, but not adaquillian"


def test_a_name_of_two_letters_is_replaced_only_where_it_is_surely_a_name() -> None:
    assert redacted("/home/ab/x", "ab initio") == ["/home/user-1/x", "ab initio"]


def test_a_secret_once_known_is_hidden_also_where_nothing_gives_it_away() -> None:
    assert redacted("password=Winter77green", "then type Winter77green here") == [
        "password=[masked]-1",
        "then type [masked]-1 here",
    ]


def test_a_common_word_that_is_a_password_stays_where_it_is_a_word() -> None:
    assert redacted("password=summer", "a summer day")[1] == "a summer day"


def test_ids_stay_even_where_a_secret_could_stand() -> None:
    id = "sess_1766743200_abc123"
    assert redacted(f"token: {id}", ids=(id,)) == [f"token: {id}"]


def test_a_key_is_no_id_even_if_somebody_uses_it_as_one() -> None:
    assert KEY not in redacted(KEY, ids=(KEY,))[0]


def test_hosts_are_replaced_in_their_field_and_in_the_text() -> None:
    redactor = Redactor(hosts=["lamplight-7"])
    first, second = Started("a", AT, HERE, host="pc"), Started("b", AT, HERE, host="lamplight-7")
    redactor.learn(first)
    redactor.learn(second)
    assert (redactor.redact(first).host, redactor.redact(second).host) == ("host-2", "host-1")
    assert redactor.redact(Heard("b", AT, HERE, "ssh lamplight-7")).doing == "ssh host-1"


def test_the_number_of_a_machine_is_masked_and_other_ids_stay() -> None:
    started = Started("a", AT, HERE, refs=(("session_id", "a"), ("pid_domain", "linux:0123456789abcdef:pid:[1]")))
    assert Redactor().redact(started).refs == (("session_id", "a"), ("pid_domain", "[masked]"))


def test_the_words_of_an_enumeration_are_never_replaced() -> None:
    redactor = Redactor(users=["tool", "completed"])
    heard = redactor.redact(Heard("a", AT, HERE, "tool", phase=Phase.TOOL))
    assert (heard.doing, heard.phase) == ("user-1", Phase.TOOL)
    ended = redactor.redact(Ended("a", AT, HERE, Outcome.COMPLETED, Ending.RETURN, Report("completed")))
    assert ended.outcome is Outcome.COMPLETED


def test_a_name_that_json_spells_in_numbers_is_found_in_a_line() -> None:
    redactor = Redactor(users=["josé"])
    assert redactor.line(rb'{"by": "jos\u00e9"}') == b'{"by": "user-1"}'


def test_what_was_masked_is_counted_by_kind_and_never_named() -> None:
    redactor = Redactor(users=["adaquill"], hosts=["lamplight-7"])
    for text in (
        f"{KEY} {KEY}",
        "ada@lamplight.example",
        "/home/adaquill/x on lamplight-7, by adaquill",
        "password=Winter77green",
    ):
        redactor.text(text)
    assert redactor.masked() == {
        "home path": 1,
        "host name": 1,
        "key": 2,
        "mail": 1,
        "password": 1,
        "user name": 1,
    }


def test_masking_twice_changes_nothing_more() -> None:
    [once] = redacted(f"{KEY} password='Winter77green' ada@lamplight.example /home/adaquill/x https://u:Pw12345x@h/")
    assert redacted(once) == [once]
