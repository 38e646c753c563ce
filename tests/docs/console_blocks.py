"""Reads the console blocks of Markdown files, and runs them as a reader would.

A block holds commands after `$ ` (a backslash at the end of a line continues one) and lines of their output. `...`
stands for anything: inside a line, or as a line of its own. A command that must not end with status 0 says so in a
comment: `# exit status 3`.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"#\s*exit status (\d+)\s*$")


@dataclass(frozen=True)
class Command:
    text: str
    status: int
    output: tuple[str, ...]
    place: str

    @property
    def words(self) -> list[list[str]]:
        """The words of each program that the line starts: split at pipes, without redirections and comments."""
        text = re.sub(r"\s\d*(<<<|<|>>|>)\s*(\"[^\"]*\"|\S+)", " ", self.text)
        words = shlex.split(text, comments=True)
        programs: list[list[str]] = [[]]
        for word in words:
            if word in ("|", "&&", ";", "||"):
                programs.append([])
            else:
                programs[-1].append(word)
        return [program for program in programs if program]


def commands_of(path: Path) -> list[Command]:
    text = path.read_text()
    found = []
    for block in FENCE.finditer(text):
        line_number = text[: block.start(1)].count("\n") + 1
        lines = block[1].splitlines()
        index = 0
        while index < len(lines):
            assert lines[index].startswith("$ "), f"{path.name}:{line_number + index}: a command was expected"
            start = index
            command = lines[index][2:]
            while command.endswith("\\"):
                index += 1
                command = command[:-1].rstrip() + " " + lines[index].strip()
            index += 1
            output = []
            while index < len(lines) and not lines[index].startswith("$ "):
                output.append(lines[index])
                index += 1
            status = STATUS.search(command)
            place = f"{path.name}:{line_number + start}"
            found.append(Command(command, int(status[1]) if status else 0, tuple(output), place))
    return found


def run(command: Command, folder: Path, environment: dict[str, str], timeout_s: float) -> str:
    """What the command printed, errors too; fails where status or output are not as shown."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.text}"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    shown = f"{command.place}: $ {command.text}\n{done.stdout[-4000:]}"
    assert done.returncode == command.status, f"exit status {done.returncode}, not {command.status}\n{shown}"
    missing = first_missing(command.output, done.stdout)
    assert missing is None, f"this line is not in the output, or not in this order: {missing}\n{shown}"
    return done.stdout


def first_missing(expected: tuple[str, ...], printed: str) -> str | None:
    """The first expected line that the output does not have after the ones before it."""
    lines = iter(printed.splitlines())
    for line in expected:
        if line.strip() == "...":
            continue
        pattern = re.compile(".*".join(re.escape(part.rstrip()) for part in line.rstrip().split("...")))
        if not any(pattern.fullmatch(candidate.rstrip()) for candidate in lines):
            return line
    return None
