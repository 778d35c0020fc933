"""Secrets in foreign text: prompts and transcripts hold keys, and a screen is seen by more people than a file.

`mask` hides what has the shape of a secret and leaves a word or a prefix by which its owner knows which one it was.
Every pattern is anchored to a literal and takes what follows in one go, so a hostile text costs no more than its
length. Hashes, uuids and session ids have no such literal and stay.
"""

import re
from collections.abc import Callable
from functools import cache, partial

MASKED = "[masked]"

_pattern = cache(re.compile)
"""Compiled when the first text needs it: all of them together would hold up the first picture."""

_KEYS = (
    r"sk-(?:ant-)?(?=[A-Za-z_-]{0,48}[0-9])[A-Za-z0-9_-]{20,}",
    r"(?:gh[oprsu]_|github_pat_|dckr_[op]at_|gl(?:pat|ptt|rt|dt|cbt|soat|oas|agent|ft)-)[A-Za-z0-9_-]{16,}",
    r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"(?:AIza|ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}",
    r"(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,}",
    r"(?:hf_|gsk_|r8_|npm_|ntn_|sbp_|lin_api_|pul-|dop_v1_|doo_v1_|dor_v1_|shp(?:at|ca|pa|ss)_)[A-Za-z0-9_]{20,}",
    r"(?:pplx-|xai-|pypi-AgE|hvs\.|hvb\.|dp\.pt\.|AGE-SECRET-KEY-1|dapi(?=[0-9a-f]{32}))[A-Za-z0-9_-]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
)
_PREFIX = (
    r"sk-(?:ant-|proj-)?|github_pat_|[rs]k_(?:live|test)_|AGE-SECRET-KEY-|[a-z]+-|[a-z0-9]+_(?:api_|v1_)?|[A-Za-z]{2,4}"
)
"""What of a key is left: it names the vendor and tells nothing."""
_KEY = r"(?<![A-Za-z0-9_-])(?:" + "|".join(_KEYS) + ")"

_PRIVATE_KEY = (
    r"(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)(?s:.*?)(-----END [A-Z0-9 ]{0,30}PRIVATE KEY|\Z)"
)

_QUOTE = r"\\{0,3}[\"']"
_IS = rf"(?:{_QUOTE})?[ \t]{{0,3}}(?::|=>?)[ \t]{{0,3}}"
_QUOTED = r"(?:[^\"'\\\n]|\\(?!\\{0,2}[\"'])){3,}"
_BARE = r"[^\s\"'\\,;&<>(){}\[\]]{3,}"
# A reference to a secret, a call that gets it, or the name of a type, is no secret.
_NO_REFERENCE = (
    r"(?!\$[A-Z_({]|<|\*{3}|%[A-Z(]|\{\{|\[masked\]|(?:os|process|env|config|settings|self)\.|\w[\w.]{0,60}\("
    r"|(?:str|string|bytes|bool|int|any|number|none|null|nil|true|false|undefined|optional|required|secretstr)\b)"
)
_FLAG = r"(?<!\S)--?(?:[a-z]{1,12}-){0,3}"
_ANY = rf"(?:({_QUOTE}){_NO_REFERENCE}{_QUOTED}|{_NO_REFERENCE}{_BARE})"
_TELLING = rf"{_NO_REFERENCE}(?=[^\s\"']{{0,48}}[0-9])(?![0-9.,]+(?:[^A-Za-z0-9]|\Z))[^\s\"'\\,;&<>(){{}}\[\]]{{8,}}"
"""For words that also stand in prose, such as `token`: only what is long and has a digit, and is no number."""

_PLACES = (
    ("cookie", ("cookie",), rf"(\b(?:set-)?cookie{_IS})({_QUOTE})?(?!\[masked\])[^\s\"'=;]{{1,80}}=[^\"'\n]{{4,}}"),
    (
        "token",
        ("authorization",),
        rf"(authorization{_IS})({_QUOTE})?(?:[a-z]{{4,12}}[ \t]+)?{_NO_REFERENCE}[A-Za-z0-9._~+/=-]{{8,}}",
    ),
    (
        "token",
        ("bearer", "basic"),
        rf"(\b(?:bearer|basic)[ \t]+)()(?=[^\s\"']{{0,48}}[0-9]){_NO_REFERENCE}[A-Za-z0-9._~+/=-]{{12,}}",
    ),
    (
        "password",
        ("passw", "passphrase", "pwd", "secret", "key"),
        rf"((?:passw(?:or)?d|passphrase|pwd|client[_-]?secret|(?:secret[_-]?(?:access)?|api|account|access|private"
        rf"|signing|encryption|auth)[_-]?key){_IS}){_ANY}",
    ),
    (
        "password",
        ("passw", "passphrase", "secret", "key"),
        rf"({_FLAG}(?:passw(?:or)?d|passphrase|secret|api-?key)[ \t]+)(?!-){_ANY}",
    ),
    (  # -P is a port, and -p with a space before what follows asks for the password
        "password",
        ("mysql", "mariadb"),
        rf"(\b(?:mysql|mariadb)[a-z-]{{0,12}}(?=\s)[^\n;|&]{{0,200}}?\s(?-i:-p))(?!\s|[0-9.:]{{0,21}}:[0-9]){_ANY}",
    ),
    ("password", ("sshpass",), rf"(\bsshpass\s+(?-i:-p)[ \t]{{0,3}}){_ANY}"),
    (
        "token",
        ("token", "secret", "credential"),
        rf"((?:token|secret|credentials?){_IS}|{_FLAG}token[ \t]+)({_QUOTE})?{_TELLING}",
    ),
    ("password", ("://",), r"(://[^\s/:@\"']{0,100}:)()(?!\[masked\]|\$[A-Z_({]|<)[^\s/@\"']{1,200}(?=@)"),
    (
        "webhook",
        ("/services/", "/webhooks/"),
        r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)()[A-Za-z0-9/_-]{8,}",
    ),
    (
        "password",
        (" -u", " --user"),
        r"(\s(?:-u|--user)[ =]\\?[\"']?[^\s:\"']{1,60}:)()(?!\[masked\]|[0-9]+\b|\$)[^\s\"']{3,}",
    ),
)
"""Secrets by the place they stand in, each with words one of which must be there: most texts have none of them.
Of what matches, group 1 and the quote of group 2 stay."""
_WORDS = {word for _, words, _ in _PLACES for word in words}

StandIn = Callable[[str, str], str]
"""What stands in the place of a secret, by its kind and itself."""


def mask(text: str) -> str:
    """`text` with everything that looks like a secret hidden. Masking twice changes nothing more."""
    return hide(text, lambda _kind, _secret: MASKED)


def hide(text: str, stand_in: StandIn) -> str:
    """The same with something else in the place of each secret; what begins with `MASKED` is not masked again."""
    if "PRIVATE KEY" in text:
        text = _pattern(_PRIVATE_KEY).sub(
            lambda found: f"{found[1]}{stand_in('private key', found[0])}{found[2]}", text
        )
    text = _pattern(_KEY).sub(lambda found: _prefix(found[0]) + stand_in("key", found[0]), text)
    lowered = text.lower()
    found = {word for word in _WORDS if word in lowered}
    for kind, words, pattern in _PLACES if found else ():
        if not found.isdisjoint(words):
            text = _pattern(pattern, re.IGNORECASE).sub(partial(_replace, kind, stand_in), text)
    return text


def _replace(kind: str, stand_in: StandIn, found: re.Match[str]) -> str:
    before = found[1] + (found[2] or "")
    return before + stand_in(kind, found[0][len(before) :])


def _prefix(key: str) -> str:
    prefix = _pattern(_PREFIX).match(key)
    return prefix[0] if prefix else ""
