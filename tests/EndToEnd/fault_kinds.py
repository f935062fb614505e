"""The faults of the campaign (faults.py): how each is done from outside, and how the run has to end.

No kind needs help from vime: signals, limits of the system, files that change, sockets taken over from the rank's
process, and a preloaded library that makes a stage throw.
"""

import ctypes
import os
import resource
import signal
import socket
import subprocess

FAIL, HANG, FILE, UNACCEPTABLE, INTERRUPTED = 5, 6, 3, 4, 130

_libc = ctypes.CDLL(None, use_errno=True)
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438


def _sockets(process):
    """Copies of all connected TCP sockets of a process."""
    handle = _libc.syscall(_PIDFD_OPEN, process, 0)
    found = []
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            if not os.readlink(f"/proc/{process}/fd/{name}").startswith("socket:"):
                continue
        except FileNotFoundError:
            continue
        copy = _libc.syscall(_PIDFD_GETFD, handle, int(name), 0)
        if copy < 0:
            raise PermissionError(ctypes.get_errno(), "cannot take over a socket of another process")
        one = socket.socket(fileno=copy)
        try:
            one.getpeername()
            found.append(one)
        except OSError:
            one.close()
    os.close(handle)
    return found


def kill(run):
    os.kill(run.processes[run.rank], signal.SIGKILL)


def stop(run):
    os.kill(run.processes[run.rank], signal.SIGSTOP)


def close_socket(run):
    chosen = run.random.choice(_sockets(run.processes[run.rank]))
    chosen.shutdown(socket.SHUT_RDWR)


def swallow(run):
    """What the rank's peers send from now on never wakes it."""
    run.held = _sockets(run.processes[run.rank])
    for one in run.held:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1 << 30)


def fill_disk(run):
    """No file may grow any more."""
    for process in run.processes:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (0, 0))


def kill_launcher(run):
    os.kill(run.launcher, signal.SIGKILL)


def interrupt(run):
    os.kill(run.launcher, run.random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))


def change_text(run):
    with open(run.folder / "corpus.txt", "r+b") as file:
        file.truncate(run.random.randrange(1 << 13))


def nothing(run):
    """The fault was prepared before the start."""


def mount_small_disk(run, name, kibibytes):
    (run.folder / name).mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "vime-faults", run.folder / name], check=True)
    run.mounted = run.folder / name


def little_room_to_export(run):
    mount_small_disk(run, "out", run.random.randrange(4, 32, 4))


def no_room_for_records(run):
    mount_small_disk(run, "records", 4 * run.random.randrange(1, 12))


class Kind:
    def __init__(self, inject, codes, transports=("gloo",), *, hangs=False, causes=(), job="sleep", preload=None,
                 named=True, at_start=False, prepare=None, culprit="hit", meets=False):
        self.inject, self.codes, self.transports = inject, codes, transports
        self.hangs = hangs        # ends by a deadline
        self.causes = causes      # what `vimec explain` may conclude; the rank must be the one that was hit
        self.job = job
        self.preload = preload    # `throw` or `stick`
        self.named = named        # the message names rank and action
        self.at_start = at_start  # no rank need have begun
        self.prepare = prepare    # before the run
        self.culprit = culprit    # the rank to be blamed; None: any
        self.meets = meets        # strikes while ranks meet


KINDS = {
    "killed":       Kind(kill, (FAIL,), causes=("killed",)),
    "stopped":      Kind(stop, (HANG,), hangs=True, causes=("silent", "stuck")),
    "socket":       Kind(close_socket, (FAIL,), causes=("lost peer",)),
    "swallowed":    Kind(swallow, (HANG,), hangs=True, causes=("transfer", "stuck")),
    "exception":    Kind(nothing, (FAIL,), ("gloo", "local"), preload="throw", causes=("failed",)),
    "stuck":        Kind(nothing, (HANG,), ("gloo", "local"), hangs=True, preload="stick", causes=("stuck", "failed")),
    "disk":         Kind(fill_disk, (FILE,), ("gloo", "local"), job="export", causes=("failed",), culprit=None),
    "full disk":    Kind(nothing, (FILE,), ("gloo", "local"), job="export", causes=("failed",), at_start=True,
                         prepare=little_room_to_export, culprit=None),
    "no records":   Kind(nothing, (FILE,), ("gloo", "local"), named=False, at_start=True, prepare=no_room_for_records),
    "text":         Kind(change_text, (FILE,), ("gloo", "local"), causes=("failed",), culprit=0),  # it reads for all
    "other plan":   Kind(nothing, (UNACCEPTABLE,), job="swap", named=False, at_start=True),
    "killed early": Kind(kill, (FAIL,), causes=("killed",), named=False, meets=True),
    "stopped early": Kind(stop, (FAIL, HANG), hangs=True, named=False, meets=True),
    "interrupted":  Kind(interrupt, (INTERRUPTED,), ("gloo", "local"), named=False),
    "launcher":     Kind(kill_launcher, (-signal.SIGKILL,), ("gloo", "local"), named=False),
}

# Kinds that need a right of the machine, and how to see that it is there.
NEEDS_MOUNT = ("full disk", "no records")


def can_mount():
    """Whether this user may mount a small disk."""
    return subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0 and os.geteuid() == 0
