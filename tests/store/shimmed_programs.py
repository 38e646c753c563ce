"""What the tests run behind the shim: each program in a process of its own, started by `disk_shim.run`."""

import os
import signal
import sys
from pathlib import Path

from metainfer_core.errors import InputError
from metainfer_core.files import pending
from review_store.record.events import Commented
from review_store.record.log import EventLog

AT = "2026-11-29T12:00:00Z"


def say(line):
    """One line for the test that started the program."""
    os.write(1, f"{line}\n".encode())


def write(folder, count):
    """Writes events and says each that is kept, into a file that the shim watches too."""
    acknowledged = os.open(folder / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    log = EventLog(folder)
    for number in range(int(count)):
        log.append("p", [Commented(actor="ada", at=AT, action=f"a{number % 3}", text=f"text-{number}")])
        os.write(acknowledged, f"text-{number}\n".encode())
    log.close()


def until_full(folder, count):
    """Writes until the disk is full; prints what was kept, then the message and its status."""
    try:
        log = EventLog(folder)
        for number in range(int(count)):
            log.append("p", [Commented(actor="ada", at=AT, action="a", text=f"text-{number}")])
            say(f"text-{number}")
    except InputError as error:
        say(f"status {error.exit_status}: {error.what} | {error.why} | {error.fix}")


def sign_and_die(folder, most):
    """Signs and writes the bundle again and again, each time killed one operation later, until it gets through.

    A bundle that was there all the same is opened, which fails unless it is complete, and taken away.
    """
    from review_maker import POLICY, TRUST, UNTIL, approve_all, private_key

    from metainfer_core.bundle.signed_bundle import open_bundle
    from review_store.signing.signing import release

    log = EventLog(folder)
    approve_all(log, POLICY, "ada")
    log.close()
    for step in range(1, int(most)):
        child = os.fork()
        if child == 0:
            own = EventLog(folder)
            os.environ["SHIM_KILL_AT"] = str(step)
            with pending(folder / "net.bundle", "bundle") as file:
                release(own, POLICY, TRUST, private_key("ada"), AT, UNTIL, file=file)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        there = (folder / "net.bundle").exists()
        say(f"{step} {'killed' if killed else status} {'bundle' if there else 'nothing'}")
        if there:
            open_bundle((folder / "net.bundle").read_bytes(), TRUST, AT)
        if not killed:
            return
        (folder / "net.bundle").unlink(missing_ok=True)


def sign_on_a_full_disk(folder):
    """Signs what was approved; prints the status, and the message where there was no room."""
    from review_maker import POLICY, TRUST, UNTIL, private_key

    from review_store.signing.signing import release

    try:
        with pending(folder / "net.bundle", "bundle") as file:
            release(EventLog(folder), POLICY, TRUST, private_key("ada"), AT, UNTIL, file=file)
        say("0")
    except InputError as error:
        say(f"{error.exit_status} {error.what} {error.why}")


def make_store(folder, most):
    """Makes the store, killed one operation later each time, until it is made."""
    EventLog(folder / "warm").close()  # what is imported on first use is imported before the forks
    for step in range(1, int(most)):
        child = os.fork()
        if child == 0:
            os.environ["SHIM_KILL_AT"] = str(step)
            EventLog(folder / "store").close()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say(f"{step} {'killed' if os.WIFSIGNALED(status) else status}")
        if not os.WIFSIGNALED(status):
            return


if __name__ == "__main__":
    PROGRAMS = (write, until_full, sign_and_die, sign_on_a_full_disk, make_store)
    {each.__name__: each for each in PROGRAMS}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
