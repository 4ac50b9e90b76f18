"""Commands of the program, forked from a process that has imported it already: importing is most
of what a command costs. Each is still a process with the folder, environment and streams of the
shell that started it, which `bin/am` hands over.

    python -m tests.docs.forks SOCKET
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from tests.e2e import am_forks


def serve(address: str) -> NoReturn:
    am_forks.import_all()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{address}.new")
        door.listen()
        Path(f"{address}.new").rename(address)
        while True:
            caller, _ = door.accept()
            if os.fork() == 0:
                _answer(caller)
            caller.close()


def _answer(caller: socket.socket) -> NoReturn:
    """Waits for the command, and tells how it ended."""
    message, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    command = os.fork()
    if command == 0:
        caller.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        am_forks.become(json.loads(message))
    _, status = os.waitpid(command, 0)
    caller.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
