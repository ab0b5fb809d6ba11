"""The glance that spares most commands the reading lets no rule's own commands through."""

import guard_second_spellings as spellings
import pytest

from nacre.guard.prefilter import is_plain
from nacre.guard.review import BUILT_IN, BuiltIn, review

# Ways to write the same command without a character that needs the reader.
FORMS = ("{}", "sudo {}", "true && {}", "({})", "echo a; {} | cat", "nice -n 5 {} > log &", "timeout 5 {}", "{}\n")


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.name)
def test_a_rule_and_the_glance_agree_about_its_examples(rule: BuiltIn) -> None:
    assert rule.examples
    for command in (form.format(example) for form in FORMS for example in rule.examples):
        assert not is_plain(command), command
        assert review(command).rule == rule.name, command


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.name)
def test_a_program_that_a_rule_is_about_is_never_plain(rule: BuiltIn) -> None:
    for program in rule.programs:
        assert any(program in example.split()[0] for example in rule.examples)
        for name in (program, f"/usr/bin/{program}", f'"{program}"', f"'{program}'"):
            assert not is_plain(f"{name} x")
            assert not is_plain(f"ls; {name}")


def test_no_spelling_that_is_refused_is_plain() -> None:
    text = spellings.REMOVALS + spellings.STAGINGS + spellings.PUSHES
    commands = [line.replace("⏎", "\n").replace("⇥", "\t") for line in text.split("\n") if line]
    assert [command for command in commands if is_plain(command)] == []


@pytest.mark.parametrize(
    "command", ["ls -la", "cat README.md | head -n 5", 'echo "a b" > out.txt', "cargo build && (cd src)"]
)
def test_everyday_commands_are_plain(command: str) -> None:
    assert is_plain(command)
