"""`delegtop notify` sends one message by each way and says what was answered, `watch` sends all. No secret is shown."""

import os
import signal
from pathlib import Path

import pytest
from tests.loopback_server import free_port, never, reply, serving
from tests.patience import PATIENCE, until
from tests.unit.cli.test_watch import returned, running, write

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.jsonl").write_text("")


def configure(text: str, mode: int = 0o600) -> None:
    path = Path(os.environ["XDG_CONFIG_HOME"], "delegtop", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def test_it_says_exactly_what_was_answered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(reply("200 OK", b"ok")) as slack, serving(reply("403 Forbidden", b"bad token")) as hook:
        monkeypatch.setenv("SLACK", f"{slack.url}/services/s3cr3t")
        monkeypatch.setenv("HOOK", f"{hook.url}/s3cr3t")
        configure(
            "notify = ['bell', 'slack', 'webhook']\n"
            "[notifications]\nslack_url = 'env:SLACK'\nwebhook_url = 'env:HOOK'\nquiet_hours = '00:00-23:59'\n"
        )
        assert main(["notify"]) == Exit.FINDINGS
        assert "This is a test" in slack.asked[0].json["text"]
        assert hook.asked[0].json["event"] == "test"
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "bell     sent: it was rung; whether it can be heard is up to the terminal",
        f"slack    sent: {slack.url}/[masked] answered 200 OK: ok",
        f"webhook  not sent: {hook.url}/[masked] answered 403 Forbidden: bad token",
    ]
    assert err == "\a"


def test_one_way_can_be_named_and_all_that_is_missing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    configure(f"[notifications]\nntfy_url = 'http://127.0.0.1:{free_port()}/topic'\nslack_url = 'env:NOT_THERE'\n")
    assert main(["notify", "ntfy", "slack", "discord"]) == Exit.FINDINGS
    ntfy, slack, discord = capsys.readouterr().out.splitlines()
    assert ntfy.endswith("cannot be reached: Connection refused")
    assert slack == "slack    not sent: notifications.slack_url: the variable NOT_THERE is not set"
    assert discord.startswith("discord  not sent: discord has no address: set notifications.discord_url")


def test_a_program_of_the_user_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify", "command", "--notify-command", "true"]) == Exit.OK
    assert main(["notify", "command", "--notify-command", "false"]) == Exit.FINDINGS
    assert capsys.readouterr().out == (
        "command  sent: the notify command true ended with exit code 0\n"
        "command  not sent: the notify command false ended with exit code 1\n"
    )


def test_where_nothing_is_set_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify"]) == Exit.USAGE
    assert "no way of telling is set" in capsys.readouterr().err
    assert main(["notify", "pigeon"]) == Exit.USAGE


class TestSecrets:
    def test_settings_are_shown_without_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        configure(
            "[notifications]\nslack_url = 'https://hooks.slack.com/services/s3cr3t'\nntfy_token = 'tk_s3cr3t'\n"
            "webhook_url = 'file:~/url'\n"
        )
        assert main(["config", "show"]) == Exit.OK
        told = capsys.readouterr().out
        assert 'notifications.slack_url = "https://hooks.slack.com/[masked]"' in told
        assert 'notifications.ntfy_token = "[masked]"' in told
        assert 'notifications.webhook_url = "file:~/url"' in told
        assert "s3cr3t" not in told

    def test_a_file_of_settings_that_others_can_read_may_hold_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        configure("[notifications]\nslack_url = 'https://hooks.slack.com/services/s3cr3t'\n", 0o644)
        assert main(["config", "show"]) == Exit.USAGE
        told = capsys.readouterr().err
        assert "others can read this file; chmod 600 it, or write env:NAME or file:PATH in its place" in told
        assert "s3cr3t" not in told
        configure("[notifications]\nslack_url = 'env:SLACK'\n", 0o644)
        assert main(["config", "show"]) == Exit.OK

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("slack_url = ['https://hooks.slack.com/s3cr3t']", "'[masked]' will not do: it should be text"),
            ("slack_url = 'env:'", "it should name a variable or a file"),
            ("quiet_hours = '22-7'", "it must be two times of the day"),
            ("per_minute = 0", "greater than or equal to 1"),
        ],
    )
    def test_what_is_wrong_is_said_without_them(self, line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
        configure(f"[notifications]\n{line}\n")
        assert main(["config", "show"]) == Exit.USAGE
        err = capsys.readouterr().err
        assert told in err
        assert "s3cr3t" not in err

    @pytest.mark.parametrize(
        ("url", "told"),
        [
            ("http://alerts.example/s3cr3t", "goes to alerts.example without TLS"),
            ("https://ada:s3cr3t@alerts.example/", "has a name or password before its host"),
            ("s3cr3t", "is no address"),
        ],
    )
    def test_an_address_that_will_not_do_is_said_without_them(
        self, url: str, told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        configure(f"[notifications]\nwebhook_url = '{url}'\n")
        assert main(["watch", "run.jsonl", "--notify", "webhook"]) == Exit.USAGE
        err = capsys.readouterr().err
        assert f"--notify: notifications.webhook_url {told}" in err
        assert "s3cr3t" not in err


class TestWatch:
    def test_a_problem_and_that_it_is_over_are_sent(self) -> None:
        with serving(reply("200 OK")) as server:
            configure(f"[notifications]\nwebhook_url = '{server.url}/x'\n")
            write("register", "one", subagent="planner")
            with running("watch", "run.jsonl", "--notify", "webhook") as process:
                assert process.stdout is not None
                assert " present " in process.stdout.readline()
                returned("one", "failed")
                until(lambda: len(server.asked) == 2)
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE) == Exit.INTERRUPTED
        assert [asked.json["event"] for asked in server.asked] == ["failed", "done"]

    def test_what_ends_the_watch_is_sent_before_it_ends(self) -> None:
        with serving(reply("200 OK")) as server:
            configure(f"[notifications]\nwebhook_url = '{server.url}/x'\n")
            write("register", "one", subagent="planner")
            with running("watch", "run.jsonl", "--notify", "webhook", "--exit-when", "problem") as process:
                assert process.stdout is not None
                assert " present " in process.stdout.readline()
                returned("one", "failed")
                assert process.wait(PATIENCE) == Exit.FINDINGS
            until(lambda: len(server.asked) == 2)

    def test_a_server_that_hangs_keeps_no_line_back_and_is_said_at_the_end(self) -> None:
        with serving(never) as server:
            configure(f"[notifications]\nwebhook_url = '{server.url}/s3cr3t'\n")
            write("register", "one", subagent="planner")
            with running("watch", "run.jsonl", "--notify", "webhook") as process:
                assert process.stdout is not None
                assert " present " in process.stdout.readline()
                returned("one", "failed")
                until(lambda: len(server.asked) == 1)
                write("register", "two", subagent="tester")
                while "sess_two" not in process.stdout.readline():
                    continue
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == Exit.TERMINATED
                assert process.stderr is not None
                err = process.stderr.read()
        assert "did not arrive, or may not have, when it ended" in err or "did not answer within" in err
        assert "s3cr3t" not in err
