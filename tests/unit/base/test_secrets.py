"""What is hidden on the screen, and what must stay readable. Every key here is made up."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import growth

from delegtop.base.secrets import MASKED, mask

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

KEYS = [
    f"sk-ant-api03-{BODY}-{BODY}",
    f"sk-proj-{BODY}_{BODY}",
    f"sk-{BODY}",
    f"ghp_{BODY}",
    f"github_pat_{BODY}_{BODY}",
    f"dckr_pat_{BODY[:13]}-{BODY[:13]}",
    "glpat-" + BODY[:20],
    "xoxb-123456789012-123456789012-abcdefABCDEF",
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + BODY[:35],
    f"ya29.{BODY}",
    "sk_live_" + BODY[:24],
    f"hf_{BODY}",
    f"gsk_{BODY}",
    f"npm_{BODY}",
    f"pypi-AgEIcHlwaS5vcmc{BODY}{BODY}",
    f"xai-{BODY}",
    f"hvs.{BODY}",
    f"SG.{BODY[:22]}.{BODY}",
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{BODY}",
    f"123456789:AA{BODY[:33]}",
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:8])
@pytest.mark.parametrize("around", ["{}", "use {} now", '{{"x": "{}"}}', "export X={}\n", "({})", "`{}`"])
def test_a_key_of_a_known_vendor_is_hidden_and_what_stands_around_it_stays(key: str, around: str) -> None:
    shown = mask(around.format(key))
    assert key[-12:] not in shown
    assert MASKED in shown
    before, after = around.format("\0").split("\0")
    assert shown.startswith(before)
    assert shown.endswith(after)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2", "password=[masked]"),
        ("DB_PASSWORD: hunter2!", "DB_PASSWORD: [masked]"),
        ("mysql --password hunter2 -h db", "mysql --password [masked] -h db"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p[masked] shop"),
        ("mysqldump -h db -P3306 -p'correct horse' shop", "mysqldump -h db -P3306 -p'[masked]' shop"),
        ("sshpass -p hunter2 ssh me@db", "sshpass -p [masked] ssh me@db"),
        ("sshpass -p'correct horse' ssh me@db", "sshpass -p'[masked]' ssh me@db"),
        ('{"password": "correct horse", "user": "me"}', '{"password": "[masked]", "user": "me"}'),
        (r"{\"password\": \"hunter2\", \"a\": 1}", r"{\"password\": \"[masked]\", \"a\": 1}"),
        ("AWS_SECRET_ACCESS_KEY=abcDEF123/xyz", "AWS_SECRET_ACCESS_KEY=[masked]"),
        ("x-api-key: 0123456789abcdef", "x-api-key: [masked]"),
        ("Authorization: Bearer abcdef.12345", "Authorization: [masked]"),
        ("curl -H 'Authorization: token abcdef12345' url", "curl -H 'Authorization: [masked]' url"),
        ("-H 'Bearer abcdefgh12345678'", "-H 'Bearer [masked]'"),
        ("Cookie: sid=abcdef12345; theme=dark", "Cookie: [masked]"),
        ("token=abcd1234efgh", "token=[masked]"),
        ("gh auth --with-token abcd1234efgh", "gh auth --with-token [masked]"),
        ("vault login -token 's.abcd1234efgh'", "vault login -token '[masked]'"),
        ("session_token: 'abcd1234efgh'", "session_token: '[masked]'"),
        ("postgres://me:hunter2@db:5432/app", "postgres://me:[masked]@db:5432/app"),
        ("redis://:hunter2@cache", "redis://:[masked]@cache"),
        ("curl -u me:hunter2 https://x", "curl -u me:[masked] https://x"),
        ("AccountName=a;AccountKey=abc+def==;Suffix=b", "AccountName=a;AccountKey=[masked];Suffix=b"),
        ("https://hooks.slack.com/services/T0/B0/abcdef", "https://hooks.slack.com/services/[masked]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----\nrest",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE that was cut", "-----BEGIN PRIVATE KEY-----[masked]"),
        ("MIIEabcdefghijklmnop\n-----END EC PRIVATE KEY-----", "[masked]\n-----END EC PRIVATE KEY-----"),
        ("-----BEGIN%20PRIVATE%20KEY-----%0AMIIE", "-----BEGIN%20PRIVATE%20KEY-----[masked]"),
        ("kind: Secret\ndata:\n  dsn: YWJjZA==\ntype: Opaque", "kind: Secret\ndata:\n  dsn: [masked]\ntype: Opaque"),
        ("db:5432:app:me:hunter2", "db:5432:app:me:[masked]"),
        ("curl -su me:hunter2 https://x", "curl -su me:[masked] https://x"),
        ('["mysql", "-phunter2"]', '["mysql", "-p[masked]"]'),
        ('["x", "--password", "hunter2"]', '["x", "--password", "[masked]"]'),
        ("echo hunter2 | sudo -S ls", "echo [masked] | sudo -S ls"),
        ("echo hunte…", "echo [masked]"),
        ('{"name": "Cookie", "value": "sid=abc"}', '{"name": "Cookie", "value": "[masked]"}'),
        ("password: |\n  hunter2", "password: |\n  [masked]"),
        ("**Password:** hunter2", "**Password:** [masked]"),
        ("API key: abcd1234efgh", "API key: [masked]"),
        ("use `hunter2x` as the password", "use `[masked]` as the password"),
        ("das Passwort ist hunter2", "das Passwort ist [masked]"),
        ("pass\x1b[1mword\x1b[0m=hunter2", "password=[masked]"),
        (f"seed phrase: {'abandon ' * 11}about", "seed phrase: [masked]"),
    ],
)
def test_a_secret_is_known_by_the_place_it_stands_in(text: str, shown: str) -> None:
    assert mask(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "sess_1766743200_def456",
        "d41d8cd98f00b204e9800998ecf8427e",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "01890a5d-ac96-774b-bcce-b302099a8057",
        "toolu_01A09q90qw90lq917835lq9",
        '{"tokens": 18342, "max_tokens": 4096, "token_count": 12}',
        "input_tokens=120000 output_tokens=3400",
        "Unexpected token: identifier at line 12",
        "def login(password: str, token: str | None = None) -> None:",
        "password: Optional[str]",
        "password=$DB_PASSWORD",
        'api_key = os.environ["KEY"]',
        "the key: it must be long",
        "task-executor-with-a-very-long-name-2",
        "ask-the-researcher-for-all-30-results",
        "docker run -u 1000:1000 image",
        "docker run -p 80:80 mysql",
        "docker run --name mysql -p3306:3306 image",
        "mkdir -p build && mysql -u root -p shop",
        "mysql -P3306 -u root -p$MYSQL_PASS; mkdir -pv build",
        "ssh -p 2222 me@db; sshpass -f file ssh -p 2222 me@db; sshpass -p $PASS ssh",
        "https://example.org:8080/path?x=1",
        "see http://localhost:3000/a@b",
        "git commit -m 'basic authentication works now 123'",
        "a bearer of bad news",
        'password = getpass("Password: ")',
        "(env-secret 4f2d1c9ab7)",
        "cookie: recipe",
        "src/secrets.py:120 tests/test_tokens.py:14",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit 4f2d1c9a token bucket of 16 slots",
        "ssh-ed25519 public",
        "--- PASS: TestParser12 (0.00s)",
        "cpe:2.3:a:vendor:product:*:*:*:*:python:*:*:*",
        "echo Installing | tee log",
        "kind: Deployment\ndata:\n  name: abcdef",
        'parser.add_argument("--password", "-p", help="the password")',
        "class X448PrivateKey: ...",
        "the file a1b2c3d4.py is the token store",
        "unzip -p archive.zip file12345",
        "-----END CERTIFICATE-----",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
        "",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300) | st.sampled_from(KEYS) | st.from_regex(r"(password|token|://a)[=: ]{1,2}.{0,40}"))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


def test_a_masked_text_never_holds_more_of_a_key_than_its_prefix() -> None:
    shown = mask(" ".join(KEYS))
    assert not re.search(r"[A-Za-z0-9]{13,}", shown.replace("PRIVATE", ""))


COMMANDS = [
    "mysql ",
    "sshpass -p",
    "curl -",
    "echo a |",
    'value: "',
    "a1b2c3d4 is the password ",
    "kind: secret data: a: b ",
]
PIECES = ["eyJ", "eyJa.", "sk-", "password=", "://a:", "-----BEGIN PRIVATE KEY-----", "token ", "\\\"'", "a-"]


@pytest.mark.parametrize("piece", [*PIECES, *COMMANDS, "SG." + "a" * 20])
def test_a_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    assert growth(lambda size: mask(piece * (size // len(piece))), 8_000) < 30
