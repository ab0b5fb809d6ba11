"""Variables that keep programs from prompting, paging, editing or drawing progress bars (P7).

A variable of the call wins over these. A terminal that a person watches does not use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nacre.environment.secret_names import words

_PAGERS = words("""
    PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER GH_PAGER GLAB_PAGER PSQL_PAGER MYSQL_PAGER
    HOMEBREW_PAGER
""")

_DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(sorted(_PAGERS), "cat"),
        "AWS_PAGER": "",
        "LESS": "FRX",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",
        **dict.fromkeys(("GIT_EDITOR", "VISUAL", "EDITOR"), "true"),
        "GIT_TERMINAL_PROMPT": "0",
        # A bare name: ssh searches PATH, and systems have `false` in different directories.
        "SSH_ASKPASS": "false",
        # clap reads CI as a strict boolean, so many Rust programs refuse `1`.
        "CI": "true",
        "AGENT": "1",
        "GPG_TTY": "not a tty",
        "npm_config_yes": "true",
        "npm_config_update_notifier": "false",
        "npm_config_fund": "false",
        "npm_config_audit": "false",
        "npm_config_progress": "false",
        "PNPM_DISABLE_SELF_UPDATE_CHECK": "true",
        "PNPM_UPDATE_NOTIFIER": "false",
        "YARN_ENABLE_TELEMETRY": "0",
        "YARN_ENABLE_PROGRESS_BARS": "0",
        "CARGO_TERM_PROGRESS_WHEN": "never",
        "DEBIAN_FRONTEND": "noninteractive",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "TF_INPUT": "0",
        "TF_IN_AUTOMATION": "1",
        "GH_PROMPT_DISABLED": "1",
        "COMPOSER_NO_INTERACTION": "1",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    }
)


def noninteractive_defaults() -> Mapping[str, str]:
    """Return the variables, read-only."""
    return _DEFAULTS
