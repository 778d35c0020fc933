"""Kinds of secrets that are certain by their form: what each begins with, and what follows.

A row is all there is to a kind: its family and name for the page on privacy, what it is counted as, a literal that
every text with such a secret holds (most texts hold none, so nothing else is looked at), and the pattern. What of it
may be shown is what stands before `~`: it names the vendor and tells nothing.
"""

from typing import NamedTuple

_W, _N, _H, _U = "[A-Za-z0-9_-]", "[A-Za-z0-9]", "[0-9a-f]", "[A-Z0-9]"
_UUID = f"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}"
SHORTEST = 18
"""No secret with a form of its own is shorter."""


class SecretForm(NamedTuple):
    """One kind of secret with a form of its own."""

    family: str
    name: str
    sign: str
    """It stands in every secret of this kind."""
    pattern: str
    """What may be shown, `~`, what is hidden."""
    counted_as: str = "key"
    within: str = ""
    """A part of the pattern that is soon found not to be there, if the literal is in every path."""

    @property
    def shown(self) -> str:
        return self.pattern.partition("~")[0]

    @property
    def hidden(self) -> str:
        return self.pattern.partition("~")[2]


def _heads(family: str, *rows: tuple[str, str, str]) -> tuple[SecretForm, ...]:
    """Kinds that begin with a literal: name, literal, what follows."""
    return tuple(
        SecretForm(family, name, head, f"{head.replace('.', '[.]').replace('$', '[$]')}~{body}")
        for name, head, body in rows
    )


_MODELS = (
    SecretForm("models", "OpenAI key and keys made alike", "sk-", rf"sk-~(?=[A-Za-z_-]{{0,48}}[0-9]){_W}{{20,}}"),
    *_heads(
        "models",
        ("OpenAI project key", "sk-proj-", f"{_W}{{20,}}"),
        ("OpenAI service account key", "sk-svcacct-", f"{_W}{{20,}}"),
        ("OpenAI admin key", "sk-admin-", f"{_W}{{20,}}"),
        ("Anthropic key", "sk-ant-", f"{_W}{{20,}}"),
        ("OpenRouter key", "sk-or-", f"{_W}{{20,}}"),
        ("Langfuse secret key", "sk-lf-", _UUID),
        ("LangSmith key", "lsv2_", f"(?:pt|sk)_{_H}{{32}}_{_H}{{10}}"),
        ("Hugging Face token", "hf_", f"{_N}{{20,}}"),
        ("Hugging Face organisation token", "api_org_", f"{_N}{{20,}}"),
        ("Groq key", "gsk_", f"{_N}{{20,}}"),
        ("Replicate token", "r8_", f"{_N}{{20,}}"),
        ("Perplexity key", "pplx-", f"{_W}{{20,}}"),
        ("xAI key", "xai-", f"{_W}{{20,}}"),
        ("Fireworks key", "fw_", f"(?=[A-Za-z]{{0,24}}[0-9]){_N}{{20,}}"),
        ("NVIDIA key", "nvapi-", f"{_W}{{20,}}"),
        ("Tavily key", "tvly-", f"{_W}{{20,}}"),
        ("Cerebras key", "csk-", f"(?=[a-z]{{0,48}}[0-9]){_N}{{20,}}"),
        ("Pinecone key", "pcsk_", f"{_W}{{20,}}"),
        ("LlamaCloud key", "llx-", f"{_W}{{20,}}"),
        ("Voyage key", "pa-", f"(?=[A-Za-z_-]{{0,48}}[0-9]){_W}{{40,}}"),
        ("Jina key", "jina_", f"{_N}{{20,}}"),
        ("E2B key", "e2b_", f"{_H}{{32,}}"),
        ("Together key", "tgp_v1_", f"{_W}{{20,}}"),
        ("Firecrawl key", "fc-", f"{_H}{{32}}"),
        ("Cursor key", "key_", f"{_H}{{64}}"),
        ("ElevenLabs key", "sk_", f"{_H}{{48}}"),
    ),
)
_CODE = _heads(
    "code and packages",
    ("GitHub personal token", "ghp_", f"{_N}{{16,}}"),
    ("GitHub OAuth token", "gho_", f"{_N}{{16,}}"),
    ("GitHub user token", "ghu_", f"{_N}{{16,}}"),
    ("GitHub server token", "ghs_", f"{_N}{{16,}}"),
    ("GitHub refresh token", "ghr_", f"{_N}{{16,}}"),
    ("GitHub fine-grained token", "github_pat_", f"{_W}{{16,}}"),
    ("GitLab personal token", "glpat-", f"{_W}{{16,}}(?:[.][A-Za-z0-9_.-]+)?"),
    ("GitLab pipeline trigger token", "glptt-", f"{_W}{{16,}}"),
    ("GitLab runner token", "glrt-", f"{_W}{{16,}}(?:[.][A-Za-z0-9_.-]+)?"),
    ("GitLab deploy token", "gldt-", f"{_W}{{16,}}"),
    ("GitLab job token", "glcbt-", f"{_W}{{16,}}"),
    ("GitLab SCIM token", "glsoat-", f"{_W}{{16,}}"),
    ("GitLab OAuth secret", "gloas-", f"{_W}{{16,}}"),
    ("GitLab agent token", "glagent-", f"{_W}{{16,}}"),
    ("GitLab feed token", "glft-", f"{_W}{{16,}}"),
    ("GitLab mail token", "glimt-", f"{_W}{{16,}}"),
    ("GitLab feature flag token", "glffct-", f"{_W}{{16,}}"),
    ("Atlassian API token", "ATATT3", r"[A-Za-z0-9_=-]{20,}"),
    ("Bitbucket access token", "ATCTT3", r"[A-Za-z0-9_=-]{20,}"),
    ("Bitbucket app password", "ATBB", f"{_N}{{24,}}"),
    ("Sourcegraph token", "sgp_", f"(?:[0-9a-f]{{16}}_|local_)?{_H}{{40}}"),
    ("npm token", "npm_", f"{_N}{{20,}}"),
    ("PyPI token", "pypi-AgE", f"{_W}{{20,}}"),
    ("RubyGems key", "rubygems_", f"{_H}{{32,}}"),
    ("NuGet key", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("crates.io token", "cio", f"(?=[A-Za-z]{{0,31}}[0-9])(?=[a-z0-9]{{0,31}}[A-Z]){_N}{{32}}(?![A-Za-z0-9])"),
    ("Docker personal token", "dckr_pat_", f"{_W}{{16,}}"),
    ("Docker organisation token", "dckr_oat_", f"{_W}{{16,}}"),
    ("Clojars token", "CLOJARS_", "[a-z0-9]{40,}"),
    ("Artifactory key", "AKCp", f"{_N}{{24,}}"),
    ("Artifactory reference token", "cmVmdGtu", f"{_N}{{40,}}"),
    ("CircleCI token", "CCIPAT_", f"{_W}{{20,}}"),
    ("Buildkite token", "bkua_", f"{_H}{{32,}}"),
    ("Octopus Deploy key", "API-", f"(?=[A-Z]{{0,24}}[0-9]){_U}{{25,}}(?![A-Za-z0-9])"),
    ("SonarQube user token", "squ_", f"{_H}{{40}}"),
    ("SonarQube project token", "sqp_", f"{_H}{{40}}"),
    ("SonarQube analysis token", "sqa_", f"{_H}{{40}}"),
    ("Postman key", "PMAK-", f"{_H}{{24}}-{_H}{{34}}"),
)
_CLOUD = (
    *_heads(
        "cloud",
        ("AWS access key id", "AKIA", f"{_U}{{16}}(?![A-Za-z0-9])"),
        ("AWS temporary key id", "ASIA", f"{_U}{{16}}(?![A-Za-z0-9])"),
        ("AWS bearer key id", "ABIA", f"{_U}{{16}}(?![A-Za-z0-9])"),
        ("AWS context key id", "ACCA", f"{_U}{{16}}(?![A-Za-z0-9])"),
        ("AWS Bedrock key", "ABSK", "[A-Za-z0-9+/]{60,}={0,2}"),
        ("Google API key", "AIza", f"{_W}{{20,}}"),
        ("Google OAuth token", "ya29.", f"{_W}{{20,}}"),
        ("Google OAuth client secret", "GOCSPX-", f"{_W}{{20,}}"),
        ("Google refresh token", "1//0", f"(?=[a-z_-]{{0,48}}[A-Z0-9]){_W}{{30,}}"),
        ("DigitalOcean personal token", "dop_v1_", f"{_N}{{20,}}"),
        ("DigitalOcean OAuth token", "doo_v1_", f"{_N}{{20,}}"),
        ("DigitalOcean refresh token", "dor_v1_", f"{_N}{{20,}}"),
        ("Alibaba access key id", "LTAI", f"(?=[A-Za-z]{{0,24}}[0-9]){_N}{{16,26}}(?![A-Za-z0-9])"),
        ("Tencent secret id", "AKID", f"(?=[A-Za-z]{{0,32}}[0-9]){_N}{{32}}(?![A-Za-z0-9])"),
        ("Yandex API key", "AQVN", f"{_W}{{35,38}}(?![A-Za-z0-9])"),
        ("Fly.io token", "fm2_", "[A-Za-z0-9+/_=-]{40,}"),
        ("Fly.io access token", "fo1_", f"{_W}{{40,}}"),
        ("Heroku key", "HRKU-", f"{_W}{{36,}}"),
        ("Render key", "rnd_", f"{_N}{{20,}}"),
        ("Vercel blob token", "vercel_blob_rw_", f"{_W}{{20,}}"),
        ("Netlify token", "nfp_", f"{_N}{{30,}}"),
        ("Supabase token", "sbp_", f"{_N}{{20,}}"),
        ("Supabase secret key", "sb_secret_", f"{_W}{{20,}}"),
        ("Scaleway access key", "SCW", f"(?=[A-Z]{{0,16}}[0-9]){_U}{{17}}(?![A-Za-z0-9])"),
        ("Tailscale key", "tskey-", f"{_W}{{16,}}"),
        ("Prefect key", "pnu_", f"{_N}{{30,}}"),
        ("Pulumi token", "pul-", f"{_N}{{20,}}"),
        ("Kubernetes join token of Rancher", "token-", "[a-z0-9]{5}:[a-z0-9]{54}(?![a-z0-9])"),
        ("Nomad and Vault recovery token", "hvr.", f"{_W}{{20,}}"),
        ("Vault service token", "hvs.", f"{_W}{{20,}}"),
        ("Vault batch token", "hvb.", f"{_W}{{20,}}"),
        ("1Password service account token", "ops_eyJ", "[A-Za-z0-9+/=_-]{40,}"),
        ("1Password secret key", "A3-", f"{_U}{{6}}-(?:{_U}{{11}}|{_U}{{6}}-{_U}{{5}})-{_U}{{5}}-{_U}{{5}}-{_U}{{5}}"),
        ("age key", "AGE-SECRET-KEY-", "1[A-Z0-9]{20,}"),
    ),
    SecretForm(
        "cloud", "Doppler token", "dp.", r"dp[.](?:pt|ct|sa|st|scim|audit)[.]~(?:[a-z0-9_-]{2,35}[.])?[A-Za-z0-9]{20,}"
    ),
    SecretForm("cloud", "Azure client secret", "Q~", r"~[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    SecretForm("cloud", "Azure DevOps token", "AZDO", f"~{_N}{{76}}AZDO{_N}{{4}}(?![A-Za-z0-9])"),
    SecretForm("cloud", "Azure storage key", "+ASt", r"~[A-Za-z0-9+/]{76}[+]ASt[A-Za-z0-9+/]{6,}={0,2}"),
    SecretForm("cloud", "Terraform Cloud token", ".atlasv1.", f"~{_N}{{14}}[.]atlasv1[.]{_W}{{40,}}"),
    SecretForm("cloud", "Cloudflare origin key", "v1.0-", f"v1[.]0-~{_H}{{24}}-{_H}{{100,}}"),
)
_DATA = (
    *_heads(
        "databases",
        ("PlanetScale token", "pscale_tkn_", f"{_W}{{20,}}"),
        ("PlanetScale password", "pscale_pw_", f"{_W}{{20,}}"),
        ("PlanetScale OAuth token", "pscale_oauth_", f"{_W}{{20,}}"),
        ("Neon key", "napi_", f"{_N}{{30,}}"),
        ("Databricks token", "dapi", f"{_H}{{32}}(?:-[0-9])?"),
        ("Aiven password", "AVNS_", f"{_W}{{16,}}"),
        ("Airtable personal token", "pat", rf"{_N}{{14}}[.]{_H}{{40,}}"),
        ("Contentful token", "CFPAT-", f"{_W}{{40,}}"),
    ),
)
_CHAT = (
    *_heads(
        "chat and calls",
        ("Slack bot token", "xoxb-", "[A-Za-z0-9-]{10,}"),
        ("Slack user token", "xoxp-", "[A-Za-z0-9-]{10,}"),
        ("Slack configuration token", "xoxe", "[.-][A-Za-z0-9.-]{10,}"),
        ("Slack app token", "xapp-", "[A-Za-z0-9-]{10,}"),
        ("Slack workflow token", "xwfp-", "[A-Za-z0-9-]{10,}"),
        ("Slack refresh token", "xoxr-", "[A-Za-z0-9-]{10,}"),
        ("Slack workspace token", "xoxa-", "[A-Za-z0-9-]{10,}"),
        ("Slack other token", "xoxo-", "[A-Za-z0-9-]{10,}"),
        ("Slack session token", "xoxs-", "[A-Za-z0-9-]{10,}"),
        ("Slack browser token", "xoxc-", "[A-Za-z0-9-]{10,}"),
        ("Slack browser cookie", "xoxd-", "[A-Za-z0-9%+/=-]{10,}"),
        ("Twilio key", "SK", f"{_H}{{32}}(?![A-Za-z0-9])"),
    ),
    SecretForm("chat and calls", "Telegram bot token", ":AA", r"~[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    SecretForm(
        "chat and calls",
        "Discord bot token",
        ".",
        r"~[MNO]{1}(?=[A-Za-z]{0,26}[0-9])[A-Za-z0-9]{22,27}[.](?=[^.]{0,5}[A-Z0-9_-])[A-Za-z0-9_-]{6}"
        r"[.][A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
    ),
    SecretForm(
        "chat and calls",
        "Discord webhook",
        "/webhooks/",
        r"discord(?:app)?[.]com/api/webhooks/~[A-Za-z0-9/_-]{8,}",
        "webhook",
    ),
    SecretForm(
        "chat and calls",
        "Slack webhook",
        "hooks.slack.com/",
        r"hooks[.]slack[.]com/(?:services|workflows|triggers)/~[A-Za-z0-9/_-]{8,}",
        "webhook",
    ),
    SecretForm(
        "chat and calls", "Teams webhook", "/webhookb2/", r"office[.]com/webhookb2/~[A-Za-z0-9@/_-]{20,}", "webhook"
    ),
    SecretForm(
        "chat and calls",
        "Google Chat webhook",
        "chat.googleapis.com/",
        r"chat[.]googleapis[.]com/v1/spaces/~[A-Za-z0-9_-]+/messages\?[^\s\"'<>\\]{20,}",
        "webhook",
    ),
    SecretForm(
        "chat and calls",
        "Zapier webhook",
        "hooks.zapier.com/",
        r"hooks[.]zapier[.]com/hooks/catch/~[A-Za-z0-9/]{8,}",
        "webhook",
    ),
)
_PAYMENT = (
    *_heads(
        "payment",
        ("Stripe live key", "sk_live_", f"{_N}{{10,}}"),
        ("Stripe test key", "sk_test_", f"{_N}{{10,}}"),
        ("Stripe restricted live key", "rk_live_", f"{_N}{{10,}}"),
        ("Stripe restricted test key", "rk_test_", f"{_N}{{10,}}"),
        ("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]{10,}"),
        ("Square access token", "sq0atp-", f"{_W}{{20,}}"),
        ("Square OAuth secret", "sq0csp-", f"{_W}{{20,}}"),
        ("Square personal token", "EAAA", f"(?=[A-Za-z]{{0,48}}[0-9]){_W}{{50,}}"),
        ("Shopify access token", "shpat_", f"{_N}{{20,}}"),
        ("Shopify custom app token", "shpca_", f"{_N}{{20,}}"),
        ("Shopify private app token", "shppa_", f"{_N}{{20,}}"),
        ("Shopify shared secret", "shpss_", f"{_N}{{20,}}"),
        ("Braintree token", "access_token$", f"(?:production|sandbox)[$]{_N}{{10,20}}[$]{_H}{{32}}"),
        ("Plaid token", "access-", f"(?:sandbox|development|production)-{_UUID}"),
        ("Razorpay live key", "rzp_live_", f"{_N}{{14,}}"),
        ("Razorpay test key", "rzp_test_", f"{_N}{{14,}}"),
        ("Flutterwave key", "FLWSECK", f"[_-](?:TEST-)?{_N}{{12,}}(?:-X)?"),
        ("Mollie live key", "live_", f"(?=[A-Za-z]{{0,28}}[0-9]){_N}{{30}}(?![A-Za-z0-9])"),
        ("Paddle key", "pdl_", f"(?:live|sdbx)_apikey_{_N}{{20,}}_{_N}{{20,}}_{_N}{{3}}"),
        ("EasyPost key", "EZAK", f"{_N}{{54}}"),
        ("EasyPost test key", "EZTK", f"{_N}{{54}}"),
        ("Duffel token", "duffel_", f"(?:test|live)_{_W}{{40,}}"),
        ("Shippo token", "shippo_", f"(?:live|test)_{_H}{{40}}"),
    ),
)
_MAIL = (
    *_heads(
        "mail",
        ("Mailgun key", "key-", f"{_H}{{32}}(?![A-Za-z0-9])"),
        ("Brevo key", "xkeysib-", f"{_H}{{40,}}-{_N}{{16}}"),
        ("Brevo SMTP key", "xsmtpsib-", f"{_H}{{40,}}-{_N}{{16}}"),
        ("Resend key", "re_", f"(?=[A-Za-z0-9]{{8}}_{_N}{{20,}})(?=[A-Za-z_]{{0,30}}[0-9]){_N}{{8}}_{_N}{{20,}}"),
        ("MailerSend token", "mlsn.", f"{_H}{{40,}}"),
    ),
    SecretForm("mail", "SendGrid key", "SG.", r"SG[.]~[A-Za-z0-9_-]{16,64}[.][A-Za-z0-9_-]{16,}"),
    SecretForm("mail", "Mailchimp key", "-us", f"~{_H}{{32}}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    SecretForm(
        *("mail", "Mailgun sending key", "-", f"~{_H}{{32}}-{_H}{{8}}-{_H}{{8}}(?![A-Za-z0-9-])"),
        within=f"-{_H}{{8}}-{_H}{{8}}",
    ),
)
_WATCHING = (
    *_heads(
        "monitoring",
        ("New Relic user key", "NRAK-", f"{_U}{{20,}}"),
        ("New Relic insert key", "NRII-", f"{_W}{{20,}}"),
        ("New Relic query key", "NRIQ-", f"{_W}{{20,}}"),
        ("New Relic browser key", "NRJS-", f"{_H}{{19}}"),
        ("Grafana service account token", "glsa_", f"{_N}{{20,}}_{_H}{{8}}"),
        ("Grafana Cloud token", "glc_", "[A-Za-z0-9+/=]{32,}"),
        ("Sentry organisation token", "sntrys_", "[A-Za-z0-9+/=_-]{40,}"),
        ("Sentry user token", "sntryu_", f"{_H}{{40,}}"),
        ("Honeycomb ingest key", "hcaik_", f"{_N}{{30,}}"),
        ("PostHog personal key", "phx_", f"{_N}{{30,}}"),
        ("Dynatrace token", "dt0c01.", rf"{_U}{{24}}[.]{_U}{{64}}"),
        ("Logfire token", "pylf_v1_", f"[a-z]{{2,8}}_{_N}{{20,}}"),
        ("Axiom API token", "xaat-", _UUID),
        ("Axiom personal token", "xapt-", _UUID),
        ("LaunchDarkly SDK key", "sdk-", _UUID),
        ("LaunchDarkly API key", "api-", _UUID),
        ("ReadMe key", "rdme_", "[a-z0-9]{40,}"),
    ),
    SecretForm("monitoring", "New Relic licence key", "NRAL", f"~{_H}{{36}}NRAL(?![A-Za-z0-9])"),
)
_OFFICE = _heads(
    "office and design",
    ("Notion token", "ntn_", f"{_N}{{20,}}"),
    ("Notion integration secret", "secret_", f"(?=[A-Za-z]{{0,40}}[0-9]){_N}{{43}}(?![A-Za-z0-9_])"),
    ("Linear API key", "lin_api_", f"{_N}{{20,}}"),
    ("Linear OAuth token", "lin_oauth_", f"{_N}{{20,}}"),
    ("Figma personal token", "figd_", f"{_W}{{20,}}"),
    ("Figma OAuth token", "figo_", f"{_W}{{20,}}"),
    ("Dropbox token", "sl.", r"(?:u[.])?(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{60,}"),
    ("HubSpot token", "pat-", f"(?:na|eu|ap)[0-9]-{_UUID}"),
    ("ClickUp token", "pk_", f"[0-9]{{6,10}}_{_U}{{32}}"),
    ("Typeform token", "tfp_", f"{_W}{{40,}}"),
    ("Mapbox secret token", "sk.eyJ", r"[A-Za-z0-9_-]{20,}[.][A-Za-z0-9_-]{16,}"),
    ("Facebook token", "EAAC", f"(?=[A-Za-z]{{0,60}}[0-9]){_N}{{60,}}"),
    ("Asana token", "1/", "[0-9]{15,17}:[0-9a-f]{32}"),
    ("Frame.io token", "fio-u-", f"{_W}{{40,}}"),
    ("Adobe client secret", "p8e-", f"{_W}{{32}}(?![A-Za-z0-9_-])"),
    ("Nostr private key", "nsec1", "[a-z0-9]{58}(?![a-z0-9])"),
    ("Bitcoin extended private key", "xprv", f"{_N}{{100,}}"),
)
_TOKENS = (
    SecretForm(
        "tokens and keys",
        "private key in base64",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTi~(?:BSU0EgUFJJVkFUR|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVEU|BFTkNSWVBURUQg|BQR1AgUFJJ"
        "VkFUR|BEU0EgUFJJVkFUR)[A-Za-z0-9+/=]{20,}",
    ),
    SecretForm(
        "tokens and keys", "JSON web token", "eyJ", r"eyJ~[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]{8,}(?:[.][A-Za-z0-9_-]*)*"
    ),
    SecretForm(
        "tokens and keys",
        "password hash",
        "$",
        r"[$](?:[156y]|2[aby]|apr1|argon2(?:id?|d)|scrypt)[$]~[A-Za-z0-9./$=,+]{20,}",
        "password",
    ),
)

FORMS: tuple[SecretForm, ...] = (
    *_MODELS, *_CODE, *_CLOUD, *_DATA, *_CHAT, *_PAYMENT, *_MAIL, *_WATCHING, *_OFFICE, *_TOKENS,
)  # fmt: skip
