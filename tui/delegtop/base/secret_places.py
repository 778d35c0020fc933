"""Kinds of secrets that are likely by the place they stand in: a name before them, a header, an address, a sentence.

A row has words of which one stands in every text with such a secret (in small letters), and a pattern for the text in
small letters. Of what matches, group 1 and the quote of group 2 stay, the rest is hidden. Every pattern begins with a
literal and takes what follows in one go, so a hostile text costs no more than its length. Command lines stand in
`secret_commands.py`, what has no one pattern in `secret_blocks.py`.
"""

from delegtop.base.secret_commands import COMMANDS
from delegtop.base.secret_values import (
    ANY,
    BARE,
    CALL,
    IS,
    MIXED,
    NAMES_ANOTHER,
    NO_SECRET,
    ODD,
    QUOTE,
    QUOTED,
    REFERENCE,
    SAID,
    TELLING,
    SecretPlace,
)
from delegtop.base.text import MARK_CUT

_SAYS = (
    r"s?(?: (?:for|of|on|to) [a-z0-9@._/ -]{1,40}?)? (?:is|was|are|will be|becomes|to|as|set to|reads)(?: "
    r"now| still|:)? "
)
_VERBS = (" is ", " was ", " are ", " be ", " to ", " as ", " becomes ", " reads ")
_NAMED = ("pass", "secre", "key", "token", "auth", "cookie", "sess")
_HEADERS = r"(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z0-9-]{0,40}(?:key|token|secret|auth|signature)"
_NAMES = (
    r"[a-z0-9_.-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|session_?id|sessid)"
)

PLACES: tuple[SecretPlace, ...] = (
    SecretPlace(
        "Cookie header",
        "Cookie: sid=…",
        ("cookie",),
        rf"(cookie2?{IS})({QUOTE})?(?!\[masked\])[^\s\"'=;]{{1,80}}=[^\"'\n]{{4,}}",
        "cookie",
    ),
    SecretPlace(
        "Authorization header",
        "Authorization: …",
        ("auth",),
        rf"(authorization{IS})({QUOTE})?(?:[a-z]{{4,12}}[ \t]+)?(?!authorization|{REFERENCE}|{CALL})"
        r"[a-z0-9._~+/=:-]{8,}",
        "token",
        also=("authorization",),
    ),
    SecretPlace(
        "bearer token",
        "Bearer …",
        ("bearer",),
        rf"(\bbearer[ \t]+)()(?=[^\s\"']{{0,48}}[0-9])(?!{REFERENCE}|{CALL})[a-z0-9._~+/=-]{{12,}}",
        "token",
    ),
    SecretPlace(
        "basic authorization", "Basic …", ("basic",), r"(\bbasic[ \t]+)()[a-z0-9+/]{8,}={0,2}", "token", checked="pair"
    ),
    SecretPlace(
        "password by its name",
        "password=…",
        ("pass",),
        rf"((?:passw(?:or)?d|passphrase|passcode)[0-9]{{0,2}}{IS}){ANY}",
    ),
    SecretPlace("short name of a password", "DB_PASS=…", ("pass",), rf"(pass=){ANY}", before="![a-z]", also=("pass=",)),
    SecretPlace(
        "shortest name of a password",
        "pw=…",
        ("pw",),
        rf"(pwd?=)(?!/|~|\.|\$){ANY}",
        before="!(?:[a-z]|old_?)",
        also=("pw=", "pwd="),
    ),
    SecretPlace(
        "Pwd of a connection",
        "Pwd: …",
        ("pw",),
        rf"(pwd{IS})(?!/|~|\.|\$)(?:({QUOTE})(?!{REFERENCE}|/){QUOTED}{{3,}}|{NO_SECRET}{BARE}{{3,}})",
        before="!old",
    ),
    SecretPlace("client secret", "client_secret=…", ("secre",), rf"(client[_-]?secret{IS}){ANY}", also=("client",)),
    SecretPlace(
        "key by its name",
        "api_key=…",
        ("key",),
        rf"(key{IS}){ANY}",
        before=r"(?:secret[_-]?(?:access)?|api|account|access|private|signing|encryption|encrypt|auth|license|shared[_-]?access|storage|master|service|admin|app|consumer|functions?|host|subscription|fernet|pre-?shared|hmac)[_-]?",
    ),
    SecretPlace(
        "secret base of an application",
        "SECRET_KEY=…",
        ("secre",),
        rf"(secret_key(?:_base)?{IS})({QUOTE})?(?!{REFERENCE}|[a-z_][\w.]{{0,60}}[(\[][^)\s]{{0,60}}"
        rf"[)\]](?:\s|\Z))(?=[^\s\"']{{0,64}}[0-9])"
        rf"(?:[^\s\"'`]{{16,}}|{BARE}{{1,80}}{MARK_CUT})",
        also=("secret_key",),
    ),
    SecretPlace(
        "password in a definition",
        "define('DB_PASSWORD', '…')",
        ("pass", "key", "secre", "token"),
        rf"(define\([ \t]*{QUOTE}[a-z_]{{0,30}}(?:password|key|salt|secret|token){QUOTE}[ \t]*,[ \t]*"
        rf")({QUOTE}){QUOTED}{{3,}}",
        also=("define(",),
    ),
    SecretPlace(
        "password in SQL",
        "PASSWORD '…'",
        ("pass",),
        rf"(password[ \t]+|= ?password\([ \t]{{0,3}})({QUOTE})(?!\[masked\]|\$|%s|\?){QUOTED}{{3,}}",
        also=("password '", 'password "', "password("),
    ),
    SecretPlace(
        "user in SQL",
        "IDENTIFIED BY '…'",
        ("identified ",),
        rf"(identified (?:with \S{{1,40}} )?by[ \t]+)([\"'])(?!\[masked\]|\$|%s|\?){QUOTED}{{3,}}",
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
        rf"(\bauth{QUOTE}[ \t]{{0,3}}:[ \t\n]{{0,8}})({QUOTE})[a-z0-9+/]{{8,}}={{0,2}}",
        "token",
        checked="pair",
        also=('auth"', "auth'", "auth\\"),
    ),
    SecretPlace(
        "login of npm",
        "_auth=…",
        ("auth", "pass"),
        rf"(_(?:auth|authtoken|password){IS})({QUOTE})?(?!{REFERENCE}|{CALL}|{NAMES_ANOTHER})[a-z0-9+/_.=-]{{8,}}",
        "token",
        before="!\\w",
        also=("_auth", "_password"),
    ),
    SecretPlace(
        "token by its name",
        "token=…",
        ("token",),
        rf"(token{IS})({QUOTE})?{TELLING}",
        "token",
        before="!public[_-]?key",
    ),
    SecretPlace("secret by its name", "secret=…", ("secre",), rf"(secret{IS})({QUOTE})?{TELLING}", "token"),
    SecretPlace(
        "credentials by their name", "credential=…", ("cred",), rf"(credentials?{IS})({QUOTE})?{TELLING}", "token"
    ),
    SecretPlace(
        "session by its name",
        "session_secret=…",
        ("sess",),
        rf"((?:phpsessid|jsessionid|sessionid|session_secret|session_cookie|session)=)({QUOTE})?{TELLING}",
        "cookie",
        also=("sessid=", "sessionid=", "session_secret=", "session_cookie="),
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
        rf"(type={QUOTE}password{QUOTE}[^<>\n]{{0,200}}?value="
        rf"|key={QUOTE}[a-z0-9_.: -]{{0,40}}(?:password|secret|apikey|token){QUOTE}[ \t]+value=)("
        rf"{QUOTE})(?!{REFERENCE}){QUOTED}{{3,}}",
        also=("value=",),
    ),
    SecretPlace(
        "name and value of a variable or a header",
        '{"name": "DB_PASSWORD", "value": "…"}',
        _NAMED,
        rf"(name{IS}(?:{QUOTE})?(?:{_HEADERS}|{_NAMES})(?:{QUOTE})?[\s,]{{1,12}}(?:{QUOTE})?value{IS})"
        rf"(?:({QUOTE})(?!{REFERENCE}){QUOTED}{{3,}}|(?!{REFERENCE}){BARE}{{3,}})",
        also=("value",),
    ),
    SecretPlace(
        "value and name of a header",
        '{"value": "…", "name": "X-Api-Key"}',
        _NAMED,
        rf"(value{IS})({QUOTE})(?!{REFERENCE}){QUOTED}{{3,}}"
        rf"(?={QUOTE}[\s,]{{1,12}}(?:{QUOTE}name{IS}{QUOTE}(?:{_HEADERS}|{_NAMES}){QUOTE}|[^\n]{{0,8}}{MARK_CUT}))",
        also=("value",),
    ),
    SecretPlace(
        "password in a sentence",
        "the password is …",
        ("pass",),
        rf"(pass(?:w(?:or)?d|phrase|code){_SAYS})(?:{SAID})",
        also=_VERBS,
    ),
    SecretPlace("secret in a sentence", "the secret is …", ("secre",), rf"(secret{_SAYS})(?:{SAID})", also=_VERBS),
    SecretPlace("token in a sentence", "the token is …", ("token",), rf"(token{_SAYS})(?:{SAID})", also=_VERBS),
    SecretPlace(
        "key in a sentence",
        "the API key is …",
        ("key",),
        rf"(key{_SAYS})(?:{SAID})",
        before="(?:api|access|secret|private|signing|encryption)[ -]",
        also=_VERBS,
    ),
    SecretPlace(
        "password after a colon",
        "password for db: …",
        ("pass",),
        rf"(pass(?:w(?:or)?d|phrase) (?:for|of|on) [a-z0-9@._/ -]{{1,40}}:[ \t]+)({QUOTE})?(?!"
        rf"{REFERENCE}|{CALL}){ODD}",
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
    SecretPlace(
        "header in a pair",
        '["Authorization", "…"]',
        ("auth",),
        rf"(authorization{QUOTE}[ \t]{{0,3}},\s{{0,12}})({QUOTE})(?!{REFERENCE})(?=[^\"'`\n]{{0,60}}[0-9])"
        r"[^\"'`\n\\{}$<%]{8,}",
        "token",
        also=("authorization",),
    ),
    SecretPlace(
        "signature in a header",
        "Authorization: Digest …, response=…",
        ("auth",),
        rf"((?:response|signature)=)({QUOTE})?(?!{REFERENCE})[a-z0-9+/=_-]{{16,}}",
        "token",
        also=("digest ", "hmac-sha"),
    ),
    SecretPlace(
        "longer name of a password",
        "ansible_ssh_pass: …",
        ("pass",),
        rf"(_pass{IS})({QUOTE})?{TELLING}",
        also=("_pass",),
    ),
    SecretPlace(
        "short word for a password",
        "pw: …",
        ("pw", "pass"),
        rf"((?<![\w-])(?:pw|PW|Pw|pass|Pass):[ \t]{{1,3}})({QUOTE})?{MIXED}",
        checked="as written",
        also=("pw:", "pass:"),
    ),
    SecretPlace(
        "key by two words",
        "API key: …",
        ("key",),
        rf"(key{IS})({QUOTE})?{TELLING}",
        before="(?:api|secret|access|private|licen[cs]e|signing|encryption|master|subscription|account|auth) ",
    ),
    SecretPlace("salt of an application", "AUTH_SALT=…", ("auth",), rf"(auth_salt{IS}){ANY}", also=("auth_salt",)),
    SecretPlace("key of a wireless network", "psk=…", ("psk",), rf"(psk[ \t]?=[ \t]?){ANY}", before="![a-z]"),
    SecretPlace(
        "key of an application in an address",
        "?appid=…",
        ("://",),
        r"([?&]app_?(?:id|key)=)()(?!\[masked\])(?=[a-z]{0,40}[0-9])[a-z0-9_-]{20,}",
        "key",
        also=("?app", "&app"),
    ),
    SecretPlace(
        "code of a login",
        "?code=…&state=…",
        ("://",),
        r"([?&]code=)()(?=[^\s\"']{0,48}[0-9])[a-z0-9._~%/-]{16,}(?=&state=)"
        r"|(state=[^\s&\"']{1,200}&code=)()(?=[^\s\"']{0,48}[0-9])[a-z0-9._~%/-]{16,}",
        "token",
        also=("code=",),
    ),
    SecretPlace(
        "password in an encoded address",
        "postgres%3A%2F%2Fme%3A…%40db",
        ("%3a%2f%2f",),
        r"(%3a%2f%2f[^\s%@\"'<>]{0,100}%3a)()[^\s@\"'<>]{1,200}?(?=%40)",
    ),
    SecretPlace(
        "words of a wallet",
        "seed phrase: …",
        ("phrase", "mnemonic"),
        rf"((?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))(?:{IS}| is | are |: )(?:{QUOTE})?)()"
        r"(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}",
        "key",
    ),
    SecretPlace(
        "line of a pgpass",
        "db:5432:app:me:…",
        (":543", ":*:"),
        rf"(:(?:543[0-9]|\*):[^\s:\"'/]{{1,64}}:[^\s:\"'/]{{1,64}}:)()(?!{REFERENCE})[^\s:\"'\\]{{4,}}(?=[\s\"'\\]|\Z)",
    ),
    SecretPlace(
        "dumped password hash",
        "me:500:…:…:::",
        ("::",),
        r"(:[0-9]{1,6}:)()[0-9a-f]{32}:[0-9a-f]{32}(?=:::)",
        also=(":::",),
    ),
    SecretPlace(
        "password with a word before it",
        "log in with password …",
        ("pass",),
        rf"(pass(?:word|phrase|wd)[ \t]+)(?:{SAID})",
        before=r"(?:\bwith|(?:user|username|login) \S{1,12}) (?:the )?",
        also=("with ", "user", "login "),
    ),
    SecretPlace(
        "password in another language",
        "das Passwort ist …",
        ("pass", "kennwort", "contrase", "пароль", "密码", "密碼", "パスワード"),
        rf"((?:passwort|kennwort|mot de passe|contrase[ñn]a|пароль|密码|密碼|パスワード)"
        rf"(?:{IS}|[ \t]?[:：][ \t]?| (?:ist|lautet|est|es) ))(?:{SAID})",
        also=("wort", "mot de passe", "contrase", "пароль", "密码", "密碼", "パスワード"),
    ),
    SecretPlace(
        "what a workflow hides",
        "::add-mask::…",
        ("::",),
        r"(::add-mask::)()(?!\[masked\]|\$)[^\s\"'\\]{4,}",
        also=("::add-mask::",),
    ),
    *COMMANDS,
)
