"""Commands of meta-infer as on the signer's machine: the passphrase comes through a descriptor of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PASSPHRASE = b"correct horse battery staple\n"


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
