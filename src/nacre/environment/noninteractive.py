"""Settings that keep programs from asking, paging, editing or drawing progress bars.

No command of ours has a person behind it (P7). The list is data; whoever needs another value passes it with the call,
which wins. A run on a terminal that a person watches does not use it.
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
        # A bare name: ssh searches PATH, and the place of `false` differs between systems.
        "SSH_ASKPASS": "false",
        # clap reads CI as a strict boolean, so `1` is refused by many programs written in Rust.
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
    """Give the settings, read-only."""
    return _DEFAULTS
