"""Formats of credentials that are recognisable by themselves, whatever the variable is called that holds them.

Every entry begins with a literal. Nothing here guesses from randomness, because commit ids and store hashes look just
as random.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# label: pattern after a border that is no letter or digit
KNOWN_TOKENS: Mapping[str, str] = {
    "anthropic": r"sk-ant-[A-Za-z0-9_-]{16,200}",
    "openai": r"sk-(?:(?:admin|proj|svcacct)-[A-Za-z0-9_-]{16,200}|(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,200})",
    "github": r"gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{16,255}",
    "gitlab": r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{16,200}",
    "slack": r"xox[abeoprs]-[A-Za-z0-9-]{16,250}|xapp-[0-9]-[A-Za-z0-9-]{16,250}",
    "aws": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "google": r"AIza[A-Za-z0-9_-]{30,60}|ya29\.[A-Za-z0-9_-]{20,250}|GOCSPX-[A-Za-z0-9_-]{20,60}",
    "npm": r"npm_(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{30,60}",
    "pypi": r"pypi-A[A-Za-z0-9_-]{16,250}",
    "huggingface": r"hf_[A-Za-z0-9]{20,60}",
    "stripe": r"[sr]k_live_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9]{24,60}",
    "vault": r"hv[sbr]\.[A-Za-z0-9_-]{20,250}",
    "docker": r"dckr_[po]at_[A-Za-z0-9_-]{16,60}",
    "sendgrid": r"SG\.[A-Za-z0-9_-]{17,64}(?:\.[A-Za-z0-9_-]{16,64})?",
    "age": r"AGE-SECRET-KEY-1[A-Z0-9]{16,80}",
    "digitalocean": r"do[opr]_v1_[a-f0-9]{40,80}",
    "shopify": r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,60}",
    "databricks": r"dapi[a-f0-9]{32}(?![A-Za-z0-9])",
    "linear": r"lin_api_[A-Za-z0-9]{24,60}",
    "notion": r"ntn_[A-Za-z0-9]{30,60}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])",
    "fly": r"fo1_[A-Za-z0-9_-]{30,80}|fm[12][ar]?_[A-Za-z0-9_-]{30,250}",
    "figma": r"figd_[A-Za-z0-9_-]{24,60}",
    "grafana": r"glsa_[A-Za-z0-9_]{24,60}|glc_[A-Za-z0-9]{30,250}",
    "newrelic": r"NRAK-[A-Z0-9]{20,40}",
    "doppler": r"dp\.(?:pt|st|ct|sa|scim)\.[A-Za-z0-9._-]{30,80}",
    "pulumi": r"pul-[a-f0-9]{40}(?![A-Za-z0-9])",
    "rubygems": r"rubygems_[a-f0-9]{40,60}",
    "groq": r"gsk_[A-Za-z0-9]{30,80}",
    "xai": r"xai-[A-Za-z0-9]{40,100}",
    "perplexity": r"pplx-[A-Za-z0-9]{30,80}",
    "replicate": r"r8_[A-Za-z0-9]{30,60}",
    "tailscale": r"tskey-[a-z]{3,10}-[A-Za-z0-9-]{16,80}",
    "atlassian": r"ATATT3[A-Za-z0-9_-]{30,250}",
    "sentry": r"sntry[su]_[A-Za-z0-9_-]{30,250}",
    "planetscale": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{24,80}",
    "supabase": r"sbp_[a-f0-9]{40}(?![A-Za-z0-9])",
    "langsmith": r"lsv2_(?:pt|sk)_[a-f0-9]{20,40}",
    "brevo": r"xkeysib-[a-f0-9]{40,80}",
    "postman": r"PMAK-[a-f0-9]{20,30}-[a-f0-9]{20,40}",
    "circleci": r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,80}",
    "mailgun": r"key-[a-f0-9]{32}(?![A-Za-z0-9])",
}

TOKEN_SOURCE = (
    "(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<{label}>{source})" for label, source in KNOWN_TOKENS.items()) + ")"
)

# What each of them begins with, to tell the few values worth a closer look.
BEGINNINGS = (
    "sk- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- "
    "glffct- xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- AKIA ASIA ABIA ACCA AIza ya29. GOCSPX- npm_ pypi-A hf_ "
    "sk_live_ rk_live_ whsec_ hvs. hvb. hvr. dckr_ SG. AGE-SECRET-KEY-1 doo_v1_ dop_v1_ dor_v1_ shpat_ shpca_ shppa_ "
    "shpss_ dapi lin_api_ ntn_ secret_ fo1_ fm1_ fm1a_ fm1r_ fm2_ fm2a_ fm2r_ figd_ "
    "glsa_ glc_ NRAK- dp. pul- rubygems_ gsk_ xai- pplx- r8_ tskey- ATATT3 sntrys_ "
    "sntryu_ pscale_ sbp_ lsv2_ xkeysib- PMAK- CCIPAT_ CCIPRJ_ key-"
)


def token_label(value: str) -> str | None:
    """Return the provider whose token occurs in a value."""
    # The whole table takes milliseconds to compile, and most environments hold nothing that begins like a token.
    if not any(beginning in value for beginning in BEGINNINGS.split()):
        return None
    match = re.search(TOKEN_SOURCE, value)
    return match.lastgroup if match else None
