"""The forms that issuers gave their tokens: what each starts with, and what follows.

Pure data and one pass over it. A form is looked for only where one of its beginnings stands, and what follows is one
run of characters, so that the time is proportional to the text's length.
Source: each issuer's documentation of its token format; which kinds exist: the lists of gitleaks and detect-secrets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from bot.domain.text.linear_patterns import LinearPattern

VERSION: Final = 3
"""Rises with every change of what counts as a credential: what was stored under another version is read anew."""

PRIVATE_KEY: Final = "private key"
_MIN_KEY_CHARS: Final = 40
_MAX_CLOSED_KEY_CHARS: Final = 4_000
_MIN_JWT_HEADER: Final = 11
_MAX_JWT_PARTS: Final = 5


class Span(NamedTuple):
    """Where a credential stands in a text, and its kind."""

    start: int
    end: int
    kind: str


_A: Final = "[A-Za-z0-9]"
_W: Final = "[A-Za-z0-9_-]"
_H: Final = "[0-9a-fA-F]"
_B: Final = "[A-Za-z0-9+/=_-]"
_UUID: Final = rf"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}"

# kind, beginnings (one space apart), what follows. A part named `value` is all that is secret.
_BEGINNINGS: Final = (
    ("Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xox xapp-", r"[A-Za-z0-9.%/+-]{10,}"),
    ("Slack webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/+_-]{20,})"),
    (
        "Discord webhook",
        "discord.com/api/ discordapp.com/api/",
        rf"(?:v\d+/)?webhooks/\d{{5,20}}/(?P<value>{_W}{{20,}})",
    ),
    ("Teams webhook", "webhook.office.com/", r"webhookb2/(?P<value>[A-Za-z0-9@/-]{30,})"),
    ("Teams webhook", "outlook.office.com/webhook/", r"(?P<value>[A-Za-z0-9@/-]{30,})"),
    ("Zapier webhook", "hooks.zapier.com/hooks/catch/", r"(?P<value>[A-Za-z0-9/]{6,})"),
    ("IFTTT webhook", "maker.ifttt.com/trigger/", rf"[\w-]{{1,64}}/(?:json/)?with/key/(?P<value>{_W}{{16,}})"),
    (
        "Feishu webhook",
        "open.feishu.cn/open-apis/bot/ open.larksuite.com/open-apis/bot/",
        rf"v2/hook/(?P<value>{_W}{{20,}})",
    ),
    ("DingTalk webhook", "oapi.dingtalk.com/robot/send?access_token=", f"(?P<value>{_A}{{20,}})"),
    ("WeCom webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", f"(?P<value>{_W}{{20,}})"),
    ("Anthropic key", "sk-ant-", f"{_W}{{16,}}"),
    ("OpenRouter key", "sk-or-v1-", f"{_A}{{20,}}"),
    ("OpenAI key", "sk-", rf"(?=[A-Za-z_-]{{0,64}}\d)(?:(?:proj|svcacct|admin|None)-)?[\w-]{{0,64}}{_A}{{16}}[\w-]*"),
    ("Groq key", "gsk_", f"{_A}{{40,}}"),
    ("Perplexity key", "pplx-", f"{_A}{{32,}}"),
    ("Replicate token", "r8_", f"{_A}{{30,}}"),
    ("xAI key", "xai-", f"{_A}{{60,}}"),
    ("Fireworks key", "fw_", rf"(?=[A-Za-z]{{0,24}}\d)(?=[a-z0-9]{{0,24}}[A-Z]){_A}{{22,}}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_", "[A-Za-z0-9_]{30,}"),
    ("Langfuse key", "sk-lf- pk-lf-", f"{_W}{{30,}}"),
    ("Cerebras key", "csk-", f"{_A}{{40,}}"),
    ("NVIDIA key", "nvapi-", f"{_W}{{40,}}"),
    ("Pinecone key", "pcsk_", "[A-Za-z0-9_]{30,}"),
    ("Tavily key", "tvly-", f"{_W}{{20,}}"),
    ("Hugging Face token", "hf_ api_org_", f"{_A}{{30,}}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_A}{{30,}}"),
    ("GitHub token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    (
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glsoat- glft- glimt- glagent- glcbt- gloas- glptt- glffct- glwt- glsi-",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    ("GitLab token", "GR1348941", f"{_W}{{20,}}"),
    ("GitLab session", "_gitlab_session=", rf"(?P<value>{_A}{{20,}})"),
    ("Bitbucket password", "ATBB", f"{_A}{{28,}}"),
    ("Atlassian token", "ATATT3 ATCTT3 ATSTT3", r"[A-Za-z0-9_=-]{30,}"),
    ("AWS access key", "AKIA ASIA ABIA ACCA AIDA AROA", "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("AWS Bedrock key", "ABSK", f"{_B}{{100,}}"),
    ("AWS Bedrock key", "bedrock-api-key-", f"{_B}{{40,}}"),
    ("Google key", "AIza", f"{_W}{{35,}}"),
    ("Google token", "ya29.", r"[A-Za-z0-9_.-]{20,}"),
    ("Google secret", "GOCSPX-", f"{_W}{{20,}}"),
    ("Google token", "1//0 1//1", f"{_W}{{40,}}"),
    ("Google HMAC key", "GOOG1E GOOG4", "[A-Z0-9]{20,}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", f"{_A}{{40,}}"),
    ("DigitalOcean Spaces key", "DO00", "[A-Z0-9]{16,}"),
    ("Vault token", "hvs. hvb. hvr.", f"{_W}{{24,}}"),
    ("Vault token", "s.", rf"(?=[A-Za-z]{{0,23}}\d)(?=[a-z0-9]{{0,23}}[A-Z]){_A}{{24}}(?![A-Za-z0-9_.(])"),
    ("Databricks token", "dapi dkea dose", rf"{_H}{{32}}(?:-\d)?(?![A-Za-z0-9])"),
    ("Shopify token", "shpat_ shpss_ shpca_ shppa_ shptka_ shpua_", f"{_A}{{28,}}"),
    ("Grafana token", "glsa_ glc_", r"[A-Za-z0-9_+/=-]{32,}"),
    ("Grafana key", "eyJrIjoi", r"[A-Za-z0-9+/=]{40,}"),
    ("New Relic key", "NRAK- NRAA- NRJS- NRII- NRIQ- NRRA- NRSP- NRBR-", f"{_W}{{19,}}"),
    ("Docker token", "dckr_pat_ dckr_oat_", f"{_W}{{20,}}"),
    ("Notion token", "secret_", f"{_A}{{40,}}"),
    ("Notion token", "ntn_", f"{_A}{{40,}}"),
    ("Sentry token", "sntrys_ sntryu_ sntrya_ sntryi_", r"[A-Za-z0-9+/=_-]{32,}"),
    ("Linear token", "lin_api_ lin_oauth_", f"{_A}{{32,}}"),
    ("Figma token", "figd_ figo_ figu_ figur_", f"{_W}{{32,}}"),
    ("Airtable token", "pat", rf"{_A}{{14}}\.{_H}{{64}}"),
    ("Harness token", "pat. sat.", rf"{_W}{{20,}}\.{_A}{{20,}}\.{_A}{{16,}}"),
    ("HubSpot token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    ("Cloudflare key", "v1.0-", rf"{_H}{{24}}-{_H}{{100,}}"),
    ("Cloudflare token", "cfat_ cfut_ cfk_", f"{_W}{{32,}}"),
    ("Heroku token", "HRKU-", f"{_W}{{32,}}"),
    ("Mailgun key", "key- pubkey-", rf"{_H}{{32}}(?![A-Za-z0-9])"),
    ("Mandrill key", "md-", rf"(?=[A-Za-z_-]{{0,22}}\d){_W}{{22}}(?![A-Za-z0-9_-])"),
    ("PlanetScale token", "pscale_pw_ pscale_tkn_ pscale_oauth_ pscale_app_", r"[A-Za-z0-9_=.-]{30,}"),
    ("Postman key", "PMAK-", rf"{_A}{{24}}-{_A}{{30,}}"),
    ("Pulumi token", "pul-", f"{_H}{{40,}}"),
    ("package registry token", "rubygems_", f"{_H}{{40,}}"),
    ("Snyk token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9_.-]{30,}"),
    ("Square token", "sq0atp- sq0csp- sq0idp- sq0acp-", f"{_W}{{20,}}"),
    ("Square token", "EAAA", f"{_W}{{44,}}"),
    ("Facebook token", "EAAC EAAM EAAG EAAB EAAE EAAD EAAJ", f"{_A}{{80,}}"),
    ("Instagram token", "IGQV IGAA", f"{_W}{{80,}}"),
    ("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}"),
    ("package registry token", "npm_", f"{_A}{{36,}}"),
    ("package registry token", "pypi-AgE pypi-AgN", f"{_W}{{40,}}"),
    ("package registry token", "cio", rf"(?=[A-Za-z]{{0,31}}\d)(?=[a-z0-9]{{0,31}}[A-Z]){_A}{{32}}(?![A-Za-z0-9_])"),
    ("package registry token", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("package registry token", "CLOJARS_", f"{_A}{{50,}}"),
    ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_org_test_", f"{_A}{{16,}}"),
    ("webhook secret", "whsec_", f"{_B}{{24,}}"),
    ("Supabase token", "sbp_", "[A-Za-z0-9_]{36,}"),
    ("Supabase key", "sb_secret_ sb_publishable_", f"{_W}{{20,}}"),
    ("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", f"{_A}{{24,}}"),
    ("Vercel token", "vercel_blob_rw_", "[A-Za-z0-9_]{30,}"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", f"{_A}{{32,}}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", r"[A-Za-z0-9_.-]{32,}"),
    ("Dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s04. dt0s08. dt0s16.", r"[A-Z0-9]{8,}\.[A-Z0-9]{40,}"),
    ("EasyPost key", "EZAK EZTK", f"{_A}{{50,}}"),
    ("Flutterwave key", "FLWSECK- FLWSECK_TEST- FLWPUBK- FLWPUBK_TEST-", f"{_W}{{12,}}"),
    ("LaunchDarkly key", "sdk- api- mob- rel-", _UUID),
    ("Mapbox token", "sk.eyJ pk.eyJ tk.eyJ", rf"{_W}{{40,}}\.{_W}{{18,}}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    ("Prefect key", "pnu_ pnb_", f"{_A}{{32,}}"),
    ("ReadMe key", "rdme_", f"{_A}{{60,}}"),
    ("Scalingo token", "tk-us-", f"{_W}{{40,}}"),
    ("Brevo key", "xkeysib- xsmtpsib-", f"{_W}{{60,}}"),
    ("Shippo token", "shippo_live_ shippo_test_", f"{_A}{{32,}}"),
    ("Tailscale key", "tskey-", rf"(?:[a-z]{{2,10}}-)?{_A}{{6,}}(?:-{_A}{{12,}})?"),
    ("Typeform token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    ("Yandex key", "AQVN", f"{_W}{{34,}}"),
    ("Yandex token", "y0_ y1_ y2_ y3_", f"{_W}{{40,}}"),
    ("Yandex token", "t1.", rf"{_W}{{20,}}={{0,2}}\.{_W}{{80,}}"),
    ("Yandex key", "YCAJE YCP YCM", f"{_W}{{20,}}"),
    ("Yandex key", "YC", rf"(?=[A-Za-z_-]{{0,37}}\d)(?=[a-z0-9_-]{{0,37}}[A-Z]){_W}{{38}}(?![A-Za-z0-9_-])"),
    ("SendGrid key", "SG.", rf"{_W}{{16,}}\.{_W}{{16,}}"),
    ("1Password token", "ops_eyJ", f"{_B}{{100,}}"),
    ("1Password key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{5,11}(?:-[A-Z0-9]{5,6}){2,4}"),
    ("Adobe secret", "p8e- p4e-", f"{_W}{{28,}}"),
    ("Alibaba key", "LTAI", rf"{_A}{{12,}}"),
    ("Tencent key", "AKID", rf"{_A}{{32,}}"),
    ("Artifactory key", "AKCp", f"{_A}{{60,}}"),
    ("Artifactory token", "cmVmd", f"{_A}{{55,}}"),
    ("ClickHouse key", "4b1d", rf"(?=[a-z0-9]{{0,30}}[A-Z]){_A}{{38}}(?![A-Za-z0-9])"),
    ("Duffel token", "duffel_test_ duffel_live_", f"{_W}{{40,}}"),
    ("Fly.io token", "fo1_ fm1r_ fm1a_ fm2_", f"{_B}{{40,}}"),
    ("Frame.io token", "fio-u-", f"{_W}{{50,}}"),
    ("Infracost key", "ico-", rf"(?=[A-Za-z]{{0,30}}\d){_A}{{32}}(?![A-Za-z0-9])"),
    ("Dropbox token", "sl. sl.u.", f"{_W}{{100,}}"),
    ("Octopus key", "API-", r"[A-Z0-9]{25,}"),
    ("OpenShift token", "sha256~", f"{_W}{{43,}}"),
    ("Sonar token", "squ_ sqp_ sqa_", f"{_A}{{36,}}"),
    ("Sourcegraph token", "sgp_", rf"(?:(?:{_H}{{16}}|local)_)?{_H}{{40}}"),
    ("Buildkite token", "bkua_ bkaj_ bkct_ bkpt_", f"{_A}{{32,}}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{40,}"),
    ("Contentful token", "CFPAT-", f"{_W}{{40,}}"),
    ("Razorpay key", "rzp_live_ rzp_test_", f"{_A}{{14,}}"),
    ("Resend key", "re_", rf"(?=[A-Za-z_]{{0,30}}\d){_A}{{8}}_{_A}{{20,}}"),
    ("ngrok token", "ngrok_", rf"(?=[A-Za-z]{{0,30}}\d){_A}{{30,}}"),
    ("Neon key", "napi_", f"{_A}{{50,}}"),
    ("Render key", "rnd_", rf"(?=[A-Za-z]{{0,26}}\d){_A}{{26,}}"),
    ("Defined key", "dnkey-", f"{_W}{{60,}}"),
    ("Authress key", "authress_ scauth_", r"[A-Za-z0-9_.+/=-]{40,}"),
    ("Authress key", "sc_ ext_", rf"[a-z0-9]{{5,30}}\.[a-z0-9]{{4,6}}\.acc[_-][a-z0-9-]{{10,32}}\.{_B}{{30,}}"),
    ("Adafruit key", "aio_", rf"(?=[A-Za-z]{{0,27}}\d){_A}{{28}}(?![A-Za-z0-9_])"),
    ("Amazon MWS token", "amzn.mws.", _UUID),
    ("ElevenLabs key", "sk_", rf"{_H}{{48}}(?![A-Za-z0-9])"),
    ("Weights & Biases key", "wandb_v1_", f"{_W}{{40,}}"),
    ("JSON web token", "ZXlKaGJHY2lP ZXlKMGVYQWlP ZXlKcmFXUWlP ZXlKbGJtTWlP", f"{_B}{{40,}}"),
    ("SettleMint token", "sm_aat_ sm_pat_ sm_sat_", f"{_A}{{16,}}"),
    ("42 secret", "s-s4t2", f"{_W}{{40,}}"),
    ("Aiven token", "AVNS_", f"{_W}{{16,}}"),
    ("Apify token", "apify_api_", f"{_A}{{30,}}"),
    ("Axiom token", "xaat- xapt-", _UUID),
    ("Checkly key", "cu_", rf"{_H}{{32}}(?![A-Za-z0-9])"),
    ("Deno token", "ddp_ ddo_", f"{_A}{{36}}"),
    ("Hex token", "hxtp_", f"{_W}{{30,}}"),
    ("Honeycomb key", "hcaik_ hcxik_ hcbik_ hcxlk_ hcalk_", f"{_A}{{40,}}"),
    ("PostHog key", "phx_ phc_", f"{_A}{{40,}}"),
    ("Paddle key", "pdl_live_ pdl_sdbx_", "[A-Za-z0-9_]{40,}"),
    ("Polar token", "polar_oat_ polar_pat_", f"{_W}{{30,}}"),
    ("Trigger.dev key", "tr_dev_ tr_prod_ tr_pat_", f"{_A}{{18,}}"),
    ("Elastic key", "essu_", f"{_B}{{40,}}"),
    (
        "password hash",
        "$apr1$ $1$ $5$ $6$ $y$ $7$ $gy$",
        r"(?P<value>(?:[a-z0-9]{1,8}=?\d{0,9}\$|j[A-Za-z0-9./]{1,8}\$)?[A-Za-z0-9./]{1,22}\$[A-Za-z0-9./]{20,})",
    ),
    ("password hash", "$2a$ $2b$ $2x$ $2y$", r"\d\d\$(?P<value>[A-Za-z0-9./]{53})"),
    (
        "password hash",
        "$argon2id$ $argon2i$ $argon2d$ $scrypt$",
        r"[A-Za-z0-9=,]{1,60}(?:\$[a-z0-9=,]{1,60})?\$(?P<value>[A-Za-z0-9+/=$]{20,})",
    ),
    (
        "password hash",
        "pbkdf2_sha256$ pbkdf2_sha1$ bcrypt_sha256$ scrypt$",
        r"\d{1,9}\$(?P<value>[A-Za-z0-9+/=$.]{20,})",
    ),
    ("password hash", "{SHA} {SSHA} {SSHA256} {SSHA512} {PBKDF2}", r"(?P<value>[A-Za-z0-9+/=.$]{20,})"),
)

# Forms without a beginning of their own: what must stand somewhere in the text, then the whole form, bounded.
_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F][0-9A-F]))"
_SHAPES: Final = tuple(
    (kind, needle, re.compile(pattern))
    for kind, needle, pattern in (
        ("Azure client secret", "Q~", r"(?<![\w.~-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,40}"),
        ("Azure DevOps token", "AZDO", rf"{_START}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}"),
        ("Azure key", "Az", rf"{_START}[A-Za-z0-9_+/-]{{40,60}}Az(?:Fu|Se|Ca|IoT)[A-Za-z0-9_+/-]{{4,12}}={{0,2}}"),
        (
            "Azure key",
            "+A",
            r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,90}\+(?:ASt|ACR|AMC|AEh|ARm|ASb|AIo)[A-Za-z0-9+/]{4,8}={0,2}",
        ),
        ("Azure key", "ACDb", rf"{_START}[A-Za-z0-9+/]{{70,80}}ACDb[A-Za-z0-9+/]{{6}}={{0,2}}"),
        (
            "account key",
            LinearPattern("[A-Za-z0-9+/]{20}=="),
            r"(?<![A-Za-z0-9+/=])(?=[a-z0-9/+]{0,80}[A-Z])(?=[A-Za-z/+]{0,80}[0-9])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])",
        ),
        ("New Relic key", "NRAL", rf"{_START}[0-9a-f]{{36}}(?:FFFF)?NRAL"),
        ("Twilio key", "SK", rf"{_START}SK[0-9a-f]{{32}}(?![A-Za-z0-9])"),
        ("Twilio account", LinearPattern("AC[0-9a-f]{32}"), rf"{_START}AC[0-9a-f]{{32}}(?![A-Za-z0-9])"),
        (
            "Discord token",
            LinearPattern(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),
            rf"{_START}[MNO][A-Za-z0-9_-]{{22,28}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}(?![A-Za-z0-9_.-])",
        ),
        ("Discord token", "mfa.", rf"{_START}mfa\.[A-Za-z0-9_-]{{80,96}}"),
        (
            "Mailgun key",
            LinearPattern("[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}"),
            rf"{_START}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![A-Za-z0-9-])",
        ),
        ("Mailchimp key", "-us", rf"{_START}[0-9a-f]{{32}}-us\d{{1,2}}(?![A-Za-z0-9])"),
        ("Terraform token", ".atlasv1.", rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,80}}"),
        ("MaxMind key", "_mmk", rf"{_START}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk"),
        ("Telegram token", ":AA", r"(?<![0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,40}"),
        ("Firebase key", ":APA91b", rf"{_START}AAAA[A-Za-z0-9_-]{{7}}:APA91b[A-Za-z0-9_-]{{100,160}}"),
        (
            "Asana token",
            LinearPattern("[0-9]:[0-9a-f]{32}"),
            r"(?<![0-9./])[12]/\d{13,19}(?:/\d{13,19})?:[0-9a-f]{32}(?![0-9a-f])",
        ),
        ("Convex key", "|", r"(?<![\w-])(?:prod|dev|preview):[a-z0-9-]{3,60}\|(?P<value>[A-Za-z0-9+/=]{40,200})"),
        (
            "Upstash token",
            "ASQg",
            rf"{_START}A[A-Za-z0-9+/]{{3}}ASQg[A-Za-z0-9+/]{{40,80}}={{0,2}}",
        ),
        ("PayPal token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
        (
            "PuTTY key",
            "Private-Lines:",
            r"(?<=Private-Lines: )\d{1,3}\s{1,4}(?:[A-Za-z0-9+/=]{1,76}\s{1,2}){1,120}"
            r"(?:Private-MAC: [0-9a-f]{40,64})?",
        ),
        (
            "Ansible vault",
            "$ANSIBLE_VAULT;",
            r"(?<=\$ANSIBLE_VAULT;)[\d.]{3,5};[A-Z0-9]{3,8}(?:;[\w-]{1,40})?(?:\\n|\s){1,8}[0-9a-f]{16}[0-9a-f\s]*+",
        ),
        ("Sentry DSN", "@", r"https?://(?P<value>[0-9a-f]{32})(?::[0-9a-f]{32})?@[A-Za-z0-9.-]{3,100}/\d{1,20}"),
        ("token", "@", r"https?://(?P<value>(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{20,128})@(?=[A-Za-z0-9.-]{3,100})"),
    )
)


# kind, how many characters its beginning has, what follows that
_Row = tuple[str, int, re.Pattern[str]]


def _by_beginning() -> dict[str, tuple[_Row, ...]]:
    """Return for each beginning the forms that may follow it, those of a beginning inside it last."""
    rows: dict[str, list[_Row]] = {}
    for kind, beginnings, follows in _BEGINNINGS:
        pattern = re.compile(follows)
        for beginning in beginnings.split(" "):
            rows.setdefault(beginning, []).append((kind, len(beginning), pattern))
    nested = {one: sorted((other for other in rows if one.startswith(other)), key=len, reverse=True) for one in rows}
    return {one: tuple(row for other in others for row in rows[other]) for one, others in nested.items()}


_FORMS: Final = _by_beginning()
_ANY_BEGINNING: Final = LinearPattern("|".join(map(re.escape, sorted(_FORMS, key=len, reverse=True))))
_AT_START: Final = re.compile(_START)
_JWT_PART: Final = re.compile(r"[A-Za-z0-9_-]*+")
_KEY_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{40}")
_KEY_BODY: Final = re.compile(
    r"[\s\\nr\"'+,>#*/]{1,40}(?:[A-Z][A-Za-z-]{1,20}: [^\\\n]{0,80}(?:\\r)?(?:\\n|\n)[\s\\nr\"'+,]{0,8}){0,4}"
    r"[A-Za-z0-9+/=]{12}"
)


def issued(text: str) -> Iterator[Span]:
    """Yield where `text` holds a credential that its own form gives away."""
    yield from _begun(text)
    yield from _shaped(text)
    yield from _web_tokens(text)
    yield from _private_keys(text)


def _begun(text: str) -> Iterator[Span]:
    done: dict[int, int] = {}  # how far each form has read: what it read once it does not read again
    for start, end in _ANY_BEGINNING.spans(text):
        for kind, size, follows in _FORMS[text[start:end]] if _AT_START.match(text, start) else ():
            match = follows.match(text, start + size) if start >= done.get(id(follows), 0) else None
            if match:
                done[id(follows)] = match.end()
                yield Span(match.start("value") if "value" in follows.groupindex else start, match.end(), kind)


def _shaped(text: str) -> Iterator[Span]:
    for kind, needle, pattern in _SHAPES:
        if needle in text if isinstance(needle, str) else needle.is_in(text):
            for match in pattern.finditer(text):
                yield Span(*match.span("value" if "value" in pattern.groupindex else 0), kind)


def _web_tokens(text: str) -> Iterator[Span]:
    """Yield the JSON web tokens: a header, and a payload that is another object or four parts of an encrypted one."""
    start = text.find("eyJ")
    while start >= 0:
        ends = [_part_end(text, start)]
        while len(ends) < _MAX_JWT_PARTS and text.startswith(".", ends[-1]):
            ends.append(_part_end(text, ends[-1] + 1))
        is_token = ends[0] - start >= _MIN_JWT_HEADER and len(ends) > 1
        if is_token and (text.startswith("eyJ", ends[0] + 1) or _is_encrypted(text, start, ends)):
            yield Span(start, ends[-1], "JSON web token")
            ends = ends[-1:]
        start = text.find("eyJ", ends[0])


def _is_encrypted(text: str, start: int, ends: list[int]) -> bool:
    """Whether five parts are an encrypted token's and no name with dots: long ones, with digits in the first."""
    is_start = start == 0 or not text[start - 1].isalnum()
    is_long = len(ends) == _MAX_JWT_PARTS and ends[-1] - ends[2] >= _MIN_KEY_CHARS
    return is_start and is_long and any(map(str.isdigit, text[start : min(ends[0], start + _MIN_KEY_CHARS)]))


def _part_end(text: str, start: int) -> int:
    match = _JWT_PART.match(text, start)
    assert match is not None
    return match.end()


def _private_keys(text: str) -> Iterator[Span]:
    """Yield the keys in armour; one whose end is not shown reaches to the end of the text."""
    if "PRIVATE KEY" not in text:
        return
    ends = [match.end() for match in _KEY_END.finditer(text)]
    done = 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        at = bisect_left(ends, begin.end())
        end = ends[at] if at < len(ends) else len(text)
        is_closed = at < len(ends) and end <= begin.end() + _MAX_CLOSED_KEY_CHARS
        if _KEY_BODY.match(text, begin.end()) or (is_closed and _KEY_LINE.search(text, begin.end(), end)):
            done = end
            yield Span(begin.start(), end, PRIVATE_KEY)
