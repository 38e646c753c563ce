"""Limits a process before it reads what nobody vouches for."""

from __future__ import annotations

import ctypes
import resource
import signal
import sys

_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1


def confine(memory_bytes: int, cpu_seconds: int) -> None:
    """Limits this process for good: address space, computing time, no core file, no network.

    It ends with the process that started it.
    """
    sys.addaudithook(_refuse_network)
    _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes)
    _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 5)
    _limit(resource.RLIMIT_CORE, 0, 0)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # no orphan when the parent is killed
        # What is no Python code has no network either, where the system lets a process part from it.
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _limit(of: int, soft: int, hard: int) -> None:
    """Sets a limit; a hard one that is lower, as a shell or a cluster sets it, stays, since nobody may raise it."""
    _, most = resource.getrlimit(of)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(of, (soft, hard))


def _refuse_network(event: str, _: object) -> None:
    """An audit hook, which cannot be taken back: a document or a model has no reason to reach anything."""
    if event.startswith("socket."):
        raise PermissionError("The reader of a file has no network.")
