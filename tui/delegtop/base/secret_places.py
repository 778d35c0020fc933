"""Kinds of secrets that are likely by the place they stand in: a name before them, a header, a flag, a sentence.

A row has words of which one stands in every text with such a secret (in small letters), and a pattern for the text in
small letters. Of what matches, group 1 and the quote of group 2 stay, the rest is hidden. Every pattern begins with a
literal and takes what follows in one go, so a hostile text costs no more than its length.
"""

from typing import NamedTuple

from delegtop.base.text import MARK_CUT

_QUOTE = r"\\{0,15}[\"'`]"
_IS = rf"(?:{_QUOTE})?[ \t]{{0,3}}(?::|=>?|%3d)[ \t]{{0,3}}"
_QUOTED = r"(?:[^\"'`\\\n]|\\(?!\\{0,14}[\"'`]))"
_BARE = r"[^\s\"'`\\,;&<>(){}\[\]]"
_TYPES = (
    "str|string|bytes|bool|boolean|int|any|number|none|null|nil|true|false|undefined|optional|required|secretstr|object"
)
# A reference to a secret, the name of a file with one, or the name of a type, is no secret.
_REFERENCE = (
    rf"\$[a-zA-Z_({{]|<|\*{{3}}|%[a-zA-Z(]|\{{|\[masked\]|(?:os|process|env|config|settings|self|this|c"
    rf"ls|args|options|kwargs)\."
    rf"|(?:~|\.{{1,2}})/|/(?:run|var|etc|home|srv|tmp|usr|opt|mnt|root|users|path|dev|proc|work)\b|[a-z]:[\\/]"
    rf"|(?:env|file|vault|op|secret|ref|arn):|(?:{_TYPES})\b"
)
_CALL = r"[a-zA-Z_][\w.]{0,60}[(\[]"
_NAMES_ANOTHER = r"[a-z_][a-z_.]{0,60}\s{0,3}[,)]"
"""In code: `password=password,` hands on what has that name."""
_PROSE = r"(?<=: )(?:[a-z]{1,40}[ \t]+[a-z(]|[\w.]{1,60}[ \t]+[|=])"
"""What a thing is, or of which type, as pages and code say it: `password: the one of the database`."""
_NAMES_ITSELF = r"(?:password|passwd|secret|token|api_?key|key)(?:[\s\"'`,;.)]|\Z)"
_FILE = r"[\w./-]{1,80}\.(?:pem|key|crt|der|p12|pub|txt|json|ya?ml|py)(?:[\s\"'`,;)]|\Z)"
_NO_SECRET = rf"(?!{_REFERENCE}|{_CALL}|{_NAMES_ANOTHER}|{_PROSE}|{_NAMES_ITSELF}|{_FILE})"
_ANY = rf"(?:({_QUOTE})(?!{_REFERENCE}){_QUOTED}{{3,}}|{_NO_SECRET}{_BARE}{{3,}})"
_LONG = rf"(?=[^\s\"'`]{{0,48}}[0-9])(?![0-9.,]+(?:[^a-z0-9]|\Z)){_BARE}{{8,}}"
_TELLING = rf"{_NO_SECRET}(?:{_LONG}|{_BARE}{{1,80}}{MARK_CUT})"
"""For words that also stand in prose, such as `token`: only what is long and has a digit, and is no "
"number; or was cut."""
_FLAG = r"(?<![^\s\"'`])--?(?:[a-z]{1,12}-){0,3}"
_ODD = r"(?=[^\s\"'`]{0,40}[0-9!@#$%^&*+=~])(?![0-9.,:%]{1,12}(?:[\s\"'`]|\Z))[^\s\"'`,;<>()\[\]{}]{4,}"

_SAYS = (
    r"s?(?: (?:for|of|on|to) [a-z0-9@._/ -]{1,40}?)? (?:is|was|are|will be|becomes|to|as|set to|reads)(?: "
    r"now| still|:)? "
)
_SAID = (
    rf"({_QUOTE})(?!{_REFERENCE})(?=[^\"'`\n]{{0,60}}[0-9!@#$%^&*+=~ -])[^\"'`\n\\]{{4,}}(?=[\"'`\\])"
    rf"|()(?!{_REFERENCE}|{_CALL}){_ODD}"
)
"""What is said to be a password: in quotes, or with a digit or a sign that no word has."""

_VERBS = (" is ", " was ", " are ", " be ", " to ", " as ", " becomes ", " reads ")


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
    """What is hidden is held against this, too: `pair` (base64 of name and password), `as written` ("
    "its letters are not made small)."""


PLACES: tuple[SecretPlace, ...] = (
    SecretPlace(
        "Cookie header",
        "Cookie: sid=…",
        ("cookie",),
        rf"(cookie2?{_IS})({_QUOTE})?(?!\[masked\])[^\s\"'=;]{{1,80}}=[^\"'\n]{{4,}}",
        "cookie",
    ),
    SecretPlace(
        "cookie of curl",
        "curl -b sid=…",
        (" -",),
        rf"(\bcurl\b[^\n|;]{{0,300}}?\s(?:-b|--cookie)[ =])({_QUOTE})?(?!\[masked\])[^\s\"'=;]{{1,80}}="
        rf"[^\s\"'\n]{{4,}}",
        "cookie",
        also=("curl",),
    ),
    SecretPlace(
        "Authorization header",
        "Authorization: …",
        ("auth",),
        rf"(authorization{_IS})({_QUOTE})?(?:[a-z]{{4,12}}[ \t]+)?(?!{_REFERENCE}|{_CALL})[a-z0-9._~+/=:-]{{8,}}",
        "token",
        also=("authorization",),
    ),
    SecretPlace(
        "bearer token",
        "Bearer …",
        ("bearer",),
        rf"(\bbearer[ \t]+)()(?=[^\s\"']{{0,48}}[0-9])(?!{_REFERENCE}|{_CALL})[a-z0-9._~+/=-]{{12,}}",
        "token",
    ),
    SecretPlace(
        "basic authorization", "Basic …", ("basic",), r"(\bbasic[ \t]+)()[a-z0-9+/]{8,}={0,2}", "token", checked="pair"
    ),
    SecretPlace(
        "password by its name",
        "password=…",
        ("pass",),
        rf"((?:passw(?:or)?d|passphrase|passcode)[0-9]{{0,2}}{_IS}){_ANY}",
    ),
    SecretPlace(
        "short name of a password", "DB_PASS=…", ("pass",), rf"(pass=){_ANY}", before="![a-z]", also=("pass=",)
    ),
    SecretPlace(
        "shortest name of a password",
        "pw=…",
        ("pw",),
        rf"(pwd?=)(?!/|~|\.|\$){_ANY}",
        before="!(?:[a-z]|old_?)",
        also=("pw=", "pwd="),
    ),
    SecretPlace(
        "Pwd of a connection",
        "Pwd: …",
        ("pw",),
        rf"(pwd{_IS})(?!/|~|\.|\$)(?:({_QUOTE})(?!{_REFERENCE}|/){_QUOTED}{{3,}}|{_NO_SECRET}{_BARE}{{3,}})",
        before="!old",
    ),
    SecretPlace("client secret", "client_secret=…", ("secre",), rf"(client[_-]?secret{_IS}){_ANY}", also=("client",)),
    SecretPlace(
        "key by its name",
        "api_key=…",
        ("key",),
        rf"(key{_IS}){_ANY}",
        before=r"(?:secret[_-]?(?:access)?|api|account|access|private|signing|encryption|encrypt|auth|license|shared[_-]?access|storage|master|service|admin|app|consumer|function|host)[_-]?",
    ),
    SecretPlace(
        "secret base of an application",
        "SECRET_KEY=…",
        ("secre",),
        rf"(secret_key(?:_base)?{_IS})({_QUOTE})?(?!{_REFERENCE}|[a-z_][\w.]{{0,60}}[(\[][^)\s]{{0,60}}"
        rf"[)\]](?:\s|\Z))(?=[^\s\"']{{0,64}}[0-9])"
        rf"(?:[^\s\"'`]{{16,}}|{_BARE}{{1,80}}{MARK_CUT})",
        also=("secret_key",),
    ),
    SecretPlace(
        "password in a definition",
        "define('DB_PASSWORD', '…')",
        ("pass", "key", "secre", "token"),
        rf"(define\([ \t]*{_QUOTE}[a-z_]{{0,30}}(?:password|key|salt|secret|token){_QUOTE}[ \t]*,[ \t]*"
        rf")({_QUOTE}){_QUOTED}{{3,}}",
        also=("define(",),
    ),
    SecretPlace(
        "password in a flag",
        "--password …",
        ("pass", "secre", "key"),
        rf"({_FLAG}(?:passw(?:or)?d|passphrase|secret|api-?key)[ \t]+)(?!-){_ANY}",
        also=("-pass", "-secret", "-api"),
    ),
    SecretPlace(
        "password of mysql",
        "mysql -p…",
        (" -",),
        rf"(\b(?:mysql|mariadb)[a-z-]{{0,12}}(?=\s)[^\n;|&]{{0,200}}?\s-p)(?!\s|[0-9.:]{{0,21}}:[0-9]){_ANY}",
        checked="as written",
        also=("mysql", "mariadb"),
    ),
    SecretPlace(
        "password of sshpass",
        "sshpass -p …",
        (" -",),
        rf"(\bsshpass\s+-p[ \t]{{0,3}}){_ANY}",
        checked="as written",
        also=("sshpass",),
    ),
    SecretPlace(
        "password of redis",
        "redis-cli -a …",
        (" -", "pass", "auth"),
        rf"(\bredis-cli\b[^\n;|&]{{0,200}}?\s-a[ \t]+|\b(?:requirepass|masterauth)[ \t]+){_ANY}",
        also=("redis-cli", "requirepass", "masterauth"),
    ),
    SecretPlace(
        "password of LDAP",
        "ldapsearch -w …",
        (" -",),
        rf"(\bldap[a-z]{{3,8}}\b[^\n;|&]{{0,200}}?\s-w[ \t]+){_ANY}",
        also=("ldap",),
    ),
    SecretPlace(
        "password of openssl",
        "-passin pass:…",
        (" -",),
        rf"(\s-?-pass(?:in|out)?[ =]pass:)()(?!{_REFERENCE})[^\s\"']{{3,}}",
        also=("pass:",),
    ),
    SecretPlace(
        "password of a login",
        "login -u me -p …",
        (" -",),
        rf"(\blogin\b[^\n;|&]{{0,200}}?\s-p[ \t=]+)(?!-){_ANY}",
        checked="as written",
        also=("login",),
    ),
    SecretPlace(
        "password of curl",
        "curl -u me:…",
        (" -",),
        r"(\s(?:-u|--user)[ =]?\\?[\"']?[^\s:\"'/=]{1,60}:)()(?!\[masked\]|[0-9]+(?:[\s\"']|\Z)|\$)[^\s\"']{3,}",
        also=(" -u", " --user"),
    ),
    SecretPlace(
        "password of smbclient",
        "-U me%…",
        (" -",),
        r"(\b(?:smb|rpc)client\b[^\n;|&]{0,200}?\s-u[ \t]*[\"']?[^\s%\"']{1,60}%)()(?!\$)[^\s\"']{3,}",
        also=("client",),
    ),
    SecretPlace(
        "password in SQL",
        "PASSWORD '…'",
        ("pass",),
        rf"(password[ \t]+)({_QUOTE})(?!\[masked\]|\$|%s|\?){_QUOTED}{{3,}}",
        also=("password '", 'password "'),
    ),
    SecretPlace(
        "user in SQL",
        "IDENTIFIED BY '…'",
        ("identified by",),
        rf"(identified by[ \t]+)([\"'])(?!\[masked\]|\$|%s|\?){_QUOTED}{{3,}}",
        also=("user ", "grant "),
    ),
    SecretPlace(
        "password in a netrc",
        "machine … login … password …",
        ("pass",),
        r"(\b(?:machine\s+\S{1,200}|default)\s+login\s+\S{1,100}\s+password\s+)()(?!\[masked\]|\$)\S{2,}",
        also=("login",),
    ),
    SecretPlace(
        "login of a Docker registry",
        '"auth": "…"',
        ("auth",),
        rf"(\bauth{_QUOTE}[ \t]{{0,3}}:[ \t\n]{{0,8}})({_QUOTE})[a-z0-9+/]{{8,}}={{0,2}}",
        "token",
        checked="pair",
        also=('auth"', "auth'", "auth\\"),
    ),
    SecretPlace(
        "login of npm",
        "_auth=…",
        ("auth", "pass"),
        rf"(_(?:auth|authtoken|password){_IS})({_QUOTE})?(?!{_REFERENCE}|{_CALL}|{_NAMES_ANOTHER})[a-z0-9+/_.=-]{{8,}}",
        "token",
        before="!\\w",
        also=("_auth", "_password"),
    ),
    SecretPlace(
        "token by its name",
        "token=…",
        ("token",),
        rf"(token{_IS})({_QUOTE})?{_TELLING}",
        "token",
        before="!public[_-]?key",
    ),
    SecretPlace("secret by its name", "secret=…", ("secre",), rf"(secret{_IS})({_QUOTE})?{_TELLING}", "token"),
    SecretPlace(
        "credentials by their name", "credential=…", ("cred",), rf"(credentials?{_IS})({_QUOTE})?{_TELLING}", "token"
    ),
    SecretPlace(
        "token in a flag",
        "--token …",
        ("token",),
        rf"({_FLAG}token[ \t]+)({_QUOTE})?{_TELLING}",
        "token",
        also=("-token",),
    ),
    SecretPlace(
        "session by its name",
        "session_secret=…",
        ("sess",),
        rf"((?:phpsessid|jsessionid|sessionid|session_secret|session_cookie|session)=)({_QUOTE})?{_TELLING}",
        "cookie",
        also=("sessid=", "sessionid=", "session_secret=", "session_cookie="),
    ),
    SecretPlace(
        "secret of a cluster",
        "kubectl --from-literal=name=…",
        (" -",),
        rf"(--from-literal[ =][\"']?[a-z0-9_.-]{{1,60}}=){_ANY}",
        also=("--from-literal",),
    ),
    SecretPlace(
        "signature of an address",
        "?sig=…",
        ("sig",),
        r"([?&;\s]x-(?:amz|goog)-signature=|[?&;]sig(?:nature)?=|\u0026sig=|\\u0026sig=)()(?!\[masked"
        r"\])[a-z0-9%+/_=~-]{16,}",
        "token",
        also=("sig=", "signature="),
    ),
    SecretPlace(
        "token of an address",
        "&X-Amz-Security-Token=…",
        ("token", "cred"),
        r"([?&;\s]x-(?:amz|goog)-(?:security-token|credential)=|\\u0026x-amz-(?:security-token|credent"
        r"ial)=)()(?!\[masked\])[a-z0-9%+/_=~.-]{16,}",
        "token",
        also=("x-amz-", "x-goog-"),
    ),
    SecretPlace(
        "seed of one-time codes",
        "otpauth://…?secret=…",
        ("auth",),
        r"(otpauth(?:-migration)?://[^\s\"'<>]{0,200}?(?:secret|data)=)()(?!\[masked\])[a-z0-9%+/=_-]{8,}",
        "key",
        also=("otpauth",),
    ),
    SecretPlace(
        "password in an address",
        "https://me:…@host",
        ("://",),
        r"(://[^\s/:@\"'<>]{0,100}:)()(?!\[masked\]|\$[a-z_({]|<|\{|%s)[^\s/@\"'<>]{1,200}(?=@)",
    ),
    SecretPlace(
        "token in an address",
        "https://…@host",
        ("://",),
        r"(://)()(?!\[masked\])(?=[a-z_-]{0,40}[0-9])[a-z0-9_-]{20,200}(?=@)",
        "token",
    ),
    SecretPlace(
        "password in XML",
        "<password>…</password>",
        ("</",),
        r"((?:<|\\u003c|&lt;)(?:[a-z]{1,20}:)?(?:[a-z]{0,20}[._-]?)(?:password|passwd|passphrase|secre"
        r"t|token|apikey|api-key|api_key|privatekey|accesskey|secretkey)(?:[ \t][^<>\n]{0,100})?(?:>|"
        r"\\u003e|&gt;)\s{0,8})()(?![\s$*]|\[masked\]|\{\{|<|\\u003c|&lt;)[^<>\n\\&]{3,}(?=<|\\u003c|&"
        r"lt;)",
    ),
    SecretPlace(
        "password in an attribute",
        '<add key="Password" value="…"/>',
        ("pass", "secre", "key", "token"),
        rf"(key={_QUOTE}[a-z0-9_.: -]{{0,40}}(?:password|secret|apikey|token){_QUOTE}[ \t]+value=)("
        rf"{_QUOTE})(?!{_REFERENCE}){_QUOTED}{{3,}}",
        also=("value=",),
    ),
    SecretPlace(
        "name and value of a variable",
        '{"name": "DB_PASSWORD", "value": "…"}',
        ("pass", "secre", "key", "token"),
        rf"(name{_IS}(?:{_QUOTE})?[a-z0-9_.-]{{0,40}}(?:password|passwd|secret|token|api_?key|access_?k"
        rf"ey|private_?key)(?:{_QUOTE})?[\s,]{{1,12}}(?:{_QUOTE})?value{_IS})({_QUOTE})?(?!{_REFERENCE}"
        rf")[^\s\"'`\\,}}]{{3,}}",
        also=("value",),
    ),
    SecretPlace(
        "variable of a Dockerfile",
        "ENV DB_PASSWORD …",
        ("pass", "secre", "key", "token"),
        rf"(\b(?:env|setx|setenv)[ \t]+[a-z0-9_]{{0,40}}(?:password|passwd|secret|token|api_key|access_"
        rf"key)[ \t]+)({_QUOTE})?{_TELLING}",
        also=("env ", "setx "),
    ),
    SecretPlace(
        "password in a sentence",
        "the password is …",
        ("pass",),
        rf"(pass(?:w(?:or)?d|phrase|code){_SAYS})(?:{_SAID})",
        also=_VERBS,
    ),
    SecretPlace("secret in a sentence", "the secret is …", ("secre",), rf"(secret{_SAYS})(?:{_SAID})", also=_VERBS),
    SecretPlace("token in a sentence", "the token is …", ("token",), rf"(token{_SAYS})(?:{_SAID})", also=_VERBS),
    SecretPlace(
        "key in a sentence",
        "the API key is …",
        ("key",),
        rf"(key{_SAYS})(?:{_SAID})",
        before="(?:api|access|secret|private|signing|encryption)[ -]",
        also=_VERBS,
    ),
    SecretPlace(
        "password after a colon",
        "password for db: …",
        ("pass",),
        rf"(pass(?:w(?:or)?d|phrase) (?:for|of|on) [a-z0-9@._/ -]{{1,40}}:[ \t]+)({_QUOTE})?(?!"
        rf"{_REFERENCE}|{_CALL}){_ODD}",
        also=(": ",),
    ),
    SecretPlace(
        "Airtable legacy key",
        "AIRTABLE_API_KEY key…",
        ("key",),
        r"(airtable[^\n]{0,60}?\b)()key[a-z0-9]{14}\b",
        "key",
        also=("airtable",),
    ),
    SecretPlace(
        "npm legacy token",
        "NPM_TOKEN …",
        ("token", "auth"),
        r"(npm[^\n]{0,40}?(?:token|auth)[^\n0-9a-f]{0,10})()[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-"
        r"f]{4}-[0-9a-f]{12}",
        "token",
        also=("npm",),
    ),
)
