"""The rows of wrappers.txt, and their notation."""

from nacre.guard.programs.wrapper_table import SUBCOMMANDS, WRAPPERS, Options, options


def test_a_row_names_options_operands_assignments_scripts_and_directories() -> None:
    row = "-uC --user --chdir +1 NAME= $-c $--command @-C @--chdir …"
    assert options(row) == Options(
        "uC", ("user", "chdir"), 1, True, ("-c", "--command"), ("-C", "--chdir"), joined=True
    )
    assert options("") == Options()


def test_programs_share_a_row_and_a_row_may_go_on_in_the_next_line() -> None:
    assert WRAPPERS["proxychains"] == WRAPPERS["proxychains4"] == options("-f")
    assert {"user", "auth-type"} <= set(WRAPPERS["sudo"].long)
    assert SUBCOMMANDS["npm"] == (
        frozenset(("exec", "x")),
        options("-pcw --package --call --workspace $-c $--call"),
    )
