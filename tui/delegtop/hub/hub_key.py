"""What opens a hub: the key, the certificate that is trusted, and what it is for. It lies in a file that nobody else
can read; `delegtop hub invite` prints it as one line, `delegtop hub join` makes the file of that."""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from delegtop.base.hub_address import HubAddress, HubAddressError, checked_hub_host, hub_address
from delegtop.base.paths import config_folder, make_private
from delegtop.base.secret_references import others_can_read
from delegtop.base.system_errors import reason_of
from delegtop.hub.subjects import HOSTS, INBOX, STREAM

SHIP, VIEW, RAW = "ship", "view", "raw"
CAN = (SHIP, VIEW, RAW)
NAME = "delegtop-hub"
"""What the certificate of a hub of our own is made out to: it is known by itself, not by where it is."""
_LARGEST = 64 * 1024


class HubKeyError(ValueError):
    """A key that cannot be had or is none; the message is for people and without the key."""


class HubKey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One way into a hub, as its file has it."""

    address: str = ""
    name: str = ""
    """Whose it is; of one that ships, the name of its host."""
    can: str = ""
    """`ship`, `view`, or `raw`: to look and to ask for lines. Empty where the server itself is to say so."""
    seed: str = ""
    """The secret half of an nkey."""
    certificate: str = ""
    """The one certificate that is trusted, in base64."""
    ca: str = ""
    """A file of certificates that are trusted instead; `system` for those of this machine."""
    cert: str = ""
    """A certificate of one's own, its file, and next its key."""
    key: str = ""
    creds: str = ""
    """A .creds file, as `nsc` makes them."""
    user: str = ""
    password: str = ""
    token: str = ""
    allow_plain: bool = False
    """Whether a server on another machine may be spoken to without TLS."""
    stream: str = STREAM
    hosts: str = HOSTS
    inbox: str = ""
    keep: str = "7d"
    """How long the hub keeps what it is told: long sessions are told anew in half of that."""

    @property
    def has_tls(self) -> bool:
        return bool(self.certificate or self.ca or self.cert)

    def inbox_prefix(self) -> str:
        """Where it is answered: nobody else can listen there."""
        if self.inbox:
            return self.inbox
        return f"{INBOX}.{public_half(self.seed)}" if self.seed else INBOX


def new_seed() -> str:
    import nkeys  # only with the extra

    seed: bytes = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    return seed.decode()


def public_half(seed: str) -> str:
    """By what the hub knows it."""
    import nkeys  # as above

    try:
        return str(nkeys.from_seed(bytearray(seed.encode())).public_key.decode())
    except Exception:  # noqa: BLE001 -- whatever it dislikes, it is no seed
        raise HubKeyError("the seed is none") from None


def invitation(key: HubKey) -> str:
    """All of it in one line."""
    return " ".join(f"{name}={value}" for name, value in msgspec.to_builtins(key).items())


def accepted(line: str) -> HubKey:
    """The key of such a line."""
    words = dict(word.partition("=")[::2] for word in line.split() if "=" in word)
    return _checked(words, "the line")


def kept_place(address: HubAddress, can: str) -> Path:
    """Where the key for that is kept, if `join` has put it there."""
    name = address.servers[0].translate({ord("["): None, ord("]"): None, ord(":"): "_"})
    return config_folder() / "nats" / f"{name}.{SHIP if can == SHIP else VIEW}.toml"


def keep(key: HubKey) -> Path:
    """Write the file; it takes the place of another."""
    path = kept_place(hub_address(key.address), key.can)
    make_private(path.parent)
    path.parent.chmod(0o700)
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in msgspec.to_builtins(key).items())
    write_private(path, text.encode())
    return path


def write_private(path: Path, data: bytes) -> None:
    """A file that is whole or not there, and that nobody else can read."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o600)
            file.write(data)
            file.flush()
            os.fsync(fd)
        new.rename(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def key_for(address: HubAddress, can: str) -> HubKey:
    """The key that opens this address. Without one, a server of this machine may still let everybody in."""
    path = Path(address.credentials).expanduser() if address.credentials else kept_place(address, can)
    try:
        key = read_key(path)
    except FileNotFoundError:
        if address.credentials:
            raise HubKeyError(f"{path}: there is no such file") from None
        if not address.is_loopback:
            raise HubKeyError(
                f"there is no key for {address.servers[0]} here: `delegtop hub invite NAME"
                f"{'' if can == SHIP else ' --view'}` prints one at the hub, `delegtop hub join` keeps it"
            ) from None
        key = HubKey()
    if not (address.is_loopback or address.with_tls or key.has_tls or key.allow_plain):
        raise HubKeyError(
            f"{address.servers[0]} is another machine and would be spoken to without TLS; write tls://, or name a "
            "certificate in the file of its key"
        )
    return key


def read_key(path: Path) -> HubKey:
    """FileNotFoundError if there is none."""
    import tomllib

    try:
        is_private = not others_can_read(str(path))
        with path.open("rb") as file:
            found = tomllib.loads(file.read(_LARGEST).decode()) if is_private else {}
    except FileNotFoundError:
        raise
    except OSError as error:
        raise HubKeyError(f"{path}: {reason_of(error)}") from None
    except (ValueError, RecursionError):
        raise HubKeyError(f"{path}: this is no TOML") from None
    if not is_private:
        raise HubKeyError(f"{path}: others can read this file; chmod 600 it")
    return _checked(found, str(path))


def _checked(found: Mapping[str, object], where: str) -> HubKey:
    try:
        key = msgspec.convert(found, HubKey, strict=False)
    except msgspec.ValidationError as error:
        raise HubKeyError(f"{where}: {_without_values(str(error))}") from None
    try:
        if key.address:
            hub_address(key.address)
        if key.name:
            checked_hub_host(key.name)
        if key.certificate:
            base64.b64decode(key.certificate, validate=True)
    except HubAddressError as error:
        raise HubKeyError(f"{where}: {error}") from None
    except ValueError:
        raise HubKeyError(f"{where}: certificate: this is no base64") from None
    if key.can and key.can not in CAN:
        raise HubKeyError(f"{where}: can: it should be one of {', '.join(CAN)}")
    if not all(each.isidentifier() for each in (key.stream, key.hosts)):
        raise HubKeyError(f"{where}: stream and hosts are names of letters, digits and _")
    return key


def _without_values(message: str) -> str:
    """What is wrong, by the names of fields alone."""
    return message if "unknown field" in message else message.partition(", got")[0]
