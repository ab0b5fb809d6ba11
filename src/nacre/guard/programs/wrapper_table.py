"""Which words of a wrapper are its own: a table of options, one row a program, from the manual pages.

A row names the options that take a value as the next word (`-uC` for single letters, `--user`), how many operands
stand before the command (`+1`), whether assignments do (`NAME=`), which options hold a script for a shell (`$-c`) and
which the directory where the command runs (`@--chdir`). With `…` the words of the command may also be one script.
"""

from dataclasses import dataclass
from typing import Final

from nacre.bash.word_table import names


@dataclass(frozen=True, slots=True)
class Options:
    """How a wrapper's own words end: options with values, then this many operands."""

    short: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assignments: bool = False
    script: tuple[str, ...] = ()
    """Options whose value is a script for the shell."""
    directory: tuple[str, ...] = ()
    """Options whose value is where the command runs."""
    joined: bool = False
    """The command may also be one script, in one word or several."""


def options(row: str) -> Options:
    """Read what a row says behind the programs."""
    words = row.split()
    return Options(
        "".join(word[1:] for word in words if word[0] == "-" and word[1] != "-"),
        tuple(word[2:] for word in words if word.startswith("--")),
        sum(int(word[1:]) for word in words if word[0] == "+"),
        "NAME=" in words,
        tuple(word[1:] for word in words if word[0] == "$"),
        tuple(word[1:] for word in words if word[0] == "@"),
        "…" in words,
    )


_WRAPPERS: Final = """
command builtin nohup unbuffer setsid setarch linux32 linux64 valgrind dbus-launch eatmydata firejail torify tsocks
    catchsegv catatonit ts chronic ifne busybox toybox hyperfine flatpak-spawn winpty noglob nocorrect - coproc then
    do else !:
gosu su-exec taskset faketime setuidgid envdir s6-setuidgid doppler op: +1
sudo: -aCcDghpRrtTUu --user --group --host --prompt --chdir --chroot --close-from --role --type --other-user
    --command-timeout --login-class --auth-type NAME= @-D @--chdir
doas: -Cu
pkexec: --user
runuser: -ugGscwT --user --group --supp-group --shell --command --session-command --whitelist-environment $-c
    $--command $--session-command
setpriv: --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --selinux-label
    --apparmor-profile --ruid --euid --rgid --egid
env: -uCa --unset --chdir --argv0 NAME= @-C @--chdir
exec: -a
nice: -n --adjustment
ionice: -cnpPu --class --classdata --pid --pgid --uid
chrt: -TPD --sched-runtime --sched-period --sched-deadline +1
numactl: -iNmpCl --interleave --membind --cpunodebind --physcpubind --preferred
timeout: -ks --kill-after --signal +1
time: -fo --format --output
stdbuf: -ioe --input --output --error
chroot: --userspec --groups +1
unshare: -SGRw --setuid --setgid --root --wd --map-user --map-group --propagation --setgroups
nsenter: -tSGr --target --setuid --setgid
strace: -aAbeEIoOpPsSuUX --attach --expr --trace --output --user --string-limit --env
ltrace: -aAdeDFlnopsuxX --align --output --indent --library
gdb: -x --command --eval-command --ex
perf: -eo --event --output +1
prlimit: -p --pid
systemd-run: -upHME --unit --property --description --slice --uid --gid --nice --working-directory --setenv --machine
    --on-active --on-calendar --service-type @--working-directory
systemd-inhibit: --what --who --why --mode
systemd-cat: -tp --identifier --priority
dbus-run-session: --config-file --dbus-daemon
xvfb-run: -enfsp --server-num --server-args --error-file --auth-file --xauth-protocol
fakeroot: -lsib --lib --faked
fakechroot: -ldeb
proot: -rbwqk --rootfs --bind --cwd
proxychains proxychains4: -f
torsocks: -uaP
cgexec: -g
cpulimit: -lpePm --limit --pid --exe --path
rlwrap: -abcDefgHloOpPqRsStw
tini: -pe
dumb-init: -r
caffeinate: -tw
arch: -de
chpst: -ueUbmodnpfcrtP/
softlimit: -amdslfopcrtn
retry: -tdms --times --delay
direnv: +2
daemonize: -acEeopul
ssh-agent: -aEPt
sem: -j --jobs --id
distrobox-enter lxc-attach: -n --name
dotenv: -fe --file
npx bunx: -pc --package --call $-c $--call
gksudo gksu kdesudo kdesu lxsudo: -u --user --message …
watch: -nq --interval --equexit …
watchexec: -wefis --watch --exts --filter --ignore --signal --shell …
nodemon: -ewi --ext --watch --ignore …
entr: …
"""
# Behind the slash: the words after which the command follows.
_SUBCOMMANDS: Final = """
bundle asdf rbenv pyenv nvm yarn / exec:
direnv / exec: +1
poetry pipenv pipx pdm hatch rye pixi snap doppler op / run:
conda mamba / run: -np --name --prefix --cwd
uv / run: -p --python --with --project --directory --extra --group --env-file
dotenv / run: -fe --file
bun / x:
mise / exec x:
npm / exec x: -pcw --package --call --workspace $-c $--call
pnpm / exec dlx:
ip / netns: +2
perf / stat record trace: -eo --event --output
"""


def _rows(table: str) -> list[tuple[str, Options]]:
    joined = table.strip().replace("\n    ", " ").split("\n")
    return [(programs, options(row)) for programs, _, row in (line.partition(":") for line in joined)]


WRAPPERS: Final = {name: row for programs, row in _rows(_WRAPPERS) for name in programs.split()}
SUBCOMMANDS: Final[dict[str, tuple[frozenset[str], Options]]] = {
    name: (frozenset(verbs.split()), row)
    for programs, row in _rows(_SUBCOMMANDS)
    for firsts, _, verbs in [programs.partition(" / ")]
    for name in firsts.split()
}
"""Two-word wrappers: the words after which a command follows, and the options between."""

BWRAP_VALUES: Final = {
    **dict.fromkeys(
        names(
            "--bind --ro-bind --dev-bind --bind-try --ro-bind-try --dev-bind-try --symlink --setenv --chmod --file "
            "--bind-data --ro-bind-data"
        ),
        2,
    ),
    **dict.fromkeys(
        names(
            "--proc --dev --tmpfs --dir --chdir --unsetenv --uid --gid --hostname --lock-file --remount-ro --mqueue "
            "--seccomp --perms --size --cap-add --cap-drop --args --info-fd --sync-fd --block-fd --exec-label "
            "--file-label --overlay-src --userns --pidns"
        ),
        1,
    ),
}
