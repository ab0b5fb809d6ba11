"""The guard's own rules: what each is called, says and decides, and the texts without which it cannot apply.

Facts only, so that the prefilter can read them without loading the rules themselves. A new rule begins with a row
here and its name in `settings.RuleName`; its check is in `guard/review.py`.
"""

from typing import Final, NamedTuple

from nacre.settings import Decision, RuleName


class DefaultRule(NamedTuple):
    """One rule that every profile knows."""

    name: RuleName
    message: str
    """What would happen, and the safe alternative; never a setting, nor a spelling that would pass."""
    needs: tuple[str, ...]
    """Regular expressions; a command in which nothing is expanded, and none of these is found, cannot concern it."""
    examples: tuple[str, ...]
    """Commands that it refuses or asks about; the tests hold the rule and the prefilter to them."""
    decision: Decision = "deny"
    """What it decides where neither the user nor the contract says otherwise."""
    permission_message: str | None = None
    """What it says after `permission denied:`, if not the message."""


REMOVAL: Final = DefaultRule(
    "no_dangerous_rm",
    "this rm could delete critical data (.git, a home or system directory, or all of the current one). "
    "Remove only what you mean, each file or directory by its name",
    ("rm",),
    ("rm -rf /", "grm -r .git"),
    permission_message="this rm command could delete critical data (.git, home directory, or root). "
    "Specify the full path explicitly (no wildcards, ~, or $HOME)",
)
STAGING: Final = DefaultRule(
    "no_blind_git_add",
    "blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, "
    "specify files explicitly",
    ("git", "hub"),
    ("git add -A", "hub add ."),
    "allow",
)
PUSHING: Final = DefaultRule(
    "no_force_push",
    "git push --force is not allowed. Use --force-with-lease for safer force pushes, or push without force",
    ("git", "hub"),
    ("git push -f", "hub push --force"),
)
DEVICE: Final = DefaultRule(
    "no_device_write",
    "this would format, wipe or overwrite a disk, and nothing brings its data back. Work on an image file, or leave "
    "the disk to the user",
    (
        r"/dev(?:(?![\w/.-])|/(?!(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd/\d+)(?![\w/])))",
        *("mkfs", "mke2fs", "mkswap", "mkdosfs", "mkntfs", "newfs", "wipefs", "blkdiscard", "diskutil", "of="),
    ),
    ("mkfs.ext4 /dev/sdb1", "dd if=a.iso of=/dev/sda", "cat a.iso > /dev/nvme0n1", "wipefs -a /dev/sda"),
)
BOMB: Final = DefaultRule(
    "no_fork_bomb",
    "this starts itself again without end, until the machine stops. Give the recursion an end, and run a bounded "
    "number of processes",
    (r"\(\s*\)", "function", "fork"),
    ("f() ( f | f & ) ; f", "perl -e 'fork while fork'"),
)
PERMISSIONS: Final = DefaultRule(
    "no_system_permissions",
    "this changes the owner or the mode of everything in a system directory, and nothing brings the old ones back. "
    "Change only the files that you mean, each by its name",
    ("chmod", "chown", "chgrp", "setfacl", "chattr"),
    ("chmod -R 777 /", "chown -R me /usr"),
)
# Where one of these turns a text into a command, the programs of the other rules need not be spelled.
HIDDEN_SCRIPT: Final = DefaultRule(
    "no_hidden_script",
    "a shell would run a text that this command makes in a way that cannot be checked. Write the commands out instead",
    (
        *("eval", "alias", "source", r"""(?:^|[\s;|&("'])\.[\s"']""", r"sh(?![A-Za-z0-9_])", "xargs", "parallel"),
        *("base(?:64|32)", "xxd", "openssl", "rev", r"""tr[\s"']""", "[Mm]ake"),
    ),
    ("echo em -ef / | m4 | sh", "echo cm0K | python3 -m base64 -d | bash", "eval $(echo abc | openssl enc -d -k x)"),
    "ask",
)
DEFAULT_RULES: Final = (REMOVAL, STAGING, PUSHING, DEVICE, BOMB, PERMISSIONS, HIDDEN_SCRIPT)
