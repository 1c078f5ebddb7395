# SPDX-License-Identifier: Apache-2.0
"""reproduce: progress: one line on a terminal, nothing when piped."""

import sys


class Progress:
    def __init__(self, stream=sys.stderr, shown=None):
        self.stream = stream
        self.shown = stream.isatty() if shown is None else shown
        self.title = ""
        self.width = 0

    def begin(self, title):
        self.title = title
        self.report("", 0, 0)

    def report(self, label, done, of):
        if not self.shown:
            return
        bar = ""
        if of:
            filled = round(20 * done / of)
            bar = f" [{'#' * filled}{'.' * (20 - filled)}] {done}/{of}"
        self._write(f"{self.title}{': ' if label else ''}{label}{bar}")

    def finish(self):
        """Removes the line."""
        if self.shown:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()
        self.width = 0

    def _write(self, text):
        text = text[:118]
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)
