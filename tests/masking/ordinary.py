"""Text that holds no secret, and what of it is masked all the same: hashes, ids, paths, and lines of code.

`python -m tests.masking.ordinary` looks at 100,000 of each; `--count` at so many, `--folder` at the texts of another
folder (may be given several times) instead of what Python brings along.
"""

import argparse
import gzip
import os
import random
import re
import sys
import sysconfig
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from delegtop.base.secrets import mask

PROJECT = Path(__file__).parents[2]
_HEX, _LETTERS = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_LONGEST = 2_000
"""Longer lines are no lines of text."""
_NAME = r"(?:pass(?:w(?:or)?d|phrase|code)?|pwd?|secret|token|key|credential)"
ALLOWED = {
    rf"(?i)(?:^|[^a-z])[\w-]*{_NAME}\w*[\"']?\]?\s*(?:=>|[:=]|,\s*[\"']|\sis\s|\sto\s)\s*\S": (
        "a name of a secret with a value beside it: an example in a page, a default or a value in code"
    ),
    r"://[^\s/]*:[^\s/]*@": "an address with a password in it, as pages on addresses have",
    r"(?i)authorization|bearer|basic |cookie": "a header with a value, as pages and tests of servers have",
    r"PRIVATE KEY": "the first line of a private key, with what follows",
    r"(?i)-{1,2}(?:password|token|secret|api-key|user|u)\b": "a flag with a value, as pages on commands have",
    r"eyJ[\w-]+\.": "a JSON web token in a page",
    r"\b(?:machine \S+|default) login ": "a line of a netrc, as tests and pages on it have",
    rf"(?i)\buser(?:name)?\s\S+\s{_NAME}\s": "a user and a password, each with its value, as pages on logins have",
    rf"(?i){_NAME}\s+[\"']": "a name of a secret with a text behind it, as SQL and definitions in C have",
}
"""Why a line of code or of a page may be masked: the pattern that it has, and the reason."""


def ids(count: int, seed: int = 1) -> Iterator[str]:
    """Hashes, uuids, session ids, paths and times, alone and in what stands around them."""
    chance = random.Random(seed)

    def some(alphabet: str, length: int) -> str:
        return "".join(chance.choices(alphabet, k=length))

    def word() -> str:
        return chance.choice(("src", "main", "parser", "task-runner", "node_modules", "site-packages", "build", "v2.1"))

    makers = (
        lambda: some(_HEX, 40),
        lambda: some(_HEX, 64),
        lambda: some(_HEX, 32),
        lambda: some(_HEX, chance.choice((7, 8, 12))),
        lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        lambda: f"sess_{chance.randrange(1_700_000_000, 1_800_000_000)}_{some(_LETTERS.lower(), 6)}",
        lambda: f"toolu_{some(_LETTERS, 24)}",
        lambda: f"msg_{some(_LETTERS, 24)}",
        lambda: f"call_{some(_LETTERS, 24)}",
        lambda: f"chatcmpl-{some(_LETTERS, 29)}",
        lambda: f"req_{some(_LETTERS, 24)}",
        lambda: f"sha256:{some(_HEX, 64)}",
        lambda: f"sha512-{some(_LETTERS + '+/', 86)}==",
        lambda: f"/home/me/{word()}/{word()}/{some(_HEX, 8)}/{word()}.py:{chance.randrange(999)}",
        lambda: f"~/.cache/{word()}/{some(_LETTERS, 22)}/{word()}-{some(_HEX, 12)}.tar.gz",
        lambda: f"{word()}-{word()}-{word()}-{chance.randrange(99)}",
        lambda: f"https://host.example/{word()}/{some(_HEX, 40)}?page={chance.randrange(99)}",
        lambda: f"index {some(_HEX, 7)}..{some(_HEX, 7)} 100644",
        lambda: f"0x{some(_HEX, 16)}",
        lambda: f"2026-{chance.randrange(1, 13):02}-11T0{chance.randrange(9)}:11:{chance.randrange(10, 60)}.123456Z",
        lambda: some(_LETTERS, chance.choice((12, 20, 26, 32, 40))),
        lambda: f"arn:aws:s3:::{word()}-{some(_HEX, 12)}/{word()}",
        lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(_LETTERS + '+/', 43)} me@host",
        lambda: f"PWD=/home/me/{word()} OLDPWD=/srv/{word()}",
        lambda: f"pwd: /srv/{word()}",
        lambda: f"Basic understanding{chance.randrange(99999)}",
        lambda: f"private_key=~/.ssh/{word()}",
        lambda: f"input_tokens={chance.randrange(99999)} key={word()}",
    )
    around = ("{}", "commit {}", "id: {}", '"id": "{}"', "at {} now", "({})", "x={}")
    for number in range(count):
        yield chance.choice(around).format(makers[number % len(makers)]())


def code(count: int, seed: int = 1) -> Iterator[str]:
    """Lines of the standard library, of what is installed and of this project's pages, from files in random order."""
    folders = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
    files = [path for folder in folders for path in folder.rglob("*.py") if path.is_file()]
    yield from _lines([*files, *PROJECT.glob("docs/*.md"), *PROJECT.glob("*.md")], count, seed)


def texts(folders: Iterable[Path], count: int, seed: int = 1) -> Iterator[str]:
    """Lines of any other files that are text, also packed ones such as pages of the manual."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    yield from _lines(files, count, seed)


def own_code(count: int, seed: int = 1) -> Iterator[str]:
    """Lines of this project alone, which are the same everywhere; the tables of secrets have examples of them."""
    files = [path for path in PROJECT.glob("tui/**/*.py") if not path.name.startswith("secret")]
    yield from _lines([*files, *PROJECT.glob("docs/*.md"), *PROJECT.glob("*.md")], count, seed)


def _lines(files: list[Path], count: int, seed: int) -> Iterator[str]:
    files.sort()
    random.Random(seed).shuffle(files)
    left = count
    for path in files:
        for line in _text(path).splitlines():
            if line.strip() and len(line) < _LONGEST:
                yield line
                left -= 1
                if not left:
                    return


def _text(path: Path) -> str:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error):
        return ""
    return "" if b"\0" in data[:4_000] else data.decode("utf-8", "replace")


def masked(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those that are not shown as they are, and what is shown."""
    for line in lines:
        if (shown := mask(line)) != line:
            yield line, shown


def reason(line: str) -> str | None:
    return next((why for pattern, why in ALLOWED.items() if re.search(pattern, line)), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, action="append", default=[])
    parser.add_argument("--show", action="store_true", help="print every line that is masked")
    asked = parser.parse_args()
    wrong = list(masked(ids(asked.count, asked.seed)))
    lines = list(texts(asked.folder, asked.count, asked.seed) if asked.folder else code(asked.count, asked.seed))
    seen = list(masked(lines))
    reasons = Counter(reason(line) for line, _ in seen)
    write = sys.stdout.write
    write(f"hashes, ids, uuids and paths: {len(wrong)} of {asked.count:,} masked\n")
    write(f"lines of code and pages: {len(seen)} of {len(lines):,} masked, {reasons[None]} without a reason\n")
    for why, times in reasons.most_common():
        if why:
            write(f"  {times:5} {why}\n")
    for line, shown in [*wrong, *(each for each in seen if asked.show or reason(each[0]) is None)]:
        write(f"{line.strip()[:150]}\n    {shown.strip()[:150]}{os.linesep}")
    return bool(wrong or reasons[None])


if __name__ == "__main__":
    sys.exit(main())
