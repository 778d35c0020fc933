"""Made-up secrets of many kinds, as they stand in prompts, commands and outputs; the same for the same seed.

This table is written from what the vendors and programs document, not from the tables of delegtop.
"""

import base64
import json
import random
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

_ALPHABETS = {
    "N": string.ascii_letters + string.digits,
    "H": "0123456789abcdef",
    "U": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "W": string.ascii_letters + string.digits + "_-",
    "D": string.digits,
    "B": string.ascii_letters + string.digits + "+/",
    "S": string.ascii_letters + string.digits + "!@#$%^*+=",
    "X": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
}
BY_FORM = """
OpenAI|sk-{N20}T3BlbkFJ{N20}
OpenAI project|sk-proj-{W74}
OpenAI service|sk-svcacct-{W60}
Anthropic|sk-ant-api03-{W93}AA
OpenRouter|sk-or-v1-{H64}
Langfuse|sk-lf-{uuid}
LangSmith|lsv2_pt_{H32}_{H10}
Hugging Face|hf_{N34}
Groq|gsk_{N52}
Replicate|r8_{N37}
Perplexity|pplx-{N48}
xAI|xai-{N80}
Fireworks|fw_{N24}
NVIDIA|nvapi-{W64}
Tavily|tvly-{N32}
Pinecone|pcsk_{N6}_{N60}
E2B|e2b_{H40}
Firecrawl|fc-{H32}
GitHub classic|ghp_{N36}
GitHub OAuth|gho_{N36}
GitHub user|ghu_{N36}
GitHub server|ghs_{N36}
GitHub refresh|ghr_{N76}
GitHub fine|github_pat_{N22}_{N59}
GitLab personal|glpat-{W20}
GitLab trigger|glptt-{H40}
GitLab runner|glrt-{W20}
GitLab deploy|gldt-{W20}
GitLab job|glcbt-{D2}_{W20}
Atlassian|ATATT3xFfGF0{W180}={U8}
Bitbucket app password|ATBB{N32}
Sourcegraph|sgp_{H40}
npm|npm_{N36}
PyPI|pypi-AgEIcHlwaS5vcmc{W120}
RubyGems|rubygems_{H48}
NuGet|oy2{L43}
crates.io|cio{N32}
Docker|dckr_pat_{W27}
Artifactory|AKCp{N69}
CircleCI|CCIPAT_{N22}_{H40}
Buildkite|bkua_{H40}
SonarQube|squ_{H40}
Postman|PMAK-{H24}-{H34}
AWS key id|AKIA{U16}
AWS temporary id|ASIA{U16}
Google API|AIza{W35}
Google OAuth|ya29.{W90}
Google client secret|GOCSPX-{W28}
Azure client secret|{N3}8Q~{W34}
Azure storage|{B76}+ASt{N6}==
Azure DevOps|{N76}AZDO{N4}
DigitalOcean|dop_v1_{H64}
Alibaba|LTAI{N20}
Tencent|AKID{N32}
Fly.io|fm2_{B90}
Heroku|HRKU-{uuid}
Render|rnd_{N28}
Netlify|nfp_{N36}
Supabase|sbp_{H40}
Scaleway|SCW{U17}
Tailscale|tskey-auth-{N12}CNTRL-{N32}
Terraform|{N14}.atlasv1.{W64}
Vault|hvs.{W92}
Doppler|dp.pt.{N43}
1Password|ops_eyJ{B240}
1Password secret key|A3-{U6}-{U11}-{U5}-{U5}-{U5}
age|AGE-SECRET-KEY-1{U58}
Pulumi|pul-{H40}
PlanetScale|pscale_tkn_{W43}
Databricks|dapi{H32}
Airtable|pat{N14}.{H64}
Slack bot|xoxb-{D12}-{D12}-{N24}
Slack user|xoxp-{D12}-{D12}-{D12}-{H32}
Slack app|xapp-1-A{U10}-{D13}-{H64}
Slack webhook|https://hooks.slack.com/services/T{U8}/B{U10}/{N24}
Discord bot|M{N23}.{W6}.{W38}
Discord webhook|https://discord.com/api/webhooks/{D18}/{W68}
Telegram|{D10}:AA{W33}
Telegram address|https://api.telegram.org/bot{D10}:AA{W33}/getMe
Teams webhook|https://x.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{H32}/{uuid}
Twilio|SK{H32}
Stripe|sk_live_{N24}
Stripe test|sk_test_{N24}
Stripe restricted|rk_live_{N24}
Stripe webhook|whsec_{N32}
Square|sq0atp-{W22}
Square OAuth|sq0csp-{W43}
Shopify|shpat_{H32}
Braintree|access_token$production${L16}${H32}
Plaid|access-sandbox-{uuid}
Razorpay|rzp_live_{N14}
SendGrid|SG.{W22}.{W43}
Mailgun|key-{H32}
Mailgun sending|{H32}-{H8}-{H8}
Mailchimp|{H32}-us{D2}
Brevo|xkeysib-{H64}-{N16}
Resend|re_{N8}_{N24}
New Relic|NRAK-{U27}
New Relic licence|{H36}NRAL
Grafana|glsa_{N32}_{H8}
Sentry|sntryu_{H64}
PostHog|phx_{N43}
Dynatrace|dt0c01.{U24}.{U64}
Notion|ntn_{D11}{N35}
Notion secret|secret_{N43}
Linear|lin_api_{N40}
Figma|figd_{W40}
Dropbox|sl.{W135}
HubSpot|pat-na1-{uuid}
Typeform|tfp_{W44}
Mapbox|sk.eyJ{N60}.{W22}
Facebook|EAAC{N120}
JSON web token|eyJ{N30}.eyJ{N60}.{W43}
password hash|$2b$12${B53}
"""
IN_PLACE = """
password in the environment|DB_PASSWORD={S14}
password in YAML|  password: {S12}
password in JSON|{"user": "me", "password": "{S16}"}
password in code|connect(user="me", password="{S12}")
password in properties|spring.datasource.password={S14}
PGPASSWORD|PGPASSWORD={S12} psql -h db
short password|REDIS_PASS={S14}
passphrase|--passphrase {S14}
password flag|mysql --password {S12} -h db
mysql -p|mysql -u root -p{N12} shop
sshpass|sshpass -p {S12} ssh me@db
curl -u|curl -u me:{S12} https://host/x
redis-cli|redis-cli -h cache -a {N14} ping
ldapsearch|ldapsearch -x -D cn=me -w {N12} -b dc=x
openssl|openssl rsa -passin pass:{N12} -in key.pem
docker login|docker login -u me -p {N16} registry.local
API key header|X-Api-Key: {H32}
API key in code|api_key = "{N32}"
Datadog|DD_API_KEY={H32}
AWS secret|AWS_SECRET_ACCESS_KEY={B40}
Azure account key|AccountName=a;AccountKey={B86}==;Suffix=b
Azure shared key|SharedAccessKeyName=root;SharedAccessKey={B43}=
client secret|client_secret: {W32}
Django|SECRET_KEY = 'django-insecure-{X50}'
Django in the environment|SECRET_KEY={X50}
Rails|SECRET_KEY_BASE={H128}
WordPress|define('DB_PASSWORD', '{S14}');
token in the environment|SLACK_TOKEN={N32}
token in YAML|  access_token: {N40}
token in an address|https://host/x?access_token={N40}&a=1
token flag|gh auth login --with-token {N24}
secret in the environment|JWT_SECRET={N32}
Authorization|Authorization: Bearer {N40}
Authorization token|curl -H 'Authorization: token {H40}' https://host
Basic|Authorization: Basic {pair}
Basic alone|-H "Basic {pair}"
Bearer alone|Bearer {N32}
Cookie|Cookie: sid={N32}; theme=dark
Set-Cookie|Set-Cookie: session={N40}; HttpOnly; Path=/
cookie of curl|curl -b 'session={N32}' https://host
PostgreSQL address|postgres://me:{N14}@db:5432/app
MongoDB address|mongodb+srv://me:{N16}@cluster0.x.mongodb.net/app
Redis address|redis://:{N16}@cache:6379/0
AMQP address|amqp://guest:{N12}@mq/
basic-auth address|https://me:{N16}@git.local/x.git
token as user of an address|https://{N40}@github.com/me/x.git
SAS|https://a.blob.core.windows.net/c/b?sv=2022-11-02&se=2026-01-01&sr=b&sp=r&sig={B43}%3D
signed address of S3|https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={H64}
XML|<password>{S14}</password>
XML of Maven|<server><id>x</id><privateKey>{N30}</privateKey></server>
netrc|machine git.local login me password {N14}
docker config|{"auths": {"registry.local": {"auth": "{pair}"}}}
npmrc|//registry.npmjs.org/:_authToken={uuid}
npm legacy|NPM_TOKEN={uuid}
pip|index-url = https://me:{N16}@pypi.local/simple
sentence|the password is {S12}
sentence in quotes|The password for the database is "{S14}".
sentence with to|I have set the password to {S12}
sentence about a token|use my token: {N32}
sentence about a key|The API key is {N32} and works.
SQL|CREATE USER me IDENTIFIED BY '{S12}';
SQL of PostgreSQL|ALTER USER me WITH PASSWORD '{S12}';
Kubernetes|kubectl create secret generic x --from-literal=pw={N14}
Kubernetes variable|{"name": "DB_PASSWORD", "value": "{N16}"}
Dockerfile|ENV API_TOKEN {N24}
one-time codes|otpauth://totp/x:me?secret={U32}&issuer=x
private key|-----BEGIN RSA PRIVATE KEY-----\\n{B64}\\n{B64}\\n-----END RSA PRIVATE KEY-----
OpenSSH key|-----BEGIN OPENSSH PRIVATE KEY-----\\n{B70}\\n{B70}\\n-----END OPENSSH PRIVATE KEY-----
curl with other flags|curl -fsSLu me:{S12} https://host/x
curl in a list|["curl", "-u", "me:{N16}", "https://host/x"]
HTTPie|http -a me:{N12} GET https://host/x
mysql in a list|["mysql", "-u", "root", "-p{N14}", "shop"]
mysqldump|mysqldump -u root -p'{N14}' shop
history of a shell|: 1766743200:0;mysql -h db -u root -p{N14} shop
flag in a list|["tool", "--password", "{S14}"]
token in a list|["tool", "--token", "{N30}"]
mongosh|mongosh -u me -p {N16} --host db
sqlplus|sqlplus system/{N14}@//db:1521/XE
keytool|keytool -list -keystore x.jks -storepass {N14}
openssl enc|openssl enc -aes-256-cbc -k {N16} -in a
ssh-keygen|ssh-keygen -t ed25519 -N {N16} -f x
zip|zip -P {N14} a.zip f
7z|7z x -p{N14} a.7z
htpasswd|htpasswd -b .htpasswd me {N14}
chpasswd|echo 'me:{N14}' | chpasswd
sudo -S|echo {N14} | sudo -S apt update
docker login by a pipe|echo {N24} | docker login -u me --password-stdin
net use|net use X: \\\\srv\\share /user:me {N14}
nmcli|nmcli dev wifi connect home password {N14}
rabbitmqctl|rabbitmqctl add_user me {N14}
lftp|lftp -u me,{N14} host
fish|set -gx DB_PASSWORD {S14}
PowerShell|$env:DB_PASSWORD = "{S14}"
aws configure|aws configure set aws_secret_access_key {B40}
gh secret|gh secret set NPM_TOKEN --body "{N40}"
az keyvault|az keyvault secret set --vault-name v --name db --value {N20}
secretsmanager|aws secretsmanager create-secret --name x --secret-string {N20}
ssm|aws ssm put-parameter --name /db --type SecureString --value {N20}
helm|helm upgrade x --set postgresql.postgresqlPassword={N14},x=y
terraform variable|terraform apply -var 'db_password={N14}'
pgpass|db.host:5432:app:me:{N14}
Kubernetes data|apiVersion: v1\\nkind: Secret\\ndata:\\n  dsn: {B24}\\ntype: Opaque
Kubernetes in JSON|{"kind": "Secret", "data": {"dsn": "{B24}"}}
private key in base64|tls.key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{B180}
private key in numbered lines|  1→-----BEGIN PRIVATE KEY-----\\n  2→{B64}\\n  3→{B64}\\n  4→-----END PRIVATE KEY-----
private key in a patch|+-----BEGIN EC PRIVATE KEY-----\\n+{B64}\\n+{B64}\\n+-----END EC PRIVATE KEY-----
end of a private key|{B64}\\n{B64}\\n-----END RSA PRIVATE KEY-----
header by name and value|{"name": "Authorization", "value": "token {N40}"}
cookie by name and value|{"name": "Cookie", "value": "sid={N40}"}
header by value and name|{"value": "{N40}", "name": "X-Api-Key"}
header in a pair|["Authorization", "token {N40}"]
Digest|Authorization: Digest username="me", realm="x", response="{H32}"
signed request|Authorization: AWS4-HMAC-SHA256 Credential=x/aws4_request, Signature={H64}
address in an address|dsn=postgres%3A%2F%2Fme%3A{N16}%40db%2Fapp
form in an address|user%3Dme%26password%3D{N16}
code of a login|https://host/cb?code={N32}&state=abc
YAML block|db_password: |\\n    {N16}
bytes of Python|{b'password': b'{N24}'}
Ansible|ansible_ssh_pass: {N14}
bold name|**Password:** {N20}
bold key|- **API Key**: {N36}
key in two words|Secret key: {N36}
subscription key|Ocp-Apim-Subscription-Key: {N32}
Fernet|FERNET_KEY={W43}=
WireGuard|PresharedKey = {B43}=
password named after it|use {N16} as the password
with a password|log in as me with password {N14}
German|das Passwort ist {N12}
French|mot de passe : {N12}
Russian|пароль: {N12}
password behind colours|\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K={N20}
token behind colours|\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K{N36}
SQL with a plugin|ALTER USER 'me' IDENTIFIED WITH mysql_native_password BY '{N14}'
hash of a dump|me:500:{H32}:{H32}:::
PGP key|-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\n{B64}\\n{B64}\\n-----END PGP PRIVATE KEY BLOCK-----
"""
_AROUND = (
    "{}", "use {} now", "export X={}", "key: {}", "({})", "`{}`", '{{"x": "{}"}}', "curl -H 'X: {}' https://host/x",
    "it said {}.", "found {}, stop", "{} is gone", "KEY='{}'",
)  # fmt: skip
_PROSE = (
    "the", "build", "fails", "in", "step", "two", "because", "nobody", "wrote", "a", "test", "for", "the", "parser",
    "and", "the", "server", "stops",
)  # fmt: skip
WAYS = ("plain", "plain", "plain", "escaped", "wrapped", "long")
"""How it stands there: as it is, as JSON in a string, in lines cut at a column, behind much other text."""
WINDOW = 8
"""So many characters of a secret in a row are a leak."""


class Planted(NamedTuple):
    kind: str
    way: str
    text: str
    pieces: tuple[str, ...]
    """What of it nobody may see."""


def kinds() -> list[tuple[str, str, bool]]:
    """Name, template, and whether its form alone tells it."""
    rows = [(line, True) for line in BY_FORM.strip().splitlines()]
    rows += [(line, False) for line in IN_PLACE.strip("\n").splitlines()]
    return [(*_halves(line), by_form) for line, by_form in rows]


def _halves(line: str) -> tuple[str, str]:
    name, _, template = line.partition("|")
    return name, template.replace("\\n", "\n")


def plant(count: int, seed: int = 1) -> Iterator[Planted]:
    """All kinds in turn, each time in another way."""
    chance, known = random.Random(seed), kinds()
    for number in range(count):
        name, template, by_form = known[number % len(known)]
        text, pieces = _filled(template, chance)
        if by_form:
            text = chance.choice(_AROUND).format(text)
        way = chance.choice(WAYS)
        yield Planted(name, way, _disguised(text, way, chance), tuple(_hidden(pieces, text)))


def _filled(template: str, chance: random.Random) -> tuple[str, list[str]]:
    pieces = list[str]()

    def fill(found: re.Match[str]) -> str:
        if found[1] == "uuid":
            made = "-".join("".join(chance.choices("0123456789abcdef", k=length)) for length in (8, 4, 4, 4, 12))
        elif found[1] == "pair":
            made = base64.b64encode(b"me:" + "".join(chance.choices(_ALPHABETS["N"], k=18)).encode()).decode()
        else:
            made = _drawn(_ALPHABETS[found[1][0]], int(found[1][1:]), chance)
        pieces.append(made)
        return made

    return re.sub(r"\{(uuid|pair|[A-Z][0-9]+)\}", fill, template), pieces


def _drawn(alphabet: str, length: int, chance: random.Random) -> str:
    """As machines draw: of ten characters at least one is a digit, and the first is a letter or a digit."""
    made = [chance.choice(alphabet) for _ in range(length)]
    made[0] = chance.choice([each for each in alphabet if each.isalnum()])
    made[-1] = chance.choice([each for each in alphabet if each.isalnum()])
    if length >= 6 and not any(each.isdigit() for each in made):
        made[length // 2] = chance.choice(string.digits)
    return "".join(made)


def _hidden(pieces: list[str], text: str) -> Iterator[str]:
    """Those long enough to be of use; a piece that is short is known from what it is joined to."""
    long = [piece for piece in pieces if len(piece) >= WINDOW]
    yield from long or [text]


def _disguised(text: str, way: str, chance: random.Random) -> str:
    if way == "escaped":
        inner = json.dumps({"x": text, "y": 1})
        return inner.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").replace("/", "\\/")
    if way == "wrapped" and "\n" not in text:
        width = chance.randrange(48, 100)
        told = f"{_words(chance, 30)} {text} {_words(chance, 30)}"
        return "\n".join(told[start : start + width] for start in range(0, len(told), width))
    return f"{_words(chance, chance.randrange(300))} {text}" if way == "long" else text


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_PROSE, k=count))


def leaked(planted: list[Planted], output: str) -> list[Planted]:
    """Those of which something is in the output."""
    grams: dict[str, list[int]] = {}
    for number, each in enumerate(planted):
        for piece in each.pieces:
            for start in range(len(piece) - WINDOW + 1):
                grams.setdefault(piece[start : start + WINDOW], []).append(number)
    found = set[int]()
    for run in re.findall(r"\S{8,}", output):
        for start in range(len(run) - WINDOW + 1):
            found.update(grams.get(run[start : start + WINDOW], ()))
    return [planted[number] for number in sorted(found)]
