"""Kinds of secrets that are likely by the command line they stand in, as history, scripts and tool calls have them."""

from delegtop.base.secret_values import ANY, IS, QUOTE, REFERENCE, TELLING, SecretPlace
from delegtop.base.text import MARK_CUT

_AND = rf"{QUOTE}[ \t]{{0,3}},\s{{0,12}}"
"""Between two words of a list."""
_USER = r"[^\s:\"'/=\\]{1,60}"
_READS_IT = (
    r"chpasswd|sudo[ \t]+-[a-z]{0,6}s|su\b|passwd|(?:docker|podman|helm[ \t]+registry|oras|crane|gh[ \t]+auth|az|skopeo"
    r"|npm|vercel)[ \t]+login|gh[ \t]+secret|gcloud[ \t]+secrets|(?:npx[ \t]+)?wrangler|kinit|cryptsetup|kubeseal|vault"
    r"|ansible-vault|gpg"
)
_PIPED = rf"(?=(?:{QUOTE})?[ \t]{{0,3}}\|[ \t]{{0,3}}(?:sudo[ \t]+)?(?:{_READS_IT}))"
_FLAG = r"(?<![^\s\"'`])--?(?:[a-z]{1,12}-){0,3}"

COMMANDS: tuple[SecretPlace, ...] = (
    SecretPlace(
        "cookie of curl",
        "curl -b sid=…",
        (" -",),
        rf"(\bcurl\b[^\n|;]{{0,300}}?\s(?:-b|--cookie)[ =])({QUOTE})?(?!\[masked\])[^\s\"'=;]{{1,80}}="
        rf"[^\s\"'\n]{{4,}}",
        "cookie",
        also=("curl",),
    ),
    SecretPlace(
        "password in a flag",
        "--password …",
        ("pass", "secre", "key"),
        rf"({_FLAG}(?:passw(?:or)?d|passphrase|secret|api-?key)[ \t]+)(?!-){ANY}",
        also=("-pass", "-secret", "-api"),
    ),
    SecretPlace(
        "password of mysql",
        "mysql -p…",
        (" -", '"-'),
        rf"(\b(?:mysql|mariadb)[a-z-]{{0,12}}(?=[\s\"'\\])[^\n;|&]{{0,200}}?[\s\"']-p)(?!\s|[0-9.:]{{0,21}}:[0-9]){ANY}",
        checked="as written",
        also=("mysql", "mariadb"),
    ),
    SecretPlace(
        "password of sshpass",
        "sshpass -p …",
        (" -",),
        rf"(\bsshpass\s+-p[ \t]{{0,3}}){ANY}",
        checked="as written",
        also=("sshpass",),
    ),
    SecretPlace(
        "password of redis",
        "redis-cli -a …",
        (" -", "pass", "auth"),
        rf"(\bredis-cli\b[^\n;|&]{{0,200}}?\s(?:-a|auth)[ \t]+|\b(?:requirepass|masterauth)[ \t]+){ANY}",
        also=("redis-cli", "requirepass", "masterauth"),
    ),
    SecretPlace(
        "password of LDAP",
        "ldapsearch -w …",
        (" -",),
        rf"(\bldap[a-z]{{3,8}}\b[^\n;|&]{{0,200}}?\s-w[ \t]+){ANY}",
        also=("ldap",),
    ),
    SecretPlace(
        "password of openssl",
        "-passin pass:…",
        (" -",),
        rf"(\s-?-pass(?:in|out)?[ =]pass:)()(?!{REFERENCE})[^\s\"']{{3,}}",
        also=("pass:",),
    ),
    SecretPlace(
        "password of a login",
        "login -u me -p …",
        (" -",),
        rf"(\blogin\b[^\n;|&]{{0,200}}?\s-p[ \t=]+)(?!-){ANY}",
        checked="as written",
        also=("login",),
    ),
    SecretPlace(
        "password of curl",
        "curl -u me:…",
        (" -",),
        rf"(\s(?:-u|--user)[ =]?(?:{QUOTE})?{_USER}:)()(?!\[masked\]|[0-9]+(?:[\s\"']|\Z)|[:$])[^\s\"'\\]{{3,}}",
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
        "token in a flag",
        "--token …",
        ("token",),
        rf"({_FLAG}token[ \t]+)({QUOTE})?{TELLING}",
        "token",
        also=("-token",),
    ),
    SecretPlace(
        "secret of a cluster",
        "kubectl --from-literal=name=…",
        (" -",),
        rf"(--from-literal[ =][\"']?[a-z0-9_.-]{{1,60}}=){ANY}",
        also=("--from-literal",),
    ),
    SecretPlace(
        "variable of a Dockerfile",
        "ENV DB_PASSWORD …",
        ("pass", "secre", "key", "token"),
        rf"(\b(?:env|setx|setenv)[ \t]+[a-z0-9_]{{0,40}}(?:password|passwd|secret|token|api_key|access_"
        rf"key)[ \t]+)({QUOTE})?{TELLING}",
        also=("env ", "setx "),
    ),
    SecretPlace(
        "password in a list of words",
        '["--password", "…"]',
        ("pass", "secre", "key", "token"),
        rf"({_FLAG}(?:passw(?:or)?d|passphrase|secret|api-?key|token){_AND})({QUOTE})(?!-|{REFERENCE})"
        rf"(?=[^\s\"'`]{{0,48}}[0-9!@#$^&*+=~])[^\s\"'`\\,]{{4,}}(?={QUOTE})",
        also=("-pass", "-secret", "-api", "-token"),
    ),
    SecretPlace(
        "login in a list of words",
        '["-u", "me:…"]',
        ('"-',),
        rf"([\"'](?:-u|--user){_AND}{QUOTE}{_USER}:)()(?!\[masked\]|[0-9]+[\"'\\]|\$)[^\s\"'\\]{{3,}}",
    ),
    SecretPlace(
        "login among other flags",
        "curl -su me:…",
        (" -",),
        rf"(\bcurl\b[^\n;|&]{{0,300}}?\s-[a-z]{{1,8}}u[ ]?(?:{QUOTE})?{_USER}:)()(?!\[masked\]|//|\$)[^\s\"'\\]{{3,}}",
        also=("curl",),
    ),
    SecretPlace(
        "login of HTTPie",
        "http -a me:…",
        (" -",),
        rf"(\b(?:https?|xhs?)[ \t][^\n;|&]{{0,200}}?(?<=\s)(?:-a|--auth)[ =](?:{QUOTE})?{_USER}:)()(?!\[masked\]|\$)"
        r"[^\s\"'\\]{3,}",
        also=(" -a ", " --auth"),
    ),
    SecretPlace(
        "variable of fish",
        "set -gx DB_PASSWORD …",
        (" -",),
        rf"(\bset(?:[ \t]+-[a-z-]{{1,8}}){{1,3}}[ \t]+[a-z0-9_]{{0,40}}(?:passw(?:or)?d|secret|token|api_key"
        rf"|access_key)[ \t]+)({QUOTE})?{TELLING}",
        also=("set -",),
    ),
    SecretPlace(
        "password through a pipe",
        "echo … | sudo -S",
        ("echo ", "printf "),
        rf"(\b(?:echo(?:[ \t]+-[ne]{{1,2}})?|printf(?:[ \t]+[\"']?%s[\"']?)?)[ \t]+)({QUOTE})?(?!{REFERENCE})"
        rf"[^\s\"'|\\]{{4,}}(?:{_PIPED}|(?<={MARK_CUT}))",
        also=("|", MARK_CUT),
    ),
    SecretPlace(
        "password of a key store",
        "keytool -storepass …",
        ("pass",),
        rf"(-(?:src|dest|new)?(?:store|key)pass(?:word)?[ \t=]+)(?!-){ANY}",
        also=("storepass", "keypass"),
    ),
    SecretPlace(
        "key of openssl",
        "openssl enc -k …",
        (" -",),
        rf"(\bopenssl\b[^\n;|&]{{0,200}}?\s-k[ \t]+)(?!-){ANY}",
        also=("openssl",),
    ),
    SecretPlace(
        "passphrase of a new key",
        "ssh-keygen -N …",
        (" -",),
        rf"(\bssh-keygen\b[^\n;|&]{{0,200}}?\s-N[ \t]*)(?!-){ANY}",
        checked="as written",
        also=("ssh-keygen",),
    ),
    SecretPlace(
        "password of a database shell",
        "mongosh -p …",
        (" -",),
        rf"(\b(?:mongo(?:sh|dump|restore|import|export)?|twine|useradd)\b[^\n;|&]{{0,200}}?"
        rf"\s-p[ \t=]+)(?!-){ANY}"
        rf"|(\b(?:sqlcmd|zip|unzip)\b[^\n;|&]{{0,200}}?\s-P[ \t=]{{0,3}})(?!-){ANY}"
        rf"|(\b(?:7za?|7zr)\b[^\n;|&]{{0,200}}?\s-p)(?!-|\s){ANY}",
        checked="as written",
        also=("mongo", "twine ", "useradd", "sqlcmd", "zip -", "7z"),
    ),
    SecretPlace(
        "login of Oracle",
        "sqlplus me/…@db",
        ("sqlplus",),
        rf"(\bsqlplus\b[^\n;|&]{{0,100}}?\s(?:{QUOTE})?[a-z0-9_]{{1,30}}/)()(?![\s/$])[^\s@/\"']{{3,}}(?=@)",
    ),
    SecretPlace(
        "password of a user that is made",
        "rabbitmqctl add_user me …",
        ("pass", "rabbitmqctl", "lftp", "net use", "http-basic"),
        rf"(\brabbitmqctl[ \t]+(?:add_user|change_password)[ \t]+\S{{1,60}}[ \t]+"
        rf"|\bhtpasswd[ \t]+-[a-z]{{0,6}}b[a-z]{{0,6}}[ \t]+(?:[^\s-]\S{{0,100}}[ \t]+)?\S{{1,60}}[ \t]+"
        rf"|\bnet use\b[^\n]{{0,200}}?/user:\S{{1,60}}[ \t]+|\blftp\b[^\n]{{0,100}}?\s-u[ \t]*[^\s,]{{1,60}},"
        rf"|\bwpa_passphrase[ \t]+\S{{1,60}}[ \t]+|\bnmcli\b[^\n]{{0,200}}?\spassword[ \t]+"
        rf"|\bhttp-basic\.\S{{1,100}}[ \t]+\S{{1,60}}[ \t]+){ANY}",
        also=("rabbitmqctl", "htpasswd", "net use", "lftp", "wpa_passphrase", "nmcli", "http-basic"),
    ),
    SecretPlace(
        "secret that is set",
        "aws configure set aws_secret_access_key …",
        ("secre", "key", "token", "pass", "pw", "auth"),
        rf"(\b(?:config(?:ure|:set)?|user-secrets)[ \t]+set[ \t]+\S{{0,100}}(?:key|token|secret|passw(?:or)?d|pwd"
        rf"|_auth)[ \t]+)({QUOTE})?{TELLING}"
        rf"|(\bsecrets?(?:[ \t]+versions)?[ \t]+(?:set|put|create|add)\b[^\n;|]{{0,200}}?\s(?:--value|--body)[ =]"
        rf"|\bgh[ \t]+secret[ \t]+set\b[^\n;|]{{0,200}}?\s-b[ =]?"
        rf"|\bsecrets[ \t]+set[ \t]+[a-z0-9_]{{1,60}}=)(?!-){ANY}",
        also=(
            "config set",
            "configure set",
            "secret set",
            "secrets set",
            "secret put",
            "secret create",
            "secrets create",
        ),
    ),
    SecretPlace(
        "secret of a store in a cloud",
        "--secret-string …",
        ("secre", " -"),
        rf"(--secret-string[ =]|\bput-parameter\b(?=[^\n]{{0,300}}securestring)[^\n]{{0,300}}?--value[ =]){ANY}",
        also=("--secret-string", "securestring"),
    ),
    SecretPlace(
        "cookie of Erlang",
        "-setcookie …",
        ("cookie",),
        rf"(-setcookie[ \t]+|erlang_cookie{IS}){ANY}",
        also=("-setcookie", "erlang_cookie"),
    ),
    SecretPlace(
        "login of a mail server",
        "AUTH PLAIN …",
        ("auth",),
        r"(auth plain )()[a-z0-9+/]{12,}={0,2}",
        "token",
        also=("auth plain ",),
    ),
)
