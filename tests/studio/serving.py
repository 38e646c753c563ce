"""Routes of the studio, served for real on this machine."""

import http.client
import socket
import threading
import time
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette


@contextmanager
def served(routes):
    """A function that asks for a path: gives status, headers by small name, and body."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = Starlette(routes=routes)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)

    def get(path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    yield get
    server.should_exit = True
    thread.join(10)
