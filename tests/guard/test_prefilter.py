"""The prefilter spares most commands the review, and passes on every command that a default rule concerns."""

from typing import get_args

import guard_corrections as corrections
import guard_irreversible_spellings as irreversible
import guard_plausible_spellings as plausible
import guard_second_spellings as second
import guard_spellings as first
import pytest
from policies import MODES

from nacre.guard.prefilter import needs_review
from nacre.guard.review import CHECKS, review
from nacre.guard.rules.default_rules import BOMB, DEFAULT_RULES, HIDDEN_SCRIPT, PUSHING, REMOVAL, STAGING, DefaultRule
from nacre.settings import RuleName

# Ways to write the same command without a character that needs the reader.
FORMS = ("{}", "sudo {}", "true && {}", "({})", "echo a; {} | cat", "nice -n 5 {} > log &", "timeout 5 {}", "{}\n")


@pytest.mark.parametrize("rule", DEFAULT_RULES, ids=lambda rule: rule.name)
def test_every_example_of_a_rule_reaches_the_review_in_every_form(rule: DefaultRule) -> None:
    assert rule.examples
    forms = ("{}", "true && {}", "({})") if rule in (HIDDEN_SCRIPT, BOMB) else FORMS
    commands = [form.format(example) for form in forms for example in rule.examples]
    assert [command for command in commands if not needs_review(command)] == []
    assert [command for command in commands if review(command, MODES).rule != rule.name] == []


def test_the_rules_with_a_check_and_the_one_about_hidden_texts_are_all_there_are() -> None:
    assert {rule for rule, _ in CHECKS} | {HIDDEN_SCRIPT} == set(DEFAULT_RULES)


def test_every_rule_can_be_set_and_every_setting_names_a_rule() -> None:
    assert {rule.name for rule in DEFAULT_RULES} | {"extended", "unchecked"} == set(get_args(RuleName))


@pytest.mark.parametrize("program", sorted({need for rule in (REMOVAL, STAGING, PUSHING) for need in rule.needs}))
def test_a_program_that_a_rule_is_about_is_reviewed_wherever_it_stands(program: str) -> None:
    for name in (program, f"/usr/bin/{program}", f'"{program}"', f"'{program}'"):
        assert needs_review(f"{name} x")
        assert needs_review(f"ls; {name}")


def test_every_spelling_that_is_refused_reaches_the_review() -> None:
    tables: list[object] = [
        table
        for module in (first, second, plausible, irreversible)
        for name, table in vars(module).items()
        if name.isupper()
    ]
    texts = [line for table in tables if isinstance(table, str) for line in table.split("\n") if line]
    texts += [line for table in tables if isinstance(table, tuple) for line in table]
    texts += [command for table in (corrections.DEFAULT, corrections.COUNTED) for command, _ in table]
    commands = [text.replace("⏎", "\n").replace("⇥", "\t") for text in texts]
    assert len(commands) > 4_000
    spared = [command for command in commands if not needs_review(command)]
    # The review has the same prefilter, so something behind the command that needs the review is added.
    assert [command for command in spared if review(command + "\ngit status", MODES).decision != "allow"] == []


@pytest.mark.parametrize(
    "command", ["ls -la", "cat README.md | head -n 5", 'echo "a b" > out.txt', "cargo build && (cd src)"]
)
def test_everyday_commands_are_spared(command: str) -> None:
    assert not needs_review(command)


@pytest.mark.parametrize(
    ("command", "spared"),
    [
        ("ls -la && cat a.txt", True),
        ("grep -rn 'a b' src | head -5; echo \"done: x=1\"", True),
        ("echo 'x' " + "a " * 1000, True),
        ('r"m" -rf /', False),
        ("'r'm -rf /", False),
        ("'g'it push -f", False),
        ("echo x='r'm", False),
        ('"rm" -rf /', False),
        ("'.' ./f", False),
        ("echo 'it", False),
        ('echo "$(ls)"', False),
        ("echo \"a\" 'b' \\rm", False),
    ],
)
def test_a_command_is_spared_only_while_no_word_is_put_together(command: str, spared: bool) -> None:
    assert needs_review(command) is not spared
