"""Files that people write: rules of the guard and of the interceptor are read, or refused by a message with a line."""

import atheris
from harness import instrumented, start

with instrumented():
    from nacre.guard.rules.rule_file import RuleFileError, covers_command, load_rules

# Words of a rule file, so that most inputs get past the parser of TOML.
PIECES = (
    "[[rule]]\n",
    'name = "a"\n',
    'decision = "deny"\n',
    'decision = "allow"\n',
    'decision = "never"\n',
    'words = ["git", ["push", "pull"]]\n',
    "words = []\n",
    "words = [1]\n",
    'match = ["git push"]\n',
    'not_match = ["git log"]\n',
    'match = ["git log"]\n',
    "exact = true\n",
    "exact = 1\n",
    'message = "no"\n',
    "rule = 1\n",
    "[rule]\n",
    'words = ["$(", "\\u0000"]\n',
)


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    text = ""
    for _ in range(provider.ConsumeIntInRange(0, 12)):
        if provider.ConsumeIntInRange(0, 9):
            text += PIECES[provider.ConsumeIntInRange(0, len(PIECES) - 1)]
        else:
            text += provider.ConsumeUnicodeNoSurrogates(20)
    try:
        rules = load_rules(text, "rules.toml")
    except RuleFileError as error:
        problem = str(error)
    else:
        problem = ""
    assert not problem or "rules.toml:" in problem, problem
    if problem:
        return
    command = provider.ConsumeUnicodeNoSurrogates(40)
    for rule in rules:
        assert covers_command(rule, command) in (True, False)


if __name__ == "__main__":
    start(one_input)
