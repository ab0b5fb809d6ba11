"""Ways out of a sandbox, tried from inside: `python3 escape_attempts.py TARGETS.json` prints what came of each.

An attempt that raises OSError was refused; one that returns a text has come through, and the text says with what.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pathlib
import platform
import signal
import socket
import stat
import subprocess
import sys
import termios
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
TARGETS = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
IS_X86 = platform.machine() == "x86_64"


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(number: int, *arguments: object) -> int:
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments))


def succeeds(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr)


def write_outside() -> str:
    with open(f"{TARGETS['outside']}/written", "w", encoding="utf-8") as file:
        file.write("x")
    return "wrote outside"


def write_etc() -> str:
    with open("/etc/nacre-escape", "w", encoding="utf-8") as file:
        file.write("x")
    return "wrote to /etc"


def link_from_outside() -> str:
    os.link(f"{TARGETS['outside']}/kept", "linked")
    with open("linked", "a", encoding="utf-8") as file:
        file.write("x")
    return "wrote through a hard link"


def rename_out() -> str:
    with open("moved", "w", encoding="utf-8") as file:
        file.write("x")
    os.rename("moved", f"{TARGETS['outside']}/moved")
    return "moved a file out"


def change_mode_outside() -> str:
    os.chmod(f"{TARGETS['outside']}/kept", 0o777)
    return "changed a mode outside"


def remount_writable() -> str:
    checked(LIBC.mount(b"none", b"/", None, ctypes.c_ulong(0x20 | 0x1000), None))
    return "remounted /"


def remount_by_program() -> str:
    succeeds("mount", "-o", "remount,rw,bind", "/")
    return "mount remounted /"


def unmount_protection() -> str:
    checked(LIBC.umount2(os.fsencode(os.path.abspath(".git/config")), 2))
    return "unmounted a protection"


def mount_by_new_calls() -> str:
    call(428, -100, b"/", 1)
    return "open_tree made a mount"


def environment_of_nacre() -> str:
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found += TARGETS["secret"].encode() in pathlib.Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
    if found:
        return "read the environment of nacre"
    raise ProcessLookupError("not visible")


def see_outside_process() -> str:
    os.stat(f"/proc/{TARGETS['victim']}")
    return "saw an outside process"


def signal_outside() -> str:
    os.kill(TARGETS["victim"], signal.SIGKILL)
    return "signalled an outside process"


def signal_by_pidfd() -> str:
    handle = os.pidfd_open(TARGETS["victim"])
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    return "signalled by a pidfd"


def trace_outside() -> str:
    checked(LIBC.ptrace(16, TARGETS["victim"], None, None))
    return "traced an outside process"


def trace_child() -> str:
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        checked(LIBC.ptrace(16, child, None, None))
    finally:
        os.kill(child, signal.SIGKILL)
    return "ptrace works"


def read_memory_of_another() -> str:
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    call(310 if IS_X86 else 270, 1, vector, ctypes.c_ulong(1), vector, ctypes.c_ulong(1), ctypes.c_ulong(0))
    return "read another's memory"


def user_namespace() -> str:
    checked(LIBC.unshare(0x10000000))
    return "made a user namespace"


def user_namespace_by_clone() -> str:
    child = call(56 if IS_X86 else 220, ctypes.c_ulong(0x10000000 | signal.SIGCHLD), None, None, None, None)
    if child == 0:
        os._exit(0)
    return "cloned into a user namespace"


def user_namespace_by_program() -> str:
    succeeds("unshare", "-Urm", "true")
    return "unshare -Urm works"


def nested_bubblewrap() -> str:
    succeeds("bwrap", "--unshare-user", "--bind", "/", "/", "true")
    return "bubblewrap works inside"


def join_namespace() -> str:
    with open("/proc/self/ns/mnt", "rb") as file:
        checked(LIBC.setns(file.fileno(), 0))
    return "setns works"


def tcp4() -> str:
    socket.create_connection(("127.0.0.1", TARGETS["tcp4"]), 3).close()
    return "connected by IPv4"


def tcp6() -> str:
    socket.create_connection(("::1", TARGETS["tcp6"]), 3).close()
    return "connected by IPv6"


def tcp_public() -> str:
    socket.create_connection(("192.0.2.1", 80), 3).close()
    return "connected to a public address"


def udp() -> str:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.connect(("192.0.2.1", 53))
        sock.send(b"x")
    return "sent a datagram"


def udp_to_loopback() -> str:
    """A datagram to the sandbox's own loopback may be sent; the test looks whether it has arrived outside."""
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", TARGETS["udp"]))
        sock.send(b"x")
        sock.settimeout(1)
        sock.recv(1)
    return "a datagram was answered"


def name_lookup() -> str:
    socket.getaddrinfo("example.org", 80)
    return "looked a name up"


def raw_socket() -> str:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "made a raw socket"


def packet_socket() -> str:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "made a packet socket"


def vsock() -> str:
    socket.socket(40, socket.SOCK_STREAM).close()
    return "made a socket to the hypervisor"


def unix_pathname() -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(TARGETS["docker"])
    return "connected to docker.sock"


def unix_in_workspace() -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("docker.sock")
    return "connected to docker.sock in the workspace"


def unix_abstract() -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + TARGETS["abstract"])
    return "connected to an abstract socket"


def hook_through_symlink() -> str:
    os.symlink(".git", "parent")
    os.makedirs("parent/hooks", exist_ok=True)
    with open("parent/hooks/pre-commit", "w", encoding="utf-8") as file:
        file.write("x")
    return "wrote a hook"


def hook_after_rename() -> str:
    os.rename(".git", "renamed")
    os.makedirs(".git/hooks")
    with open(".git/hooks/pre-commit", "w", encoding="utf-8") as file:
        file.write("x")
    return "replaced .git"


def git_configuration() -> str:
    with open(".git/config", "a", encoding="utf-8") as file:
        file.write("[core]\n")
    return "changed .git/config"


def settings_of_nacre() -> str:
    with open("nacre.toml", "w", encoding="utf-8") as file:
        file.write("x")
    return "wrote nacre.toml"


def symlink_race() -> str:
    """Writes through a name that changes between a directory inside and one outside."""
    os.mkdir("inside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for target in ("inside", TARGETS["outside"]):
                os.symlink(target, "next")
                os.replace("next", "race")

    thread = threading.Thread(target=swap)
    thread.start()
    came_through = refused = 0
    try:
        for at in range(3000):
            try:
                with open(f"race/{at}", "w", encoding="utf-8") as file:
                    file.write("x")
                came_through += f"race/{at}" != "" and os.path.exists(f"{TARGETS['outside']}/{at}")
            except OSError:
                refused += 1
    finally:
        stop.set()
        thread.join()
    if came_through:
        return "won a race"
    raise OSError(f"{refused} writes were refused")


def io_uring() -> str:
    call(425, 8, ctypes.create_string_buffer(256))
    return "made an io_uring"


def keyring() -> str:
    key = call(248 if IS_X86 else 217, b"user", b"nacre", b"x", ctypes.c_size_t(1), -3)
    return f"added key {key}"


def keyring_search() -> str:
    call(250 if IS_X86 else 219, 0, -4, 0)
    return "has a session keyring"


def memory_device() -> str:
    for name in ("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "fuse", "kvm"):
        if os.path.exists(f"/dev/{name}"):
            os.close(os.open(f"/dev/{name}", os.O_RDWR))
            return f"opened /dev/{name}"
    raise FileNotFoundError("no such device")


def own_device() -> str:
    os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 1))
    os.close(os.open("device", os.O_RDWR))
    return "opened a device of its own"


def type_into_terminal() -> str:
    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"x")
    return "typed into the terminal of nacre"


def type_into_own_terminal() -> str:
    _, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    return "TIOCSTI works"


def change_root() -> str:
    os.chroot(".")
    return "chroot works"


def kernel_settings() -> str:
    """With its own value, so that a success does no harm."""
    with open("/proc/sys/kernel/core_pattern", "r+", encoding="utf-8") as file:
        known = file.read()
        file.seek(0)
        file.write(known)
    return "set core_pattern"


def system_requests() -> str:
    os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
    return "opened sysrq-trigger"


def kernel_memory() -> str:
    with open("/proc/kcore", "rb") as file:
        file.read(1)
    return "read the memory of the kernel"


def control_group() -> str:
    for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"):
        if os.path.isdir(path):
            os.mkdir(f"{path}/nacre-escape")
            return "made a control group"
    raise FileNotFoundError("no control groups")


def bpf() -> str:
    call(321 if IS_X86 else 280, 0, ctypes.create_string_buffer(128), 128)
    return "bpf works"


def file_by_handle() -> str:
    call(304 if IS_X86 else 265, -100, ctypes.create_string_buffer(128), 0)
    return "open_by_handle_at works"


def capabilities() -> str:
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    caps = [line.split()[1] for line in status.splitlines() if line.startswith(("CapI", "CapP", "CapE", "CapA"))]
    if "NoNewPrivs:\t1" not in status or set(caps) != {"0" * 16}:
        return f"has {caps}"
    raise PermissionError("none")


def descriptors() -> str:
    """What was left open would lead out: a directory, or a socket of nacre's."""
    for name in os.listdir("/proc/self/fd"):
        try:
            kind = os.fstat(int(name)).st_mode
        except OSError:
            continue
        link = os.readlink(f"/proc/self/fd/{name}")
        if (stat.S_ISDIR(kind) and not link.startswith("/proc")) or stat.S_ISSOCK(kind):
            return f"descriptor {name} is {link}"
    raise PermissionError("none")


def root_of_the_first_process() -> str:
    other, own = os.stat("/proc/1/root/."), os.stat("/")
    if (other.st_dev, other.st_ino) == (own.st_dev, own.st_ino):
        raise PermissionError("it is the same")
    return "entered another root"


def credential_files() -> str:
    for path in TARGETS["credentials"]:
        if os.path.isdir(path):
            found = os.listdir(path)
            if found:
                return f"{path} has {found}"
            continue
        with open(path, "rb") as file:
            if file.read():
                return f"read {path}"
    raise PermissionError("hidden")


NOT_ATTEMPTS = ("checked", "call", "succeeds", "main")


def main() -> None:
    for name, attempt in list(globals().items()):
        if getattr(attempt, "__module__", "") != "__main__" or name in NOT_ATTEMPTS or not callable(attempt):
            continue
        try:
            outcome = f"ESCAPED: {attempt()}"
        except OSError as error:
            outcome = f"refused: {error}"
        print(json.dumps([name, outcome]), flush=True)


if __name__ == "__main__":
    main()
