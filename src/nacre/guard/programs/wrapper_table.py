"""Which words of a wrapper are its own: a table of option letters and names, one row a program.

Facts from manual pages only. `short` and `long` are the options that take a value as the next word.
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
    bare_number: bool = False
    directory: tuple[str, ...] = ()
    """Options whose value is where the command runs."""


WRAPPERS: Final[dict[str, Options]] = {
    **dict.fromkeys(
        names(
            """
            command builtin nohup unbuffer setsid setarch linux32 linux64 valgrind dbus-launch eatmydata firejail
            torify tsocks catchsegv catatonit ts chronic ifne busybox toybox hyperfine flatpak-spawn winpty noglob
            nocorrect - coproc then do else !
            """
        ),
        Options(),
    ),
    **dict.fromkeys(
        names("gosu su-exec taskset faketime setuidgid envdir s6-setuidgid doppler op"), Options(operands=1)
    ),
    "sudo": Options(
        "aCcDghpRrtTUu",
        names(
            """
            user group host prompt chdir chroot close-from role type other-user command-timeout login-class
            auth-type
            """
        ),
        assignments=True,
        directory=("-D", "--chdir"),
    ),
    "doas": Options("Cu"),
    "pkexec": Options("", ("user",)),
    "runuser": Options(
        "ugGscwT",
        ("user", "group", "supp-group", "shell", "command", "session-command", "whitelist-environment"),
        script=("-c", "--command", "--session-command"),
    ),
    "setpriv": Options(
        "",
        names(
            """
            reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label
            apparmor-profile ruid euid rgid egid
            """
        ),
    ),
    "env": Options("uCa", ("unset", "chdir", "argv0"), assignments=True, directory=("-C", "--chdir")),
    "exec": Options("a"),
    "nice": Options("n", ("adjustment",), bare_number=True),
    "ionice": Options("cnpPu", ("class", "classdata", "pid", "pgid", "uid")),
    "chrt": Options("TPD", ("sched-runtime", "sched-period", "sched-deadline"), operands=1),
    "numactl": Options("iNmpCl", ("interleave", "membind", "cpunodebind", "physcpubind", "preferred")),
    "timeout": Options("ks", ("kill-after", "signal"), operands=1),
    "time": Options("fo", ("format", "output")),
    "stdbuf": Options("ioe", ("input", "output", "error")),
    "chroot": Options("", ("userspec", "groups"), operands=1),
    "unshare": Options("SGRw", ("setuid", "setgid", "root", "wd", "map-user", "map-group", "propagation", "setgroups")),
    "nsenter": Options("tSGr", ("target", "setuid", "setgid")),
    "strace": Options("aAbeEIoOpPsSuUX", ("attach", "expr", "trace", "output", "user", "string-limit", "env")),
    "ltrace": Options("aAdeDFlnopsuxX", ("align", "output", "indent", "library")),
    "gdb": Options("x", ("command", "eval-command", "ex")),
    "perf": Options("eo", ("event", "output"), operands=1),
    "prlimit": Options("p", ("pid",)),
    "systemd-run": Options(
        "upHME",
        names(
            """
            unit property description slice uid gid nice working-directory setenv machine on-active on-calendar
            service-type
            """
        ),
        directory=("--working-directory",),
    ),
    "systemd-inhibit": Options("", ("what", "who", "why", "mode")),
    "systemd-cat": Options("tp", ("identifier", "priority")),
    "dbus-run-session": Options("", ("config-file", "dbus-daemon")),
    "xvfb-run": Options("enfsp", ("server-num", "server-args", "error-file", "auth-file", "xauth-protocol")),
    "fakeroot": Options("lsib", ("lib", "faked")),
    "fakechroot": Options("ldeb"),
    "proot": Options("rbwqk", ("rootfs", "bind", "cwd")),
    "proxychains": Options("f"),
    "proxychains4": Options("f"),
    "torsocks": Options("uaP"),
    "cgexec": Options("g"),
    "cpulimit": Options("lpePm", ("limit", "pid", "exe", "path")),
    "rlwrap": Options("abcDefgHloOpPqRsStw"),
    "tini": Options("pe"),
    "dumb-init": Options("r"),
    "caffeinate": Options("tw"),
    "arch": Options("de"),
    "chpst": Options("ueUbmodnpfcrtP/"),
    "softlimit": Options("amdslfopcrtn"),
    "retry": Options("tdms", ("times", "delay")),
    "direnv": Options(operands=2),
    "daemonize": Options("acEeopul"),
    "ssh-agent": Options("aEPt"),
    "sem": Options("j", ("jobs", "id")),
    "distrobox-enter": Options("n", ("name",)),
    "lxc-attach": Options("n", ("name",)),
    "dotenv": Options("fe", ("file",)),
}

# Two-word wrappers: the program and the word after which a command follows.
SUBCOMMANDS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(names("bundle asdf rbenv pyenv nvm yarn direnv"), frozenset(("exec",))),
    **dict.fromkeys(
        names("poetry pipenv uv pipx pdm hatch rye pixi conda mamba snap dotenv doppler op"), frozenset(("run",))
    ),
    "bun": frozenset(("x",)),
    "mise": frozenset(("exec", "x")),
    "npm": frozenset(("exec", "x")),
    "pnpm": frozenset(("exec", "dlx")),
    "ip": frozenset(("netns",)),
    "xcrun": frozenset(()),
    "perf": frozenset(("stat", "record", "trace")),
}
SUBCOMMAND_OPERANDS: Final = {"direnv": 1, "ip": 2}
SUBCOMMAND_OPTIONS: Final[dict[str, Options]] = {
    "conda": Options("np", ("name", "prefix", "cwd")),
    "mamba": Options("np", ("name", "prefix", "cwd")),
    "npm": Options("pcw", ("package", "call", "workspace"), script=("-c", "--call")),
    "uv": Options("p", ("python", "with", "project", "directory", "extra", "group", "env-file")),
    "perf": Options("eo", ("event", "output")),
    "dotenv": Options("fe", ("file",)),
}

BWRAP_VALUES: Final = {
    **dict.fromkeys(
        names(
            """
            --bind --ro-bind --dev-bind --bind-try --ro-bind-try --dev-bind-try --symlink --setenv --chmod --file
            --bind-data --ro-bind-data
            """
        ),
        2,
    ),
    **dict.fromkeys(
        names(
            """
            --proc --dev --tmpfs --dir --chdir --unsetenv --uid --gid --hostname --lock-file --remount-ro --mqueue
            --seccomp --perms --size --cap-add --cap-drop --args --info-fd --sync-fd --block-fd --exec-label
            --file-label --overlay-src --userns --pidns
            """
        ),
        1,
    ),
}
