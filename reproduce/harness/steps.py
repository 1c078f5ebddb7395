# SPDX-License-Identifier: Apache-2.0
"""reproduce: finished steps are kept in a folder, so that a run that was interrupted goes on where it was.

A step is one call of a program. Its name is a hash of everything that its answer depends on: the words of the call, the
contents of the files among them, and the programs themselves. A step that is in the folder is not run again; one whose
program or input has changed has another name, and is.
"""

import hashlib
import json
import os
import pathlib
import threading


def digest(*parts):
    """A short hash of strings and bytes, in order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()[:24]


def digest_of_file(path):
    return digest(pathlib.Path(path).read_bytes())


def write_whole(path, content):
    """Writes a file, text or bytes, so that nobody ever sees half of it."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    beside.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.replace(beside, path)


class Steps:
    """The folder of kept steps."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ran = 0
        self.kept = 0

    def __call__(self, name, work):
        """What the step of this name gave when it ran, or gives now."""
        path = self.folder / f"{name}.json"
        try:
            answer = json.loads(path.read_text())
            self.kept += 1
            return answer
        except (OSError, ValueError):
            pass  # not there, or cut short by a full disk: run it
        answer = work()
        write_whole(path, json.dumps(answer))
        self.ran += 1
        return answer
