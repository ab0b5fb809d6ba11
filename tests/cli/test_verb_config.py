"""`nacre config show`: the effective settings, and where each came from."""

from __future__ import annotations

import json
from pathlib import Path

from cli.conftest import Finished, Nacre
from nacre import config


def test_every_setting_is_shown_with_its_value_and_source(nacre: Nacre, home: Path, tmp_path: Path) -> None:
    (tmp_path / "nacre.toml").write_text("[output]\nartifact_head_bytes = 1024\n", encoding="utf-8")
    done = nacre("config", "show", "--json", cwd=tmp_path, env={"NACRE_GRACE_SECONDS": "2"})
    shown = json.loads(done.out)
    expected = {
        origin.key: {"value": json.loads(json.dumps(origin.value)), "source": "default"}
        for origin in config.load({}, cwd="/").origins
    }
    expected["execution.grace_seconds"] = {"value": 2.0, "source": "NACRE_GRACE_SECONDS"}
    expected["shell.snapshot"] = {"value": False, "source": "NACRE_SNAPSHOT"}
    expected["output.artifact_head_bytes"] = {"value": 1024, "source": f"{tmp_path}/nacre.toml"}
    assert (done.code, done.err, shown) == (
        0,
        "",
        {"stateDir": str(home), "settings": expected, "notices": []},
    )


def test_people_get_a_line_a_setting(nacre: Nacre, home: Path) -> None:
    lines = nacre("config", "show", env={"NACRE_CONTAINMENT": "required"}).out.splitlines()
    assert lines[0] == f"state directory: {home}"
    shown = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert shown["execution.containment"] == ['"required"', "NACRE_CONTAINMENT"]
    assert shown["execution.grace_seconds"] == ["(unset)", "default"]


def test_a_wrong_setting_is_one_line_that_names_it(nacre: Nacre) -> None:
    assert nacre("config", "show", env={"NACRE_MAX_JOBS": "many"}) == Finished(
        125, "", 'nacre: NACRE_MAX_JOBS is "many"; accepted: a whole number >= 0\n'
    )
