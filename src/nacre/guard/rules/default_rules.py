"""The rules of the default profile: what each is called and says, and the texts without which it cannot apply.

Facts only, so that the prefilter can read them without loading the rules themselves. A new default rule begins with
a row here; its check is in `guard/review.py`.
"""

from typing import Final, NamedTuple


class DefaultRule(NamedTuple):
    """One rule of the default profile."""

    name: str
    message: str
    needs: tuple[str, ...]
    """Regular expressions; a command in which nothing is expanded, and none of these is found, cannot concern it."""
    examples: tuple[str, ...]
    """Commands that it refuses or asks about; the tests hold the rule and the prefilter to them."""


REMOVAL: Final = DefaultRule(
    "no_dangerous_rm",
    "permission denied: this rm command could delete critical data (.git, home directory, or root). "
    "Specify the full path explicitly (no wildcards, ~, or $HOME)",
    ("rm",),
    ("rm -rf /", "grm -r .git"),
)
STAGING: Final = DefaultRule(
    "no_blind_git_add",
    "permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, "
    "specify files explicitly",
    ("git", "hub"),
    ("git add -A", "hub add ."),
)
PUSHING: Final = DefaultRule(
    "no_force_push",
    "permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, "
    "or push without force",
    ("git", "hub"),
    ("git push -f", "hub push --force"),
)
# Where one of these turns a text into a command, the programs of the other rules need not be spelled.
HIDDEN_SCRIPT: Final = DefaultRule(
    "no_hidden_script",
    "permission denied: a shell would run a text that this command makes in a way that cannot be checked. "
    "Write the commands out instead",
    (
        *("eval", "alias", "source", r"""(?:^|[\s;|&("'])\.[\s"']""", r"sh(?![A-Za-z0-9_])", "xargs", "parallel"),
        *("base(?:64|32)", "xxd", "openssl", "rev", r"""tr[\s"']""", "[Mm]ake"),
    ),
    ("echo em -ef / | m4 | sh", "echo cm0K | python3 -m base64 -d | bash", "eval $(echo abc | openssl enc -d -k x)"),
)
DEFAULT_RULES: Final = (REMOVAL, STAGING, PUSHING, HIDDEN_SCRIPT)
