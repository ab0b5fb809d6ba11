"""Variables that make well-known tools print less where a model reads (`output.quiet_tools`).

What is never printed needs no filter. None of them hides a message or changes what a tool does; none is set where the
user's environment, the user's settings or the call has the variable already.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_QUIET: Mapping[str, str] = MappingProxyType(
    {
        # Tools that know agents ask for it and leave out what is meant for people.
        "AI_AGENT": "nacre",
        "PIP_PROGRESS_BAR": "off",
        "UV_NO_PROGRESS": "1",
        # A bar is drawn at its start and its end; TQDM_DISABLE would also stop a program's own counter.
        "TQDM_MININTERVAL": "30",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        # All versions of Maven 3 read this one; MAVEN_ARGS has no effect before 3.9.
        "MAVEN_OPTS": "-Dorg.slf4j.simpleLogger.log.org.apache.maven.cli.transfer.Slf4jMavenTransferListener=warn",
        "RUSTUP_TERM_PROGRESS_WHEN": "never",
        "DOTNET_NOLOGO": "1",
        "HOMEBREW_NO_ENV_HINTS": "1",
    }
)


def quiet_variables() -> Mapping[str, str]:
    """Return the variables, read-only."""
    return _QUIET
