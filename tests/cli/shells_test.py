#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The generated completion scripts and manual pages in shells and manual readers. Missing shells are skipped."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import terminals

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


def run(*argv, text=None):
    done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def rankloom(*arguments):
    status, out, err = run(str(PROGRAM), *arguments)
    assert status == 0, err
    return out


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Bash(unittest.TestCase):
    def complete(self, *words, folder="."):
        """The completions of bash for the last word."""
        script = rankloom("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rankloom; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, cwd=folder, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_offers_verbs(self):
        self.assertEqual(self.complete("rankloom", "comp"), ["compare", "completion"])

    def test_offers_options_of_the_verb(self):
        self.assertEqual(self.complete("rankloom", "map", "x.prof", "--topo"), ["--topology"])
        self.assertEqual(self.complete("rankloom", "list", "--topo"), [])

    def test_offers_options_of_a_subcommand(self):
        self.assertEqual(self.complete("rankloom", "topo", "show", "--asc"), ["--ascii"])
        self.assertEqual(self.complete("rankloom", "gen", "stencil2d", "--shuf"), ["--shuffle"])

    def test_offers_values_of_options(self):
        self.assertEqual(self.complete("rankloom", "map", "--model", "hop"), ["hopbytes"])
        self.assertIn("greedy", self.complete("rankloom", "compare", "-a", ""))

    def test_offers_values_of_arguments(self):
        self.assertEqual(self.complete("rankloom", "list", "pat"), ["patterns"])
        self.assertEqual(self.complete("rankloom", "completion", "f"), ["fish"])

    def test_offers_files_for_file_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "my.prof").touch()
            self.assertEqual(self.complete("rankloom", "map", "my", folder=folder), ["my.prof"])
            self.assertEqual(self.complete("rankloom", "map", "x", "-o", "my", folder=folder), ["my.prof"])
            self.assertEqual(self.complete("rankloom", "map", "x", "--seed", "my", folder=folder), [])

    def test_is_registered(self):
        status, out, err = run("bash", "-c", rankloom("completion", "bash") + "complete -p rankloom")
        self.assertEqual((status, out.strip(), err), (0, "complete -F _rankloom rankloom", ""))


@needs("zsh")
class Zsh(unittest.TestCase):
    def test_is_valid_zsh(self):
        self.assertEqual(run("zsh", "-n", "/dev/stdin", text=rankloom("completion", "zsh")), (0, "", ""))

    @unittest.skipUnless(terminals.available(), terminals.WHY_NOT)
    def test_offers_subcommands_options_and_values(self):
        offers = {"rankloom topo sh": "show ", "rankloom map --model hop": "hopbytes ", "rankloom map --topol": "--topology ", "rankloom list pat": "patterns "}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "_rankloom").write_text(rankloom("completion", "zsh"))
            with Terminal("zsh", "-f", "-i") as shell:
                shell.type(f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -d {folder}/dump; PS1=; echo re''ady\n", until="ready")
                for typed, expected in offers.items():
                    shell.type(f"{typed}\t", until=typed.rsplit(" ", 1)[0] + " " + expected)
                    shell.type("\x15", until="")  # clear the line


class Terminal:
    """A program on its own terminal, without which zsh does not complete."""

    def __init__(self, *argv):
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.environ["TERM"] = "dumb"
            os.execvp(argv[0], argv)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.master)

    def type(self, text, until):
        """Types, and reads until the terminal shows the expected text; fails after 20 seconds."""
        os.write(self.master, text.encode())
        seen, end = "", time.monotonic() + 20
        while until not in seen:
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"typed {text!r}, waited for {until!r}, saw {seen!r}")
            seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return seen


@needs("fish")
class Fish(unittest.TestCase):
    def complete(self, line):
        script = rankloom("completion", "fish") + f"complete -C '{line}'\n"
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config"], input=script, capture_output=True, text=True, timeout=60, check=False, env={"HOME": home, "PATH": "/usr/bin:/bin"})
        self.assertEqual(done.stderr, "")
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    def test_is_valid_fish(self):
        with tempfile.NamedTemporaryFile("w", suffix=".fish") as script:
            script.write(rankloom("completion", "fish"))
            script.flush()
            self.assertEqual(run("fish", "-n", script.name), (0, "", ""))

    def test_offers_verbs_options_and_values(self):
        self.assertIn("compare", self.complete("rankloom comp"))
        self.assertIn("--topology", self.complete("rankloom map --topo"))
        self.assertEqual(self.complete("rankloom map --model hop"), ["hopbytes"])
        self.assertIn("stencil2d", self.complete("rankloom gen sten"))
        self.assertIn("--shuffle", self.complete("rankloom gen stencil2d --shuf"))
        self.assertNotIn("--shuffle", self.complete("rankloom map --shuf"))


class Manual(unittest.TestCase):
    def pages(self):
        with tempfile.TemporaryDirectory() as folder:
            rankloom("man", "-o", folder)
            for page in sorted(pathlib.Path(folder).iterdir()):
                yield page

    def test_has_a_page_for_every_verb(self):
        names = {page.name for page in self.pages()}
        self.assertTrue({"rankloom.1", "rankloom-map.1", "rankloom-topo.1", "rankloom-doctor.1"} <= names, names)

    @needs("mandoc")
    def test_mandoc_has_no_warnings(self):
        for page in self.pages():
            status, out, _ = run("mandoc", "-Tlint", "-W", "warning", str(page))
            warnings = [line for line in out.splitlines() if "missing date" not in line]
            self.assertEqual(warnings, [], f"status {status}")

    @needs("groff")
    def test_groff_has_no_warnings(self):
        for page in self.pages():
            _, out, err = run("groff", "-ww", "-man", "-Tutf8", str(page))
            self.assertEqual(err, "", page.name)
            self.assertIn("EXIT STATUS", re.sub(".\x08", "", out))  # bold characters are printed twice


if __name__ == "__main__":
    unittest.main()
