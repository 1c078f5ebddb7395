#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build: a manual page out of what a small program says to --help, so that both cannot disagree. The first lines, up to an
empty one, are the synopsis; lines that begin with spaces are kept as they are.

    help_page.py NAME VERSION SUMMARY PROGRAM PAGE
"""

import os
import pathlib
import subprocess
import sys


def plain(line):
    """Neither a request nor an escape of roff; a hyphen that can be typed."""
    text = line.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text[:1] in (".", "'") else text


def page(name, version, summary, text):
    synopsis, _, rest = text.strip().partition("\n\n")
    lines = [f".TH {name.upper()} 1 \"\" \"rankloom {version}\" \"rankloom\"", ".SH NAME", plain(name) + r" \- " + plain(summary), ".SH SYNOPSIS", ".nf"]
    lines += map(plain, synopsis.splitlines())
    lines += [".fi", ".SH DESCRIPTION"]
    kept = False
    for line in rest.splitlines():
        if line.startswith(" ") != kept and line.strip():
            kept = not kept
            lines.append(".nf" if kept else ".fi")
        lines.append(plain(line) if line.strip() else ".PP")
    return "\n".join(lines + ([".fi"] if kept else []) + [".SH SEE ALSO", ".BR rankloom (1)", ""])


def main():
    name, version, summary, program, path = sys.argv[1:]
    said = subprocess.run([program, "--help"], check=True, capture_output=True, text=True, timeout=60).stdout
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(page(name, version, summary, said))
    os.replace(temporary, path)


if __name__ == "__main__":
    main()
