import json
from pathlib import Path

import pytest

from nacre.environment.filter import (
    EnvironmentEntryError,
    Stripped,
    check_env_entry,
    check_env_name,
    child_environment,
    filter_environment,
    judge,
)
from nacre.environment.noninteractive import noninteractive_defaults

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "secrets.jsonl"
TOKEN = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not beside this repository")
def test_every_row_of_the_corpus_is_judged_as_labelled() -> None:
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    labelled = [(row["name"], row["strip"], row["redact_output"]) for row in rows]
    decisions = [(row["name"], judge(row["name"], row["value"])) for row in rows]
    assert [(name, decision.strip, bool(decision.hidden)) for name, decision in decisions] == labelled


def test_a_child_gets_the_harmless_and_not_the_secret() -> None:
    filtered = filter_environment({"PATH": "/bin", "GH_TOKEN": TOKEN, "EDITOR": "vi", "BASH_ENV": "/x"})
    assert filtered.kept == {"PATH": "/bin", "EDITOR": "vi"}
    assert filtered.stripped == (
        Stripped("GH_TOKEN", "name part TOKEN", "name"),
        Stripped("BASH_ENV", "changes how a shell or interpreter starts", "hygiene"),
    )
    assert filtered.hidden == {"GH_TOKEN": (TOKEN,)}


def test_what_the_user_allows_is_kept_and_not_redacted() -> None:
    filtered = filter_environment(
        {"GH_TOKEN": TOKEN, "MY_SECRET": TOKEN, "ENV": "/x"}, allow=["GH_TOKEN", "MY_*", "ENV"]
    )
    assert filtered.kept == {"GH_TOKEN": TOKEN, "MY_SECRET": TOKEN, "ENV": "/x"}
    assert filtered.hidden == {}


@pytest.mark.parametrize("name", ["NACRE_TOKEN", "NACRE_WEB_TOKEN", "NACRE_INTERNAL_FD", "NACRE_API_KEY"])
def test_what_steers_nacre_itself_reaches_no_child_even_on_request(name: str) -> None:
    assert filter_environment({name: TOKEN}, allow=[name, "*"]).kept == {}
    with pytest.raises(EnvironmentEntryError, match="reserved") as caught:
        child_environment({}, per_call_env={name: TOKEN})
    assert caught.value.name == name


@pytest.mark.parametrize("name", ["NACRE_HOME", "NACRE_NO_PTY", "NACRE_GRACE_SECONDS"])
def test_settings_of_nacre_are_passed_on(name: str) -> None:
    assert filter_environment({name: "/state"}).kept == {name: "/state"}


def test_what_the_call_sets_wins_over_filter_and_defaults() -> None:
    child = child_environment(
        {"GH_TOKEN": TOKEN, "PAGER": "less", "HOME": "/h"},
        per_call_env={"GH_TOKEN": "mine", "CI": "false", "BASH_ENV": "/x"},
    )
    assert child.kept == {
        **noninteractive_defaults(),
        "HOME": "/h",
        "GH_TOKEN": "mine",
        "CI": "false",
        "BASH_ENV": "/x",
    }
    assert child.kept["PAGER"] == "cat"
    assert child.hidden == {"GH_TOKEN": (TOKEN,)}


def test_a_run_that_a_person_watches_keeps_its_pager() -> None:
    assert child_environment({"PAGER": "less"}, noninteractive=False).kept == {"PAGER": "less"}


def test_strict_keeps_core_names_only_and_closes_the_doors_to_agents() -> None:
    env = {
        "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "XDG_CONFIG_HOME": "/c", "HTTP_PROXY": "http://p:1",
        "HTTPS_PROXY": "http://u:proxy-password@p:1", "SSH_AUTH_SOCK": "/s", "DBUS_SESSION_BUS_ADDRESS": "unix:/b",
        "DOCKER_HOST": "unix:/d", "KRB5CCNAME": "/k", "XDG_RUNTIME_DIR": "/r", "EDITOR": "vi", "FOO": "production-name",
    }  # fmt: skip
    filtered = filter_environment(env, profile="strict")
    assert list(filtered.kept) == ["PATH", "HOME", "LC_ALL", "XDG_CONFIG_HOME", "HTTP_PROXY"]
    assert {each.rule for each in filtered.stripped} == {"strict"}
    # Only secrets are redacted: a dropped FOO must not blank out a word of ordinary output.
    assert filtered.hidden == {"HTTPS_PROXY": ("proxy-password",)}


def test_a_proxy_stays_and_its_password_is_redacted() -> None:
    filtered = filter_environment({"https_proxy": "http://user:hunter2hunter@proxy:3128"})
    assert filtered.kept == {"https_proxy": "http://user:hunter2hunter@proxy:3128"}
    assert filtered.hidden == {"https_proxy": ("hunter2hunter",)}


def test_the_password_inside_an_address_is_redacted_alone_too() -> None:
    hidden = filter_environment({"DATABASE_URL": "postgres://app:hunter2hunter@db/app"}).hidden
    assert hidden == {"DATABASE_URL": ("postgres://app:hunter2hunter@db/app", "hunter2hunter")}


def test_names_alone_decide_when_values_are_not_to_be_read() -> None:
    env = {"CONN": "Server=h;Password=hunter2hunter;", "GH_TOKEN": TOKEN}
    assert filter_environment(env, rules="names").kept == {"CONN": "Server=h;Password=hunter2hunter;"}


def test_our_own_virtual_environment_is_not_the_users() -> None:
    env = {"VIRTUAL_ENV": "/opt/nacre"}
    assert filter_environment(env, own_venv="/opt/nacre").kept == {}
    assert filter_environment(env, own_venv="/elsewhere").kept == env


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A=B", "Ä", "A\n"])
def test_a_name_no_shell_could_use_is_refused(name: str) -> None:
    with pytest.raises(EnvironmentEntryError) as caught:
        check_env_name(name)
    assert caught.value.name == name


def test_a_bad_value_is_refused_without_being_repeated() -> None:
    with pytest.raises(EnvironmentEntryError, match="'A': its value contains a NUL") as caught:
        check_env_entry("A", "hunter2\0")
    assert "hunter2" not in str(caught.value)


def test_no_value_is_in_a_repr() -> None:
    child = child_environment({"GH_TOKEN": TOKEN, "FOO": "visible"})
    assert TOKEN not in repr(child)
    assert TOKEN not in repr(judge("GH_TOKEN", TOKEN))


def test_each_variable_that_is_set_can_be_left_as_it_is() -> None:
    for name, value in noninteractive_defaults().items():
        assert child_environment({name: "mine"}).kept[name] == value
        assert child_environment({name: "mine"}, unset_defaults=[name]).kept[name] == "mine"
        assert name not in child_environment({}, unset_defaults=[name]).kept
