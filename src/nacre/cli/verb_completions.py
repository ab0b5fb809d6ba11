"""`nacre completions`: prints completions for a shell, or the man page; both come from the parsers of the verbs."""

from __future__ import annotations

import argparse

from nacre.cli.command_tree import command_tree
from nacre.cli.completion_scripts import bash, fish, zsh
from nacre.cli.man_page import man_page

EPILOG = """\
examples:
  nacre completions bash >~/.local/share/bash-completion/completions/nacre
  nacre completions zsh >~/.zfunc/_nacre                      where $fpath has ~/.zfunc
  nacre completions fish >~/.config/fish/completions/nacre.fish
  nacre completions man >~/.local/share/man/man1/nacre.1
"""

RENDERERS = {"bash": bash, "zsh": zsh, "fish": fish, "man": man_page}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(RENDERERS), help="the shell; man is the man page")


def main(namespace: argparse.Namespace) -> int:
    print(RENDERERS[namespace.shell](command_tree()), end="")
    return 0
