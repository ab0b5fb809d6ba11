"""`nacre install`: the right entry for each client, printed or written, and nothing of anybody else's lost."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PATIENCE_SECONDS, Finished, Nacre
from nacre.cli import json_file
from nacre.cli.clients import CLIENTS, file_of
from nacre.cli.verb_install import add
from nacre.errors import ConfigError

PLAIN = {"command": "nacre", "args": ["mcp"]}
ENTRY = {"type": "stdio", **PLAIN}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody with an empty home directory."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


def written(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# Where and what.


@pytest.mark.parametrize(
    ("client", "platform", "environ", "path"),
    [
        ("claude", "linux", {}, "/home/u/.claude.json"),
        ("claude", "darwin", {}, "/home/u/.claude.json"),
        ("claude", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("cursor", "linux", {}, "/home/u/.cursor/mcp.json"),
        ("cursor", "darwin", {}, "/home/u/.cursor/mcp.json"),
        ("vscode", "linux", {}, "/home/u/.config/Code/User/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "/home/u/Library/Application Support/Code/User/mcp.json"),
        ("zed", "linux", {}, "/home/u/.config/zed/settings.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/zed/settings.json"),
        ("zed", "darwin", {"XDG_CONFIG_HOME": "/x"}, "/home/u/.config/zed/settings.json"),
        ("codex", "linux", {}, "/home/u/.codex/config.toml"),
        ("codex", "darwin", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("gemini", "linux", {}, "/home/u/.gemini/settings.json"),
        ("claude-desktop", "linux", {}, "/home/u/.config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            {},
            "/home/u/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("opencode", "linux", {}, "/home/u/.config/opencode/opencode.json"),
        ("windsurf", "darwin", {}, "/home/u/.codeium/windsurf/mcp_config.json"),
        ("devin", "linux", {}, "/home/u/.config/devin/mcp_config.json"),
        ("cline", "linux", {}, "/home/u/.cline/data/settings/cline_mcp_settings.json"),
    ],
)
def test_the_file_of_a_user(client: str, platform: str, environ: dict[str, str], path: str) -> None:
    found = file_of(client, "user", home=Path("/home/u"), cwd=Path("/p"), environ=environ, platform=platform)
    assert found == Path(path)


@pytest.mark.parametrize(
    ("client", "path", "content"),
    [
        ("claude", ".mcp.json", {"mcpServers": {"nacre": ENTRY}}),
        ("cursor", ".cursor/mcp.json", {"mcpServers": {"nacre": ENTRY}}),
        ("vscode", ".vscode/mcp.json", {"servers": {"nacre": ENTRY}}),
        ("zed", ".zed/settings.json", {"context_servers": {"nacre": PLAIN}}),
        ("gemini", ".gemini/settings.json", {"mcpServers": {"nacre": PLAIN}}),
        ("devin", ".devin/mcp_config.json", {"mcpServers": {"nacre": PLAIN}}),
        ("opencode", "opencode.json", {"mcp": {"nacre": {"type": "local", "command": ["nacre", "mcp"]}}}),
    ],
)
def test_a_project_s_entry_is_printed_or_written_and_names_no_path(
    nacre: Nacre, tmp_path: Path, client: str, path: str, content: dict[str, Any]
) -> None:
    place = (tmp_path / path).resolve()
    printed = nacre("install", client, "--scope", "project", cwd=tmp_path)
    assert (printed.code, json.loads(printed.out), place.exists()) == (0, content, False)
    title = CLIENTS[client].title
    assert printed.err == f"nacre: for {title} this belongs into {place}; --write adds it there\n"

    done = nacre("install", client, "--scope", "project", "--write", cwd=tmp_path)
    assert done == Finished(0, f"added 'nacre' to {place}\n", f"nacre: {CLIENTS[client].afterwards}\n")
    assert written(place) == content


def test_what_is_written_for_a_user_starts_the_server(nacre: Nacre, user: Path) -> None:
    assert nacre("install", "cursor", "--write").code == 0
    entry = written(user / ".cursor" / "mcp.json")["mcpServers"]["nacre"]
    assert os.path.isabs(entry["command"])
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with subprocess.Popen(
        [entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(hello).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.communicate(timeout=PATIENCE_SECONDS)
    assert answer["result"]["serverInfo"]["name"] == "nacre"


def test_an_unknown_client_is_refused_with_the_known_ones(nacre: Nacre) -> None:
    done = nacre("install", "emacs")
    assert (done.code, done.out) == (2, "")
    assert "invalid choice: 'emacs' (choose from " in done.err
    assert all(name in done.err for name in CLIENTS)


@pytest.mark.parametrize("client", ["claude-desktop", "cline", "windsurf"])
def test_a_client_without_a_project_file_says_so(nacre: Nacre, tmp_path: Path, client: str) -> None:
    done = nacre("install", client, "--scope", "project", cwd=tmp_path)
    title = CLIENTS[client].title
    assert done == Finished(125, "", f"nacre: {title} has no file for a project; leave --scope out\n")


@pytest.mark.parametrize("client", ["claude-desktop", "cline", "windsurf"])
def test_its_user_s_file_gets_the_plain_entry(nacre: Nacre, user: Path, client: str) -> None:
    assert nacre("install", client, "--write").code == 0
    path = file_of(client, "user", home=user, cwd=user, environ={}, platform="linux")
    assert path is not None
    entry = written(path)["mcpServers"]["nacre"]
    assert (list(entry), entry["args"], os.path.isabs(entry["command"])) == (["command", "args"], ["mcp"], True)


# Codex: TOML.

CODEX = """\
model = "gpt-5.5"   # my favourite

[mcp_servers.other]
command = "npx"  # comments stay
"""


def test_a_table_is_appended_for_codex_and_every_other_byte_stays(nacre: Nacre, user: Path) -> None:
    path = user / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CODEX, encoding="utf-8")
    done = nacre("install", "codex", "--write")
    assert done.out == f"added 'nacre' to {path}; what it was is kept as config.toml.before-nacre\n"
    text = path.read_text(encoding="utf-8")
    assert text.startswith(CODEX + "\n[mcp_servers.nacre]\ncommand = ")
    servers = tomllib.loads(text)["mcp_servers"]
    assert (servers["other"], servers["nacre"]["args"]) == ({"command": "npx"}, ["mcp"])
    assert nacre("install", "codex", "--write").out == f"{path} has this entry already; nothing was changed\n"


def test_what_is_printed_for_codex_is_the_table(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("install", "codex", "--scope", "project", cwd=tmp_path)
    assert done.out == '[mcp_servers.nacre]\ncommand = "nacre"\nargs = ["mcp"]\n'
    assert nacre("install", "codex", "--scope", "project", "--write", cwd=tmp_path).code == 0
    assert (tmp_path / ".codex" / "config.toml").read_text(encoding="utf-8") == done.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("model = ", "is not valid TOML (Invalid value (at end of document)), so nothing was changed"),
        ('mcp_servers = {a = {command = "x"}}\n', "'mcp_servers' is written in a form that no table can be added to"),
        ('[mcp_servers.nacre]\ncommand = "mine"\n', "has another entry 'nacre'"),
        ("mcp_servers = 3\n", "'mcp_servers' is not an object, so nothing was changed"),
    ],
    ids=["broken", "inline", "another", "a number"],
)
def test_a_toml_file_that_cannot_take_the_table_is_not_touched(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        add(path, CLIENTS["codex"], PLAIN, replace=True)
    assert why in str(refused.value)
    assert path.read_text(encoding="utf-8") == text


def test_opencode_2_gets_the_entry_where_it_keeps_its_servers(tmp_path: Path) -> None:
    path = tmp_path / "opencode.json"
    path.write_text('{"theme": "x", "mcp": {"timeout": 5, "servers": {"a": {"type": "local"}}}}', encoding="utf-8")
    add(path, CLIENTS["opencode"], {"type": "local"}, replace=False)
    servers = {"a": {"type": "local"}, "nacre": {"type": "local"}}
    assert written(path) == {"theme": "x", "mcp": {"timeout": 5, "servers": servers}}


# What is there stays.

FULL = """\
{
\t"numStartups": 34,
\t"theme": "d\\u00e4rk",
\t"mcpServers": {
\t\t"other": {"command": "npx", "args": ["-y", "é"], "env": {"KEY": "value"}}
\t},
\t"projects": {"/p": {"mcpServers": {}}}
}
"""


def test_everything_else_stays_and_the_file_as_it_was_is_kept(nacre: Nacre, user: Path) -> None:
    path = user / ".claude.json"
    path.write_text(FULL, encoding="utf-8")
    path.chmod(0o600)
    done = nacre("install", "claude", "--write")
    assert done.out == f"added 'nacre' to {path}; what it was is kept as .claude.json.before-nacre\n"
    backup = user / ".claude.json.before-nacre"
    assert backup.read_text(encoding="utf-8") == FULL
    entry = written(path)["mcpServers"]["nacre"]
    before = json.loads(FULL)
    before["mcpServers"]["nacre"] = entry
    assert (written(path), list(written(path))) == (before, list(before))
    assert path.read_text(encoding="utf-8").startswith('{\n\t"numStartups": 34,\n\t"theme": "därk",\n')
    assert [stat.S_IMODE(os.stat(one).st_mode) for one in (path, backup)] == [0o600, 0o600]
    assert sorted(os.listdir(user)) == [".claude.json", ".claude.json.before-nacre"]


def test_a_second_time_changes_nothing(nacre: Nacre, user: Path) -> None:
    nacre("install", "claude", "--write")
    path = user / ".claude.json"
    before = os.stat(path)
    done = nacre("install", "claude", "--write")
    assert (done.code, done.out) == (0, f"{path} has this entry already; nothing was changed\n")
    assert (os.stat(path).st_ino, os.stat(path).st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_another_entry_of_the_name_is_replaced_only_when_asked_for(nacre: Nacre, user: Path) -> None:
    path = user / ".cursor" / "mcp.json"
    path.parent.mkdir()
    text = '{"mcpServers": {"nacre": {"command": "mine"}, "other": {"command": "x"}}}'
    path.write_text(text, encoding="utf-8")
    refused = nacre("install", "cursor", "--write")
    assert (refused.code, refused.out) == (125, "")
    assert refused.err == (
        f'nacre: {path} has another entry \'nacre\': {{"command": "mine"}}; nothing was changed, '
        "--replace replaces it\n"
    )
    assert path.read_text(encoding="utf-8") == text
    assert nacre("install", "cursor", "--write", "--replace").code == 0
    servers = written(path)["mcpServers"]
    assert (list(servers), servers["nacre"]["args"], servers["other"]) == (
        ["nacre", "other"],
        ["mcp"],
        {"command": "x"},
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('// Zed settings\n{\n  "theme": "x"\n}\n', "Expecting value: line 1 column 1 (char 0)"),
        (
            '{\n  "theme": "x", // mine\n  "a": 1\n}\n',
            "Expecting property name enclosed in double quotes: line 2 column 17 (char 18)",
        ),
        ('{"a": /* one */ 1}', "Expecting value: line 1 column 7 (char 6)"),
        ('{"a": 1, "a": 2}', "the name 'a' is given twice in one object"),
        ('{"a": 1', "Expecting ',' delimiter: line 1 column 8 (char 7)"),
    ],
    ids=["comment first", "comment", "block comment", "twice", "cut off"],
)
@pytest.mark.parametrize("client", ["vscode", "zed"])
def test_a_file_that_is_not_plain_json_is_not_touched(
    nacre: Nacre, user: Path, client: str, text: str, why: str
) -> None:
    path = file_of(client, "user", home=user, cwd=user, environ={}, platform="linux")
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    done = nacre("install", client, "--write")
    assert (done.code, done.out) == (125, "")
    assert done.err == (
        f"nacre: {path} is not plain JSON ({why}); comments and the like would be lost, so nothing was changed: "
        "add by hand what is printed without --write\n"
    )
    assert (path.read_text(encoding="utf-8"), os.listdir(path.parent)) == (text, [path.name])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[1]", "{path} holds no JSON object, so nothing was changed"),
        (b'{"mcpServers": []}', "{path}: 'mcpServers' is not an object, so nothing was changed"),
        (b'{"a": "\xff"}', "{path} is not plain JSON ('utf-8' codec can't decode byte 0xff"),
        (b"[" * 100_000, "{path} is not plain JSON (maximum recursion depth exceeded"),
    ],
    ids=["list", "list of servers", "bytes", "deep"],
)
def test_what_cannot_take_the_entry_is_not_touched(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as refused:
        add(path, CLIENTS["claude"], ENTRY, replace=True)
    assert str(refused.value).startswith(message.format(path=path.resolve()))
    assert path.read_bytes() == data


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf{}"], ids=["empty", "blank", "mark of UTF-8"])
def test_an_empty_file_gets_the_entry(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(data)
    add(path, CLIENTS["vscode"], ENTRY, replace=False)
    assert written(path) == {"servers": {"nacre": ENTRY}}


def test_a_lone_surrogate_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(r'{"odd": "\ud800"}', encoding="utf-8")
    add(path, CLIENTS["vscode"], ENTRY, replace=False)
    assert written(path)["odd"] == "\ud800"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """As people have it who keep such files in a repository of their own."""
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    said = add(link, CLIENTS["vscode"], ENTRY, replace=False)
    assert said == f"added 'nacre' to {real.resolve()}; what it was is kept as mcp.json.before-nacre"
    assert (link.is_symlink(), written(real)) == (True, {"servers": {"nacre": ENTRY}})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of others to change")
def test_somebody_else_s_file_stays_theirs(tmp_path: Path) -> None:
    """As with sudo, whose user would else be locked out of their own settings."""
    path = tmp_path / "mcp.json"
    path.write_text("{}", encoding="utf-8")
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    add(path, CLIENTS["vscode"], ENTRY, replace=False)
    for one in (path, tmp_path / "mcp.json.before-nacre"):
        found = os.stat(one)
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o640)


def test_an_earlier_copy_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    for text in ('{"a": 1}', '{"a": 2}', '{"a": 3}'):
        path.write_text(text, encoding="utf-8")
        add(path, CLIENTS["vscode"], ENTRY, replace=False)
    kept = {one.name: one.read_text(encoding="utf-8") for one in tmp_path.glob("*before-nacre*")}
    assert kept == {
        "mcp.json.before-nacre": '{"a": 1}',
        "mcp.json.before-nacre-2": '{"a": 2}',
        "mcp.json.before-nacre-3": '{"a": 3}',
    }


@pytest.mark.parametrize("change", ['{"a": 2}', None], ids=["changed", "made"])
def test_what_somebody_else_writes_meanwhile_is_not_lost(tmp_path: Path, change: str | None) -> None:
    path = tmp_path / "mcp.json"
    if change is not None:
        path.write_text('{"a": 1}', encoding="utf-8")
    content = json_file.read(path)
    theirs = change or '{"new": 1}'
    other = tmp_path / "theirs"
    other.write_text(theirs, encoding="utf-8")
    os.replace(other, path)
    with pytest.raises(ConfigError, match="was changed by another program just now; nothing was changed, try again"):
        json_file.write(content, {})
    assert path.read_text(encoding="utf-8") == theirs
    assert [one for one in os.listdir(tmp_path) if "nacre-" in one and one != "nacre-home"] == []


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "file" / "mcp.json"
    with pytest.raises(ConfigError, match=r"file/mcp.json cannot be (read|written): Not a directory"):
        add(path, CLIENTS["vscode"], ENTRY, replace=False)
