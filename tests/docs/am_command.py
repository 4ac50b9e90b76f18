"""Has a command of the program run by tests/docs/forks.py, with our own streams."""

import json
import os
import socket
import sys
from pathlib import Path

with socket.socket(socket.AF_UNIX) as forks:
    forks.connect(os.environ["DOCS_FORKS"])
    request = {"args": sys.argv[1:], "cwd": str(Path.cwd()), "env": dict(os.environ)}
    socket.send_fds(forks, [json.dumps(request).encode()], [0, 1, 2])
    code = forks.recv(1)
sys.exit(code[0] if code else 70)
