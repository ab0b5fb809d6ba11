"""What a model reads of a command that waits for input. Pure."""

from __future__ import annotations

from nacre.kept_command import Waiting


def how_to_answer(job_id: str, waiting: Waiting, *, shown: str = "") -> str:
    """Say that a job waits for input, and who can give it; a prompt that ends the shown output is not repeated."""
    known = not waiting.prompt or shown.rstrip().endswith(waiting.prompt.rstrip())
    asked = "It waits for input" if known else f"It waits for input: {waiting.prompt}"
    if waiting.hidden:
        return f"{asked} (what is typed stays hidden: a person answers, `nacre watch {job_id}`)"
    return f'{asked} (to answer: job {{"write": "{job_id}", "text": "…\\n"}})'


def how_to_see(job_id: str) -> str:
    """Say that a job reads single keys, and how its screen is read."""
    return f'It reads single keys from its terminal; to see it: job {{"read": "{job_id}", "screen": true}}'
