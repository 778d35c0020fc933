"""A NATS that was there before delegtop: each way to enter it opens it, and what does not is said in words."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("nats", reason="there is no NATS here (pip install -e '.[dev,nats]')")

from tests.fleet.hub_stand_ins import WHY_NOT, delegtop
from tests.fleet.own_nats import Authority, key_file, operated, served

from delegtop.base.hub_address import hub_address
from delegtop.hub.hub_key import VIEW, key_for
from delegtop.hub.nats_client import HubError, connect

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
TOKEN, PASSWORD, OTHER = "tok-5f2c9d", "pw-81c0aa", "wrong-77b1"
UNKNOWN = "it does not know this key (authorization violation)"


class Server(NamedTuple):
    """A server, and what says how to enter."""

    folder: Path
    port: int

    def said(self, **facts: str) -> str:
        """What becomes of entering so: nothing if it opens."""
        key = key_file(self.folder / "key.toml", **facts)
        address = hub_address(f"nats://127.0.0.1:{self.port}?credentials={key}")

        async def enter() -> str:
            try:
                client = await connect(address, key_for(address, VIEW), "a test")
                await client.ask("INFO", {})
                await client.close()
            except HubError as error:
                return str(error)
            return ""

        return asyncio.run(enter())


def test_a_token(tmp_path: Path) -> None:
    with served(tmp_path, f'authorization {{ token: "{TOKEN}" }}') as port:
        server = Server(tmp_path, port)
        assert server.said(token=TOKEN) == ""
        assert server.said(token=OTHER) == UNKNOWN
        assert server.said() == UNKNOWN


def test_a_user_and_a_password(tmp_path: Path) -> None:
    with served(tmp_path, f'authorization {{ users: [{{ user: "me", password: "{PASSWORD}" }}] }}') as port:
        server = Server(tmp_path, port)
        assert server.said(user="me", password=PASSWORD) == ""
        assert server.said(user="me", password=OTHER) == UNKNOWN
        assert server.said(user="you", password=PASSWORD) == UNKNOWN


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Server]:
    config, good, stranger = operated()
    seed = next(line for line in good.splitlines() if line.startswith("SU"))
    texts = {"good": good, "stranger": stranger, "torn": good[:300], "seedless": good.replace(seed, f"XX{seed}")}
    for name, text in texts.items():
        (tmp_path / f"{name}.creds").write_text(text)
    with served(tmp_path, config) as port:
        yield Server(tmp_path, port)


def test_a_creds_file(operator: Server) -> None:
    def said(name: str) -> str:
        return operator.said(creds=str(operator.folder / name))

    assert said("good.creds") == ""
    assert said("stranger.creds") == UNKNOWN
    for torn in ("torn.creds", "seedless.creds"):
        assert said(torn) == f"{operator.folder / torn}: this is no .creds file, with a JWT and the seed of its user"
    assert said("absent.creds") == f"{operator.folder / 'absent.creds'}: No such file or directory"


def test_what_is_wrong_with_a_creds_file_is_said_by_every_command_without_what_is_in_it(operator: Server) -> None:
    torn = operator.folder / "seedless.creds"
    key = key_file(operator.folder / "key.toml", creds=str(torn))
    address = f"nats://127.0.0.1:{operator.port}"
    prepared = delegtop(operator.folder, "hub", "prepare", "--to", address, "--credentials", str(key))
    looked = delegtop(operator.folder, "tree", f"{address}?credentials={key}")
    for told, code in ((prepared, 2), (looked, 4)):
        assert told.returncode == code
        assert f"{torn}: this is no .creds file" in told.stderr
        assert "Traceback" not in told.stderr
        assert not any(line in told.stderr + told.stdout for line in torn.read_text().splitlines() if len(line) > 40)


def test_a_certificate_of_ones_own(tmp_path: Path) -> None:
    ours, others = Authority(tmp_path, "ours"), Authority(tmp_path, "others")
    (cert, key), (mine, my_key), (strange, its_key) = (
        ours.issued("server"),
        ours.issued("me"),
        others.issued("stranger"),
    )
    (tmp_path / "words.pem").write_text("no certificate\n")
    tls = f'tls {{ cert_file: "{cert}", key_file: "{key}", ca_file: "{ours.cert}", verify: true }}'
    with served(tmp_path, tls) as port:
        server, ca = Server(tmp_path, port), str(ours.cert)
        assert server.said(ca=ca, cert=str(mine), key=str(my_key)) == ""
        wants = "it ends the connection once it is safe: it may want a certificate of yours (cert and key)"
        assert server.said(ca=ca) == wants
        unwanted = f"it ends the connection once it is safe: it may not trust the certificate {strange}"
        assert server.said(ca=ca, cert=str(strange), key=str(its_key)) == unwanted
        assert server.said(ca=ca, cert=str(mine), key=str(its_key)) == f"{its_key} is not the key of {mine}"
        assert server.said(ca=ca, cert=str(tmp_path / "no.pem")) == f"{tmp_path / 'no.pem'}: No such file or directory"
        words = tmp_path / "words.pem"
        no_key = "they are no certificate and its key, or the key wants a pass phrase"
        assert server.said(ca=ca, cert=str(words), key=str(my_key)) == f"{words} and {my_key}: {no_key}"
        assert server.said(ca=str(words)) == f"{words}: there is no certificate in it"
        assert "is not the one that is trusted" in server.said(ca=str(others.cert))


def test_who_named_a_file_is_told_of_that_file(tmp_path: Path) -> None:
    key = key_file(tmp_path / "key.toml", token=OTHER)
    with served(tmp_path, f'authorization {{ token: "{TOKEN}" }}') as port:
        told = delegtop(tmp_path, "tree", f"nats://127.0.0.1:{port}?credentials={key}")
    assert f"the hub refuses the key ({UNKNOWN}); {key} is to have another" in told.stderr
    assert OTHER not in told.stderr + told.stdout
