"""Internal URLs: paths where a word is meant, the text as it was where not, and never out of the root."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.artifacts.artifact_urls import standard_router
from nacre.artifacts.store import ArtifactStore
from nacre.errors import InvalidRequestError
from nacre.planning.urls import UnresolvedUrlError, UrlRouter, expand_command, expand_value


def known(rest: str, *, make_parents: bool) -> str:
    """A resolver that knows numbers."""
    if not rest.isdigit():
        raise UnresolvedUrlError(f"no {rest!r}; there are numbers")
    return f"/files/it's {rest}"


def anything(rest: str, *, make_parents: bool) -> str:
    return f"/local/{rest}"


@pytest.fixture
def router() -> UrlRouter:
    router = UrlRouter()
    router.register("doc", known)
    router.register("local", anything)
    return router


PATH = r"'/files/it'\''s 3'"


@pytest.mark.parametrize(
    ("command", "expanded"),
    [
        ("cat doc://3", f"cat {PATH}"),
        ("cat doc://3; wc <doc://3|sort>local://x&", f"cat {PATH}; wc <{PATH}|sort>'/local/x'&"),
        ("cat 'doc://3' \"doc://3\"", f"cat {PATH} {PATH}"),
        ('x --file=doc://3 --other="doc://3"', f"x --file={PATH} --other={PATH}"),
        ("(cat doc://3)", f"(cat {PATH})"),
        ('echo "$(cat doc://3)"', f'echo "$(cat {PATH})"'),
        ('echo "$(cat "doc://3")"', f'echo "$(cat {PATH})"'),
        ('echo "`cat doc://3`"', f'echo "`cat {PATH}`"'),
        ("cat local:/a/b.txt", "cat '/local/a/b.txt'"),
        ("cat local://dir/$name", "cat '/local/dir/'$name"),
        ("cat <<E >local://out\nsee doc://x\nE\ncat doc://3", f"cat <<E >'/local/out'\nsee doc://x\nE\ncat {PATH}"),
        ("case $(cat doc://3) in a) echo doc://3;; esac", f"case $(cat {PATH}) in a) echo {PATH};; esac"),
        ("echo $((1<<2)); cat doc://3", f"echo $((1<<2)); cat {PATH}"),
        ("cat <<<doc://3", f"cat <<<{PATH}"),
    ],
)
def test_a_url_that_is_a_word_becomes_a_quoted_path(router: UrlRouter, command: str, expanded: str) -> None:
    assert expand_command(command, router) == expanded


@pytest.mark.parametrize(
    "command",
    [
        "echo nothing here",
        "curl https://example.org/doc://x",
        "echo 'see doc://3 for more'",
        'echo "see doc://3 for more"',
        'grep "doc://" file',
        "grep 'doc://x' file",
        'cat "local://$name"',
        "echo mydoc://3 a/local:/x ./local:/x -local:/x",
        "true # doc://x is a comment",
        "cat <<'END'\ndoc://x\nEND",
        "cat <<-END\n\tdoc://x\n\tEND\necho",
        "echo $'doc://x it\\'s doc://x'",
    ],
)
def test_what_is_not_a_word_of_its_own_stays_as_it_is(router: UrlRouter, command: str) -> None:
    assert expand_command(command, router) == command


def test_an_escaped_quote_quotes_nothing_and_an_unfinished_one_all_that_follows(router: UrlRouter) -> None:
    command = "echo \\\"doc://3 is 'unfinished doc://3"
    assert expand_command(command, router) == f"echo \\\"{PATH} is 'unfinished doc://3"


def test_a_bare_word_that_leads_nowhere_is_an_error_that_says_what_there_is(router: UrlRouter) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        expand_command("cat doc://abc", router)
    assert str(caught.value) == "field 'command' holds doc://abc, which leads nowhere: no 'abc'; there are numbers"
    assert caught.value.field == "command"


def test_values_get_the_bare_path(router: UrlRouter) -> None:
    assert expand_value("doc://3", router) == "/files/it's 3"
    assert expand_value("a doc://3 b doc://x", router) == "a /files/it's 3 b doc://x"
    assert expand_value("plain", router) == "plain"
    with pytest.raises(InvalidRequestError, match="field 'cwd' holds doc://x"):
        expand_value("doc://x", router, purpose="cwd")


def test_a_router_without_schemes_changes_nothing() -> None:
    assert expand_command("cat doc://3", UrlRouter()) == "cat doc://3"
    with pytest.raises(ValueError, match="a URL scheme is made of"):
        UrlRouter().register("Bad Scheme", known)


@given(st.text(st.sampled_from("ab'\"$()`\\ \n#<;doc://3E"), max_size=40))
def test_no_text_breaks_the_reading_and_without_urls_nothing_changes(text: str) -> None:
    router = UrlRouter()
    router.register("zzz", known)
    assert expand_command(text + " x://y", router) == text + " x://y"
    router.register("doc", anything)
    expand_command(text + " x://y", router)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_whatever_a_path_holds_the_shell_gets_it_as_one_word(name: str) -> None:
    router = UrlRouter()
    router.register("doc", lambda rest, make_parents: f"/{name}")
    assert shlex.split(expand_command("echo doc://1 'doc://2'", router)) == ["echo", f"/{name}", f"/{name}"]


# The resolvers.


@pytest.fixture
def standard(home: Path, tmp_path: Path) -> UrlRouter:
    for skill, file in (("pdf", "scripts/fill.py"), ("plugin:docs", "SKILL.md")):
        path = tmp_path / "skills" / skill / file
        path.parent.mkdir(parents=True)
        path.write_text("x", encoding="utf-8")
    return standard_router(
        ArtifactStore(home / "artifacts"), state_dir=home, session="a/b:1", skill_roots=[tmp_path / "skills"]
    )


def artifact(home: Path, data: bytes, *, cap: int = 100) -> int:
    writer = ArtifactStore(home / "artifacts").create("bash", cap_bytes=cap, head_bytes=4)
    writer.write(data)
    ref = writer.close()
    assert ref is not None
    return ref.id


def test_an_artifact_is_its_file_in_plain_order(standard: UrlRouter, home: Path) -> None:
    artifact(home, b"hello\n")
    artifact(home, b"head" + b"x" * 500 + b"newest", cap=20)
    done = subprocess.run(
        ["bash", "-c", expand_command("cat artifact://1 artifact://2", standard)], capture_output=True, check=True
    )
    assert done.stdout == b"hello\nhead\n[nacre: 490 bytes were dropped here]\nxxxxxxxxxxnewest"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("artifact://7", "no artifact 7; available: 1"),
        ("artifact://x7", "an artifact's id is a number, not 'x7'; available: 1"),
        ("artifact://", "an artifact's id is a number, not ''; available: 1"),
        ("artifact://1/x", "an artifact's id is a number, not '1/x'; available: 1"),
        ("artifact://٣", "an artifact's id is a number, not '٣'; available: 1"),
        ("skill://word", "there is no skill 'word'; there are: pdf, plugin:docs"),
        ("local://../x", "'../x' leads out of its root: '..' is refused"),
        ("local://a/%2e%2e/%2e%2e/x", "'a/../../x' leads out of its root: '..' is refused"),
        ("local:///etc/passwd", "'/etc/passwd' is absolute; give a path below the root"),
        ("local://%00", "a path cannot hold a NUL character"),
        ("skill://pdf/../../x", "'../../x' leads out of its root: '..' is refused"),
    ],
)
def test_what_leads_nowhere_says_why_and_what_there_is(standard: UrlRouter, home: Path, url: str, reason: str) -> None:
    artifact(home, b"x")
    with pytest.raises(InvalidRequestError) as caught:
        expand_command(f"cat {url}", standard)
    assert str(caught.value) == f"field 'command' holds {url}, which leads nowhere: {reason}"


def test_local_files_are_of_the_session_and_their_directories_are_made_for_commands(
    standard: UrlRouter, home: Path
) -> None:
    root = os.path.realpath(home / "local" / "a_b_1")
    assert expand_value("local://x/y", standard, purpose="cwd") == f"{root}/x/y"
    assert not os.path.exists(root)
    assert expand_command("touch local://plans/new%20one.md", standard) == f"touch '{root}/plans/new one.md'"
    assert os.listdir(root) == ["plans"]
    assert expand_value("local://", standard) == f"{root}/"


def test_a_link_out_of_the_local_directory_is_refused_before_anything_is_made(
    standard: UrlRouter, home: Path, tmp_path: Path
) -> None:
    root = home / "local" / "a_b_1"
    root.mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    with pytest.raises(InvalidRequestError, match=r"'link/new/x' leads out of .* through a link"):
        expand_command("touch local://link/new/x", standard)
    assert list(outside.iterdir()) == []
    (root / "inner").symlink_to(root / "other")
    assert expand_value("local://inner/x", standard) == os.path.realpath(root / "other" / "x")


def test_a_session_id_cannot_lead_out_of_the_state_directory(home: Path) -> None:
    for session in ("..", "../..", "", "a/../b"):
        router = standard_router(ArtifactStore(home / "artifacts"), state_dir=home, session=session)
        path = expand_value("local://x", router, purpose="cwd")
        assert Path(path).parent.parent == Path(os.path.realpath(home / "local"))


def test_skills_are_directories_with_files_and_colons(standard: UrlRouter, tmp_path: Path) -> None:
    skills = os.path.realpath(tmp_path / "skills")
    assert expand_value("skill://pdf", standard) == f"{skills}/pdf"
    assert expand_value("skill://pdf/scripts/fill.py?x#y", standard) == f"{skills}/pdf/scripts/fill.py"
    assert expand_value("skill://plugin:docs", standard) == f"{skills}/plugin:docs"
    assert expand_value("skill://plugin:docs:SKILL.md", standard) == f"{skills}/plugin:docs/SKILL.md"
    with pytest.raises(InvalidRequestError, match=r"skill 'pdf' has no 'missing\.md'"):
        expand_value("skill://pdf/missing.md", standard)
    (tmp_path / "skills" / "pdf" / "out").symlink_to("/etc")
    with pytest.raises(InvalidRequestError, match="leads out of"):
        expand_value("skill://pdf/out/passwd", standard)
