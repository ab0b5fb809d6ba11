"""`nacre doctor`: what this machine can promise, tried and not guessed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from cli.conftest import Nacre

PARTS = ["python", "bash", "settings", "containment", "spares", "state", "guard", "secrets", "sandbox"]


def test_a_sound_machine_has_every_part_and_exit_code_0(nacre: Nacre, home: Path) -> None:
    done = nacre("doctor", "--json")
    findings = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert [(finding["part"], finding["ok"]) for finding in findings] == [(part, True) for part in PARTS]
    # Whoever runs as root is told that a command could read nacre's own environment.
    # The advice about a sandbox depends on the version of bubblewrap.
    advised = [finding["part"] for finding in findings if finding["advice"] and finding["part"] != "sandbox"]
    assert advised == (["secrets"] if os.geteuid() == 0 else [])
    says = {finding["part"]: finding["says"] for finding in findings}
    assert says["bash"].startswith("/bin/bash ")
    assert says["containment"] == "the warden runs; a daemon was started and ended with its command"
    assert says["state"].startswith(f"{home}, ")
    assert "(sandbox.mode is off)" in says["sandbox"]


def test_people_get_a_line_a_part(nacre: Nacre) -> None:
    done = nacre("doctor")
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert [line.split()[:2] for line in lines] == [["ok", part] for part in PARTS]


def test_containment_that_is_switched_off_is_found_and_exit_code_1(nacre: Nacre) -> None:
    done = nacre("doctor", "--json", env={"NACRE_CONTAINMENT": "off"})
    findings = {finding["part"]: finding for finding in json.loads(done.out)}
    assert (done.code, findings["containment"]["ok"]) == (1, False)
    assert findings["containment"]["says"].startswith("containment is off (switched off by setting)")
    assert findings["settings"]["says"] == "changed: execution.containment, shell.snapshot"


def test_a_wrong_setting_of_the_user_is_a_finding_among_the_others(nacre: Nacre, tmp_path: Path) -> None:
    path = tmp_path / "config" / "nacre" / "nacre.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[excution]\ngrace_seconds = 1\n", encoding="utf-8")
    done = nacre("doctor", "--json", cwd=tmp_path)
    findings = {finding["part"]: finding for finding in json.loads(done.out)}
    assert (done.code, done.err, list(findings)) == (1, "", PARTS)
    assert findings["settings"] == {
        "part": "settings",
        "ok": False,
        "says": f"{path}:2: unknown setting excution.grace_seconds, whose value is 1; "
        "did you mean execution.grace_seconds?",
        "advice": "until it is corrected every call is refused",
    }


def test_a_project_s_settings_that_are_left_aside_are_a_finding(nacre: Nacre, tmp_path: Path) -> None:
    (tmp_path / "nacre.toml").write_text("[policy]\nguard = 'off'\n", encoding="utf-8")
    done = nacre("doctor", "--json", cwd=tmp_path)
    findings = {finding["part"]: finding for finding in json.loads(done.out)}
    assert (done.code, done.err) == (1, "")
    assert [part for part, finding in findings.items() if not finding["ok"]] == ["settings"]
    assert findings["settings"]["says"].startswith(
        f'the project\'s settings are left aside as a whole: {tmp_path}/nacre.toml:2: policy.guard is "off", '
    )
    assert findings["settings"]["advice"] == "calls go on without what is left aside; correct it, or remove it"


def test_a_state_directory_that_cannot_be_written_is_a_finding_with_advice(nacre: Nacre) -> None:
    done = nacre("doctor", "--json", env={"NACRE_HOME": "/proc/nowhere"})
    findings = {finding["part"]: finding for finding in json.loads(done.out)}
    assert (done.code, findings["state"]["ok"], findings["state"]["advice"]) == (
        1,
        False,
        "set NACRE_HOME to a directory of yours",
    )


def test_the_experiments_are_not_in_the_log_of_the_user(nacre: Nacre, home: Path) -> None:
    nacre("run", "--", "true")
    assert nacre("doctor").code == 0
    logged = [json.loads(line)["command"] for line in (home / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert logged == ["true"]
