"""NATS servers as people have them already, each opened by something else: a token, a user and a password, a
certificate, a .creds file. All of it is made anew for a test, listens on loopback alone and ends with it."""

import base64
import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fleet.hub_stand_ins import free_port, listens
from tests.patience import until

from delegtop.hub.hub_server import program

UNLIMITED = ("subs", "data", "payload", "imports", "exports", "conn", "leaf")
STORED = ("mem_storage", "disk_storage", "streams", "consumer")


@contextmanager
def served(folder: Path, config: str) -> Iterator[int]:
    """A server with JetStream and this configuration; its port."""
    port = free_port()
    path = folder / "server.conf"
    path.write_text(f'host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: "{folder / "kept"}" }}\n{config}\n')
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([str(program()), "-c", str(path)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:

        def is_there() -> bool:
            assert server.poll() is None, (folder / "server.log").read_text()
            return listens(port)

        until(is_there, "the server to listen")
        yield port
    finally:
        server.kill()
        server.wait()


def key_file(path: Path, **facts: str) -> Path:
    """The file that says how to enter."""
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in facts.items()))
    path.chmod(0o600)
    return path


# -- .creds ------------------------------------------------------------------------------------------------------------


class Signer:
    """An operator, an account or a user: who signs what."""

    def __init__(self, kind: str) -> None:
        import nkeys

        prefixes = {
            "operator": nkeys.PREFIX_BYTE_OPERATOR,
            "account": nkeys.PREFIX_BYTE_ACCOUNT,
            "user": nkeys.PREFIX_BYTE_USER,
        }
        self.kind, self.seed = kind, bytes(nkeys.encode_seed(os.urandom(32), prefixes[kind])).decode()
        self._pair = nkeys.from_seed(bytearray(self.seed.encode()))
        self.id: str = self._pair.public_key.decode()

    def signed(self, whose: "Signer", told: Mapping[str, Any]) -> str:
        claims: dict[str, Any] = {"iat": int(time.time()), "iss": self.id, "name": whose.kind, "sub": whose.id}
        claims["nats"] = {**told, "type": whose.kind, "version": 2}
        claims["jti"] = base64.b32encode(hashlib.sha256(json.dumps(claims).encode()).digest()).decode().rstrip("=")
        head = _words({"typ": "JWT", "alg": "ed25519-nkey"}) + "." + _words(claims)
        return f"{head}.{_text(self._pair.sign(head.encode()))}"


def _words(value: object) -> str:
    return _text(json.dumps(value, separators=(",", ":")).encode())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def operated() -> tuple[str, str, str]:
    """The configuration of a server that trusts an operator; the .creds of a user of its account, and of a stranger."""
    operator, account, system, user = Signer("operator"), Signer("account"), Signer("account"), Signer("user")
    limits = {**dict.fromkeys((*UNLIMITED, *STORED), -1), "wildcards": True}
    plain = {**limits, **dict.fromkeys(STORED, 0)}
    told = {each.id: operator.signed(each, {"limits": may}) for each, may in ((account, limits), (system, plain))}
    config = f"operator: {operator.signed(operator, {})}\nsystem_account: {system.id}\nresolver: MEMORY\n"
    config += "resolver_preload: {\n" + "\n".join(f"{id}: {each}" for id, each in told.items()) + "\n}"
    return config, _creds(account, user), _creds(Signer("account"), Signer("user"))


def _creds(account: Signer, user: Signer) -> str:
    told = account.signed(user, {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1})
    return (
        f"-----BEGIN NATS USER JWT-----\n{told}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
    )


# -- certificates ------------------------------------------------------------------------------------------------------


class Authority:
    """Who makes certificates out."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self.name = folder, name
        self.cert, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        _openssl(
            "req", "-x509", *_NEW_KEY, "-keyout", self._key, "-out", self.cert, "-days", "2", "-subj", f"/CN={name}"
        )

    def issued(self, name: str) -> tuple[Path, Path]:
        """A certificate of that name, good for 127.0.0.1, and its key."""
        cert, key, asked = (self._folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        more = self._folder / f"{name}.ext"
        more.write_text("subjectAltName = IP:127.0.0.1\n")
        _openssl("req", *_NEW_KEY, "-keyout", key, "-out", asked, "-subj", f"/CN={name}")
        by = ("-CA", self.cert, "-CAkey", self._key, "-CAcreateserial", "-extfile", more)
        _openssl("x509", "-req", "-in", asked, *by, "-out", cert, "-days", "2")
        key.chmod(0o600)
        return cert, key


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL, capture_output=True)
