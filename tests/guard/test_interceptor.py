"""The interceptor: which commands should have been another tool."""

import pytest

from nacre.guard.interceptor import DEFAULT_RULES, Interception, InterceptRule, compile_rules, intercept

TOOLS = {"read", "grep", "glob", "edit", "write"}
DEFAULT = compile_rules()


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("cat f", "read"),
        ("cat  <<EOF\nEOF", "read"),
        ("tail -f x", "read"),
        ("ls && cat f", "read"),
        ("A=1 B='x y' cat f", "read"),
        ("ls; less f", "read"),
        ("cat", None),
        ("bat f", None),
        ("/bin/cat x", None),
        ("sudo cat x", None),
        ("ls | cat -n", None),
        ("ls |\n cat -n", None),
        ("grep x f", "grep"),
        ("rg x", "grep"),
        ("egrep x f", None),
        ("git grep x", None),
        ("ls | grep x", None),
        ("make |& grep x", None),
        ("find . -name x", "glob"),
        ("fd --type f", "glob"),
        ("find . -maxdepth 1", None),
        ("sed -i s/a/b/ f", "edit"),
        ("sed -i.bak s/a/b/ f", "edit"),
        ("sed -E -i s/a/b/ f", None),
        ("perl -pi -e x f", "edit"),
        ("awk -i inplace x f", "edit"),
        ("echo a > f", "write"),
        ("echo a >> f", "write"),
        ("echo x >| f", "write"),
        ("printf x > '/tmp/f'", "write"),
        ('echo x > "$f"', "write"),
        ("echo a > /dev/null > f", "write"),
        ('echo "a -> b"', None),
        ("echo a 2>&1", None),
        ("echo a >&2", None),
        ("echo a > /dev/null", None),
        ("echo a > '/dev/null'", None),
        ("echo x | tee f", None),
        ("echo hi", None),
        ("echo $(cat f)", None),
    ],
)
def test_default_rules(command: str, tool: str | None) -> None:
    found = intercept(command, DEFAULT, tools=TOOLS)
    assert (found.tool if found is not None else None) == tool


def test_a_rule_counts_only_when_its_tool_exists() -> None:
    assert intercept("cat f", DEFAULT, tools={"grep"}) is None


def test_the_message_quotes_the_original_command() -> None:
    rule = InterceptRule("^ls", "glob", "Use glob.")
    found = intercept("cd x && ls", compile_rules([rule]), tools={"glob"}, without_cd="ls")
    assert found == Interception("glob", "Blocked: Use glob.\n\ncd x && ls")


def test_a_broken_pattern_is_left_out_and_said_aloud() -> None:
    interceptor = compile_rules([InterceptRule("(", "read", "x"), *DEFAULT_RULES])
    assert len(interceptor.rules) == len(DEFAULT_RULES)
    assert len(interceptor.warnings) == 1
    assert "'('" in interceptor.warnings[0]


def test_the_tool_names_of_the_statements_are_suggested_where_the_model_has_them() -> None:
    interceptor = compile_rules()
    for command, tool in (
        ("rg todo", "search"),
        ("find . -name x", "find"),
        ("rg todo", "grep"),
        ("fd --type f x", "glob"),
    ):
        found = intercept(command, interceptor, tools=[tool])
        assert found is not None
        assert found.tool == tool


def test_no_command_makes_a_default_rule_go_back_for_ever() -> None:
    # Each number could be read in four ways, which is 4**200 in all.
    assert intercept("echo " + ">&1111 " * 200, DEFAULT, tools=TOOLS) is None
    found = intercept("echo " + ">&1111 " * 200 + "> f", DEFAULT, tools=TOOLS)
    assert found is not None


@pytest.mark.parametrize(
    ("pattern", "flags", "command", "expected"),
    [
        ("^curl ", "", "curl x", True),
        ("^curl ", "", "echo '\ncurl x'", False),
        ("^curl ", "m", "echo '\ncurl x'", True),
        ("^CURL", "i", "curl x", True),
        ("^CURL", "", "curl x", False),
        ("a.b", "", "echo 'a\nb'", False),
        ("a.b", "s", "echo 'a\nb'", True),
        (r"a\sb", "", "echo 'a\nb'", True),
        (r"(?s)a.b'$", "i", "echo 'a\nB'", True),
        ("x'$", "", "echo 'x'\ntrue", True),
    ],
)
def test_a_rule_of_one_s_own_means_what_it_says(pattern: str, flags: str, command: str, expected: bool) -> None:
    interceptor = compile_rules([InterceptRule(pattern, "read", "Use it.", flags)])
    assert interceptor.warnings == ()
    assert (intercept(command, interceptor, tools=TOOLS) is not None) == expected


def test_a_default_rule_may_be_copied_with_a_message_of_one_s_own() -> None:
    copied = [InterceptRule(rule.pattern, rule.tool, "My words.", rule.flags) for rule in DEFAULT_RULES]
    assert compile_rules(copied).warnings == ()
