"""Commands of meta-infer as on the signer's machine: the passphrase comes through a descriptor of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PASSPHRASE = b"correct horse battery staple\n"


def pasted(shown, folder, config):
    """Runs what a screen shows in a new shell that knows no meta-infer, as a person who pastes it does.

    The passphrase comes through a descriptor where the command would ask a person for it.
    """
    read, write = os.pipe()
    os.write(write, PASSPHRASE)
    os.close(write)
    try:
        done = subprocess.run(
            ["/bin/bash", "--norc", "-c", f"{shown} --passphrase-fd {read}" if " trust " not in shown else shown],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_CONFIG_HOME": str(config)},
            pass_fds=(read,),
            capture_output=True,
            timeout=900,
            check=False,
        )
    finally:
        os.close(read)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return done.stdout.decode()


def command(words, folder, with_passphrase=False, **environment):
    """Runs a command in a folder; its answer."""
    read, write = os.pipe()
    os.write(write, PASSPHRASE)
    os.close(write)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "metainfer_core", *map(str, words), "--json"]
            + (["--passphrase-fd", str(read)] if with_passphrase else []),
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            pass_fds=(read,),
            capture_output=True,
            timeout=900,
            check=False,
        )
    finally:
        os.close(read)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)
