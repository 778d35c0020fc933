"""What a hub of one's own has in its folder, for its owner's eyes alone: its certificate, the list of keys that it
knows (their public halves), its own key, and what the server is told by these."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from delegtop.base.clock import SECOND, Millis, WallClock
from delegtop.base.paths import make_private, state_folder
from delegtop.base.system_errors import reason_of
from delegtop.hub.hub_key import NAME, HubKey, HubKeyError, new_seed, public_half, write_private
from delegtop.hub.rights import rights

_YEARS = timedelta(days=3650)
_EARLIER = timedelta(days=2)
"""Clocks of other hosts may be behind."""


class KnownKey(msgspec.Struct, frozen=True):
    """A key that was given to somebody; its secret half is theirs alone."""

    name: str
    can: str
    public: str
    made_at: Millis


class HubState(msgspec.Struct, frozen=True, kw_only=True):
    """What the hub was last started with."""

    address: str
    """What others are told to connect to."""
    keep: str = "7d"


class HubFolder:
    """The folder of one hub."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "hub"
        self.config, self.store = self.path / "server.conf", self.path / "jetstream"
        self.log, self.lock = self.path / "server.log", self.path / "lock"
        self._keys, self._users = self.path / "keys.json", self.path / "users.conf"
        self._certificate, self._certificate_key = self.path / "certificate.pem", self.path / "certificate.key"
        self._own, self._state = self.path / "own.seed", self.path / "hub.json"

    @property
    def is_made(self) -> bool:
        return self._own.exists() and self._certificate.exists()

    def make(self) -> None:
        """All that is missing. OSError if it cannot be written."""
        make_private(self.path)
        self.path.chmod(0o700)
        if not self.is_made:
            self._make_certificate()
            write_private(self._own, new_seed().encode())
        self.store.mkdir(mode=0o700, exist_ok=True)
        self.write_users()

    def _make_certificate(self) -> None:
        """Made out to itself: who has it knows the hub by it, wherever that is."""
        from cryptography import x509  # only with the extra, and only once
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
        now = datetime.fromtimestamp(WallClock().now() / SECOND, UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _EARLIER)
            .not_valid_after(now + _YEARS)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        form = serialization.PrivateFormat.PKCS8
        secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        write_private(self._certificate_key, secret)
        write_private(self._certificate, made.public_bytes(serialization.Encoding.PEM))

    def certificate(self) -> str:
        """In base64, without the lines around it."""
        lines = self._certificate.read_text("ascii").split("-----")[2]
        return base64.b64encode(base64.b64decode(lines)).decode()

    # -- keys ------------------------------------------------------------------------------------------------------

    def known_keys(self) -> list[KnownKey]:
        try:
            return msgspec.json.decode(self._keys.read_bytes(), type=list[KnownKey])
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise HubKeyError(f"{self._keys}: cannot be read: {reason_of(error)}") from None

    def own_key(self, address: str) -> HubKey:
        """That of the hub itself, which may do everything."""
        return HubKey(address=address, seed=self._own.read_text("ascii").strip(), certificate=self.certificate())

    def invite(self, name: str, can: str, address: str = "") -> HubKey:
        """A new key; one that was given to the same name for the same is no more."""
        state = self.state()
        seed = new_seed()
        known = [each for each in self.known_keys() if (each.name, each.can) != (name, can)]
        known.append(KnownKey(name, can, public_half(seed), WallClock().now()))
        self._put(known)
        return HubKey(
            address=address or state.address,
            name=name,
            can=can,
            seed=seed,
            certificate=self.certificate(),
            keep=state.keep,
        )

    def revoke(self, name: str) -> int:
        """Take back all keys of that name; returns how many they were."""
        known = self.known_keys()
        kept = [each for each in known if each.name != name]
        self._put(kept)
        return len(known) - len(kept)

    def _put(self, known: list[KnownKey]) -> None:
        write_private(self._keys, msgspec.json.encode(known))
        self.write_users()

    def users_stamp(self) -> int:
        """Another one whenever the keys are others."""
        try:
            return self._users.stat().st_mtime_ns
        except OSError:
            return 0

    def write_users(self) -> None:
        own = public_half(self._own.read_text("ascii").strip())
        users = [{"nkey": own, "permissions": rights("", "", own)}]
        users += [
            {"nkey": each.public, "permissions": rights(each.can, each.name, each.public)} for each in self.known_keys()
        ]
        # JSON is what the server reads, too.
        write_private(self._users, f"authorization: {json.dumps({'users': users}, indent=1)}\n".encode())

    # -- the server ------------------------------------------------------------------------------------------------

    def state(self) -> HubState:
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=HubState)
        except FileNotFoundError:
            raise HubKeyError(f"{self.path}: no hub was started here yet; start `delegtop hub`") from None
        except (OSError, ValueError) as error:
            raise HubKeyError(f"{self._state}: cannot be read: {reason_of(error)}") from None

    def write_state(self, state: HubState) -> None:
        write_private(self._state, msgspec.json.encode(state))

    def write_config(self, host: str, port: int, most: int) -> None:
        """What the server is started with; `most` bytes may be on its disk."""
        told = {
            "server_name": NAME,
            "host": host,
            "port": port,
            "max_payload": 1024 * 1024,
            "max_control_line": 4096,
            "max_pending": 64 * 1024 * 1024,
            "max_subscriptions": 1000,
            "write_deadline": "10s",
            "logfile": str(self.log),
            "logfile_size_limit": 10 * 1024 * 1024,
            "tls": {
                "cert_file": str(self._certificate),
                "key_file": str(self._certificate_key),
                "handshake_first": True,
                "timeout": 5,
            },
            "jetstream": {
                "store_dir": str(self.store),
                "max_memory_store": 64 * 1024 * 1024,
                "max_file_store": most + 256 * 1024 * 1024,
                "sync_interval": "10s",
            },
        }
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in told.items()]
        text = "\n".join([*lines, f"include {self._users.name}"]) + "\n"
        write_private(self.config, text.encode())
