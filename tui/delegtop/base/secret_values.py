"""What stands at the place of a secret, in patterns: a value in quotes or bare; and what is none there: a reference, a
type, prose.

All of it is for text in small letters, unless a place says otherwise.
"""

from typing import NamedTuple

from delegtop.base.text import MARK_CUT

QUOTE = r"\\{0,15}[\"'`]"
IS = (
    rf"(?:{QUOTE}|\*{{1,2}}|%22)?[ \t]{{0,3}}(?::|=>?|%3[ad])\*{{0,2}}[ \t]{{0,3}}"
    r"(?:[|>][-+]?\s{1,40})?"
)
"""Between a name and its value: in code, JSON, YAML (also in a block below), Markdown and addresses."""
QUOTED = r"(?:[^\"'`\\\n]|\\(?!\\{0,14}[\"'`]))"
BARE = r"[^\s\"'`\\,;&<>(){}\[\]]"
_TYPES = (
    "str|string|bytes|bool|boolean|int|any|number|none|null|nil|true|false|undefined|optional|required|secretstr|object"
)
# A reference to a secret, the name of a file with one, or the name of a type, is no secret.
REFERENCE = (
    rf"\$[a-zA-Z_({{]|<|\*{{3}}|%[a-zA-Z(]|\{{|\[masked\]|(?:os|process|env|config|settings|self|this|cls|args|options"
    rf"|kwargs)\."
    rf"|(?:~|\.{{1,2}})/|/(?:run|var|etc|home|srv|tmp|usr|opt|mnt|root|users|path|dev|proc|work)\b|[a-z]:[\\/]"
    rf"|(?:env|file|vault|op|secret|ref|arn):|(?:{_TYPES})\b|\.\.|[sgablwtv]:[a-z_0-9]|(?:await|new|yield|lambda)\b"
)
CALL = r"[a-zA-Z_][\w.:]{0,60}[(\[]"
NAMES_ANOTHER = r"(?:[a-z_][a-z_.]{0,60}|[a-z_]\w{0,40}\.[a-z_]\w{0,60})\s{0,3}[,)]|[a-z_]{1,40}=(?:\s|\Z)"
"""In code: `password=password,` hands on what has that name, and `password=` may stand before another name."""
_PROSE = r"(?<=: )(?:[a-z]{1,40}[ \t]+[a-z(]|[\w.]{1,60}[ \t]+[|=])"
"""What a thing is, or of which type, as pages and code say it: `password: the one of the database`."""
_NAMES_ITSELF = r"(?:password|passwd|secret|token|api_?key|key)(?:[\s\"'`,;.)]|\Z)"
_FILE = r"[\w./-]{1,80}\.(?:pem|key|crt|der|p12|pub|txt|json|ya?ml|py)(?:[\s\"'`,;)]|\Z)"
NO_SECRET = rf"(?!{REFERENCE}|{CALL}|{NAMES_ANOTHER}|{_PROSE}|{_NAMES_ITSELF}|{_FILE})"
ANY = rf"(?:b?({QUOTE})(?!{REFERENCE}){QUOTED}{{3,}}|{NO_SECRET}{BARE}{{3,}})"
_LONG = rf"(?=[^\s\"'`]{{0,48}}[0-9])(?![0-9.,]+(?:[^a-z0-9]|\Z)){BARE}{{8,}}"
TELLING = rf"{NO_SECRET}(?:{_LONG}|{BARE}{{1,80}}{MARK_CUT})"
"""For words that also stand in prose, such as `token`: only what is long and has a digit, and is no number; or was
cut."""
ODD = r"(?=[^\s\"'`\\]{0,40}[0-9!@#$%^&*+=~])(?![0-9.,:%]{1,12}(?:[\s\"'`]|\Z))[^\s\"'`\\,;<>()\[\]{}]{4,}"
SAID = (
    rf"({QUOTE})(?!{REFERENCE})(?=[^\"'`\n]{{0,60}}[0-9!@#$%^&*+=~ -])[^\"'`\n\\{{}}<>]{{4,}}(?=[\"'`\\])"
    rf"|()(?!{REFERENCE}|{CALL}){ODD}"
)
"""What is said to be a password: in quotes, or with a digit or a sign that no word has."""
MIXED = (
    r"(?=\S{0,40}[a-z])(?=\S{0,40}[A-Z])(?=\S{0,40}[0-9])(?![Tt]est)[A-Za-z0-9!@#$%^&*+=~-]{8,64}(?=[\s\"'`,;.)\\]|\Z)"
)
"""After names that mostly mean something else, such as `pass:`: small and large letters and digits, as written."""


class SecretPlace(NamedTuple):
    """One place in which a secret stands."""

    name: str
    example: str
    words: tuple[str, ...]
    pattern: str
    counted_as: str = "password"
    before: str = ""
    """What must stand directly before it, or, after `!`, must not."""
    also: tuple[str, ...] = ()
    """And of these one."""
    checked: str = ""
    """What is hidden is held against this, too: `pair` (base64 of name and password), `as written` (its letters are not
    made small)."""
