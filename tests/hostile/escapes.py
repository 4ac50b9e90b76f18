"""A program that tries to get out of where it is, and says which ways were open. It is run in the
sandbox, outside of it as a control, and in sandboxes with a measure switched off. It changes
nothing that matters where a way is open: it opens files for writing without writing, and calls the
kernel with arguments that mean nothing."""

import ctypes
import errno
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from pathlib import Path

TOLD = json.loads(Path(sys.argv[1]).read_text())
LIBC = ctypes.CDLL(None, use_errno=True)
WORK = Path.cwd()
SHORT_S = 0.7
PROXY = int(os.environ.get("HTTP_PROXY", ":3128").rpartition(":")[2])
WAYS: dict[str, Callable[[], object]] = {}
MUST_WORK: dict[str, Callable[[], object]] = {}


def way(name: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def known(function: Callable[[], object]) -> Callable[[], object]:
        WAYS[name] = function
        return function

    return known


def works(name: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def known(function: Callable[[], object]) -> Callable[[], object]:
        MUST_WORK[name] = function
        return function

    return known


def is_open(function: Callable[[], object]) -> bool:
    try:
        return bool(function())
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def opens(path: str, flags: int = os.O_WRONLY) -> bool:
    os.close(os.open(path, flags | os.O_NONBLOCK))
    return True


def reaches(host: str, port: int) -> bool:
    with socket.create_connection((host, port), SHORT_S):
        return True


def calls(name: str, *arguments: object) -> bool:
    """Whether the kernel looked at the arguments, instead of refusing the call itself."""
    ctypes.set_errno(0)
    LIBC.syscall(TOLD["numbers"][name], *arguments)
    return ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)


# ------------------------------------------------------------------------------------------- works


@works("write the workspace")
def write_the_workspace() -> bool:
    (WORK / "mine").write_text("x")
    return (WORK / "mine").read_text() == "x"


@works("write a temporary folder")
def write_temp() -> bool:
    with tempfile.NamedTemporaryFile() as file:
        return file.write(b"x") == 1


@works("commit with git")
def commit() -> bool:
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    for name in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{name}_NAME": "a", f"GIT_{name}_EMAIL": "a@b"}
    for line in ("init -q r", "-C r commit -q --allow-empty -m x"):
        subprocess.run(["git", *line.split()], check=True, env=env, capture_output=True)
    return True


@works("reach the port that is open")
def reach_the_port() -> bool:
    return reaches("127.0.0.1", TOLD["open_port"])


# ------------------------------------------------------------------------------------------- files


@way("read a file of the home")
def read_home() -> bool:
    return Path(TOLD["home"], "secret").read_text() == "secret"


@way("list the home")
def list_home() -> bool:
    return (Path(TOLD["home"]) / "secret") in Path(TOLD["home"]).iterdir()


@way("read the token of the data directory")
def read_token() -> bool:
    return Path(TOLD["data"], "token").read_text() == "secret"


@way("read the main checkout")
def read_checkout() -> bool:
    return Path(TOLD["project"], ".env").read_text() == "secret"


@way("read the workspace of another task")
def read_other() -> bool:
    return Path(TOLD["data"], "worktrees", "other", "file").read_text() == "secret"


@way("write /etc")
def write_etc() -> bool:
    return opens("/etc/hostname")


@way("write /usr")
def write_usr() -> bool:
    Path("/usr/lib/am-escape").touch()
    Path("/usr/lib/am-escape").unlink()
    return True


@way("write what is shown to be read")
def write_shown() -> bool:
    return opens(TOLD["shown"])


@way("remove what is shown to be read")
def remove_shown() -> bool:
    moved = Path(TOLD["shown"]).rename(TOLD["shown"] + ".moved")
    moved.rename(TOLD["shown"])
    return True


@way("write a file by a link to it")
def write_by_link() -> bool:
    (WORK / "link").symlink_to(TOLD["home"] + "/secret")
    return opens(str(WORK / "link"))


@way("take a file of the machine by a hard link")
def take_by_hard_link() -> bool:
    os.link(TOLD["linkable"], WORK / "hard")
    return True


@way("leave by the root of the first process")
def leave_by_root() -> bool:
    return Path(f"/proc/1/root/{TOLD['home']}/secret").read_text() == "secret"


@way("leave by the folder of another process")
def leave_by_cwd() -> bool:
    return Path(f"/proc/{TOLD['sleeper']}/cwd/secret").read_text() == "secret"


@way("make a program that runs as its owner, by creating it")
def create_set_id() -> bool:
    os.close(os.open(WORK / "set-id", os.O_CREAT | os.O_WRONLY, 0o4755))
    return bool((WORK / "set-id").stat().st_mode & 0o4000)


@way("make a program that runs as its owner, by its mode")
def change_set_id() -> bool:
    (WORK / "set-mode").touch()
    (WORK / "set-mode").chmod(0o4755)
    return True


@way("make a device")
def make_device() -> bool:
    os.mknod(WORK / "device", 0o660 | 0o060000, os.makedev(254, 0))
    return True


@way("open a disk or the memory")
def open_disk() -> bool:
    names = ("vda", "sda", "nvme0n1", "mem", "kmsg", "kvm", "fuse")
    return any(is_open(lambda n=n: opens(f"/dev/{n}", os.O_RDONLY)) for n in names)


@way("change how the kernel handles crashes")
def core_pattern() -> bool:
    return opens("/proc/sys/kernel/core_pattern")


@way("change settings of the kernel")
def kernel_settings() -> bool:
    names = ("kernel/hostname", "vm/overcommit_memory", "kernel/modprobe")
    return any(is_open(lambda n=n: opens(f"/proc/sys/{n}")) for n in names)


@way("press the magic key")
def sysrq() -> bool:
    return opens("/proc/sysrq-trigger")


@way("write /sys")
def write_sys() -> bool:
    names = ("kernel/uevent_helper", "power/state", "kernel/mm/transparent_hugepage/enabled")
    return any(is_open(lambda n=n: opens(f"/sys/{n}")) for n in names)


@way("make a control group")
def make_cgroup() -> bool:
    for folder in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        made = Path(folder, "am-escape")
        if is_open(lambda m=made: m.mkdir() is None):
            made.rmdir()
            return True
    return False


@way("speak to a socket in a hidden place")
def hidden_socket() -> bool:
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(TOLD["home"] + "/door")
        return True


# ----------------------------------------------------------------------------------------- secrets


@way("find a secret in its own environment")
def own_environment() -> bool:
    return "AM_CANARY" in os.environ


@way("find a secret in the environment of a process")
def other_environments() -> bool:
    return any(
        is_open(lambda p=p: b"AM_CANARY" in Path(f"/proc/{p}/environ").read_bytes())
        for p in (entry.name for entry in Path("/proc").glob("[0-9]*"))
    )


@way("use the keys of the kernel")
def keys() -> bool:
    return calls("keyctl", 0, -3, 0, 0, 0) or calls("add_key", 0, 0, 0, 0, 0)


# --------------------------------------------------------------------------------------- processes


@way("see a process of the machine")
def see_process() -> bool:
    told = Path(f"/proc/{TOLD['sleeper']}/cmdline").read_bytes()
    return b"am-sleeper" in told


@way("signal a process of the machine")
def signal_process() -> bool:
    if not see_process():
        return False
    os.kill(TOLD["sleeper"], 0)
    return True


@way("follow another program")
def trace() -> bool:
    return calls("ptrace", 9999, TOLD["sleeper"], 0, 0)


@way("read the memory of another program")
def read_memory() -> bool:
    return calls("process_vm_readv", TOLD["sleeper"], 0, 0, 0, 0, 0)


@way("speak to a socket without a place")
def abstract_socket() -> bool:
    with socket.socket(socket.AF_UNIX) as door:
        door.connect("\0" + TOLD["abstract"])
        return True


@way("find the shared memory of the machine")
def shared_memory() -> bool:
    return LIBC.shmget(TOLD["segment"], 0, 0) >= 0


# ----------------------------------------------------------------------------------------- network


@way("reach a port of the machine")
def reach_loopback() -> bool:
    return reaches("127.0.0.1", TOLD["port"])


@way("reach the machine by its own address")
def reach_address() -> bool:
    return any(is_open(lambda a=a: reaches(a, TOLD["port"])) for a in TOLD["addresses"])


@way("send a datagram")
def datagram() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        return door.sendto(b"x", ("192.0.2.1", 53)) == 1


@way("reach the address of the cloud's secrets")
def metadata() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.connect(("169.254.169.254", 80))
        return True


@way("see the network devices of the machine")
def devices() -> bool:
    return [name for _, name in socket.if_nameindex()] != ["lo"]


@way("make a raw socket")
def raw() -> bool:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return True


@way("make a socket of the virtual machine")
def vsock() -> bool:
    socket.socket(40, socket.SOCK_STREAM).close()
    return True


def proxied(head: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", PROXY), SHORT_S) as door:
        door.settimeout(2)
        door.sendall(head)
        return door.recv(4096)


def gets(target: str) -> bool:
    return b" 200 " in proxied(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def connects(target: str) -> bool:
    return b" 200 " in proxied(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())


@way("pass the proxy to a name that is not listed")
def other_name() -> bool:
    return connects("evil.test:443")


@way("pass the proxy to an address")
def address() -> bool:
    return connects(f"127.0.0.1:{TOLD['port']}")


@way("pass the proxy to an address in other words")
def other_words() -> bool:
    return any(
        connects(f"{word}:{TOLD['port']}")
        for word in ("2130706433", "0x7f000001", "0177.1", "[::1]")
    )


@way("pass the proxy by a name with an account")
def account() -> bool:
    return connects(f"allowed.test@127.0.0.1:{TOLD['port']}")


@way("pass the proxy by a NUL in the name")
def nul() -> bool:
    return b" 200 " in proxied(b"CONNECT localhost\0.allowed.test:443 HTTP/1.1\r\n\r\n")


@way("pass the proxy to another port")
def other_port() -> bool:
    return connects(f"allowed.test:{TOLD['port']}")


@way("pass the proxy to a listed name that leads to this machine")
def rebound() -> bool:
    return connects("localhost:443") or gets("http://localhost/")


# ------------------------------------------------------------------------------------------ kernel

CALLS = {
    "make a namespace of users": ("unshare", 0x10000000),
    "make a namespace of mounts": ("unshare", 0x20000),
    "mount something": ("mount", 0, 0, 0, 0, 0),
    "mount something the new way": ("fsopen", 0, 0),
    "change the root": ("pivot_root", 0, 0),
    "load a program into the kernel": ("bpf", 99, 0, 0),
    "watch the machine's performance": ("perf_event_open", 0, 0, -1, -1, 0),
    "handle page faults": ("userfaultfd", 0xFFFF),
    "use io_uring": ("io_uring_setup", 0, 0),
    "load another kernel": ("kexec_load", 0, 99, 0, 0xFFFF),
    "load a module": ("finit_module", -1, 0, 0xFFFF),
    "open a file by its handle": ("open_by_handle_at", -1, 0, 0),
    "join a namespace": ("setns", -1, 0),
    "make a process by clone3": ("clone3", 0, 0),
    "set the clock": ("clock_settime", 0xFFFF, 0),
}
for told, call in CALLS.items():
    WAYS[told] = lambda call=call: calls(*call)


@way("make a namespace by clone")
def clone() -> bool:
    ctypes.set_errno(0)
    pid = LIBC.syscall(TOLD["numbers"]["clone"], 0x10000000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return pid > 0


@way("change the root folder")
def chroot() -> bool:
    return LIBC.chroot(b"/nowhere") == 0 or ctypes.get_errno() == errno.ENOENT


@way("become root")
def become_root() -> bool:
    if 0 in os.getresuid():
        return True
    os.setuid(0)
    return True


@way("hold a capability")
def capability() -> bool:
    told = Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0]
    return int(told, 16) != 0


@way("gain rights by a program of root's")
def new_privileges() -> bool:
    return Path("/proc/self/status").read_text().split("NoNewPrivs:")[1].split()[0] != "1"


@way("type into the terminal")
def type_in() -> bool:
    main, terminal = os.openpty()
    try:
        fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
    except OSError as error:
        return error.errno != errno.EPERM
    finally:
        os.close(main)
        os.close(terminal)
    return True


# ------------------------------------------------------------------------------------------ limits


@way("write a file without end")
def large_file() -> bool:
    with (WORK / "large").open("wb") as file:
        try:
            file.seek(TOLD["file_bytes"])
            file.write(b"x")
            file.flush()
        finally:
            os.truncate(WORK / "large", 0)
    return True


@way("start processes without end")
def many_processes() -> bool:
    """Without a namespace of its own, the other processes of the user count, too."""
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return not 0 < most - TOLD["processes"] + 1 < 1000


@way("leave the memory of a crash behind")
def core() -> bool:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


# ------------------------------------------------------------------------- without namespaces


def listen() -> bool:
    with socket.socket() as door:
        door.listen()
        return True


def bind() -> bool:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return True


def fast_open() -> bool:
    with socket.socket() as door:
        return door.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", TOLD["port"])) == 1


def multipath() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as door:
        door.settimeout(SHORT_S)
        door.connect(("127.0.0.1", TOLD["port"]))
        return True


def no_address() -> bool:
    """Whatever it is told, an answer comes."""
    with socket.socket() as door:
        for where, size in ((1 << 63, 16), ((1 << 64) - 1, 16), (0, 16), (1, 0), (1, 1 << 40)):
            call = TOLD["numbers"]["connect"]
            wild = (ctypes.c_long(where - (where >> 63 << 64)), ctypes.c_long(size))
            if LIBC.syscall(call, door.fileno(), *wild) == 0:
                return True
    return False


def others_limits() -> bool:
    resource.prlimit(TOLD["sleeper"], resource.RLIMIT_CORE, (0, 0))
    return True


def other_address() -> bool:
    """Nobody listens there: what matters is that it was tried."""
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.2", PROXY)) == errno.ECONNREFUSED


if TOLD["alone"]:  # In a network of its own these harm nobody.
    WAYS |= {
        "reach another address by the port of the proxy": other_address,
        "connect to what is no address": no_address,
        "listen for others": listen,
        "take a port of the machine": bind,
        "connect by sending": fast_open,
        "connect by another protocol": multipath,
        "limit a process of the machine": others_limits,
    }


def main() -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    found = {
        "open": [name for name, function in WAYS.items() if is_open(function)],
        "broken": [name for name, function in MUST_WORK.items() if not is_open(function)],
        "tried": len(WAYS) + len(MUST_WORK),
    }
    # Outlives the command where nothing ends it.
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)", TOLD["marker"]],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sys.stdout.write(json.dumps(found))


main()
