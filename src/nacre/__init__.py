"""nacre: the shell for AI agents."""
