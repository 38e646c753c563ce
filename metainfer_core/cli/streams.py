"""Writing to stdout and stderr: what names hold cannot steer the terminal, and a closed or full stream is no defect."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from metainfer_core.errors import InputError

_STEERING = (
    *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"),  # C0 and C1 (ECMA-48)
    *(0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # change the direction of the text around them
    *(0x2028, 0x2029),  # further line ends
    *range(0xD800, 0xE000),  # bytes of a file name that are not UTF-8
)
_WRITTEN_OUT = {code: f"\\u{code:04x}" for code in _STEERING}


def harmless(text: str) -> str:
    r"""`text` with every character that could steer a terminal written out, as in `\u001b`; JSON reads it back."""
    return text.translate(_WRITTEN_OUT)


def settle() -> None:
    """Gives closed standard streams a place, so that no file that is opened later becomes one of them."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            # stdout is opened for reading: the answer that nobody gets is an error, a lost message is not
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def answer(text: str) -> None:
    """Writes the answer of a command to stdout, at once.

    Whoever reads it may stop early, as `head` does: then the rest is dropped.

    Raises:
        InputError: stdout is closed, or what it leads to is full.
    """
    try:
        sys.stdout.write(harmless(text) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_stdout()
    except OSError as error:
        abandon_stdout()
        raise InputError(
            "The answer cannot be written to stdout.",
            f"{error.strerror or error}.",
            "Free some space, or let it lead elsewhere.",
        ) from error


def tell(text: str) -> None:
    """Writes a message or progress to stderr, at once; if nobody can read it, the work goes on."""
    with suppress(OSError):
        sys.stderr.write(harmless(text) + "\n")
        sys.stderr.flush()


def finish() -> None:
    """Writes what is left for stdout, or gives it up where it cannot be written: the error has been told already."""
    try:
        sys.stdout.flush()
    except OSError:
        abandon_stdout()


def abandon_stdout() -> None:
    """Lets stdout lead nowhere, so that nothing more fails when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
