# SPDX-License-Identifier: Apache-2.0
"""reproduce: a cache of finished steps, so that an interrupted run continues where it stopped.

A step is one call of a program. Its name is a hash of everything that its result depends on: the arguments, the contents
of the files among them, and the programs themselves. A step in the cache is not run again; a step whose program or input
has changed has a different name, so it is run.
"""

import hashlib
import json
import os
import pathlib
import threading


def digest(*parts):
    """A short hash of strings and bytes, in order."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()[:24]


def digest_of_file(path):
    return digest(pathlib.Path(path).read_bytes())


def write_atomically(path, content):
    """Writes a file, text or bytes, atomically: readers never see a partial file."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.replace(temporary, path)


class Steps:
    """The directory of cached steps."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.ran = 0
        self.cached = 0

    def __call__(self, name, work):
        """The result of the step, from the cache or from running it now."""
        path = self.directory / f"{name}.json"
        try:
            answer = json.loads(path.read_text())
            self.cached += 1
            return answer
        except (OSError, ValueError):
            pass  # missing, or truncated by a full disk: run the step
        answer = work()
        write_atomically(path, json.dumps(answer))
        self.ran += 1
        return answer
