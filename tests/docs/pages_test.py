#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every mapper of the table has a page with a picture, no page links to what does not exist, no command stands in a block
that is not run, the commands of docs/questions.md exist, CONTRIBUTING.md names paths and headings that exist, and CITATION.cff names this version and the four papers.

    pages_test.py RANKLOOM FOLDER_OF_THE_PROJECT
"""

import json
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
CODE = re.compile(r"`((?:rankloom|apps|tests|bench|docs)/[\w./-]*)`")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z]{4,}(?![A-Za-z_])(?!\.md)")  # a name that the reader chooses


def broken_links(page, root):
    text = re.sub(r"^\s*```.*?^\s*```", "", page.read_text(), flags=re.S | re.M)
    for target in LINK.findall(text):
        if "://" not in target and not (page.parent / target).exists():
            yield f"{page}: links to {target}, which does not exist"
    for path in CODE.findall(text):
        if not PLACEHOLDER.search(path) and not (root / path).exists():
            yield f"{page}: names {path}, which does not exist"


def expand_braces(path):
    """a{b,c} as ab and ac."""
    if not (braces := re.search(r"\{([^{}]*)\}", path)):
        return [path]
    before, after = path[: braces.start()], path[braces.end() :]
    return [whole for choice in braces.group(1).split(",") for whole in expand_braces(before + choice + after)]


def missing_paths(text, root):
    """Paths in backticks are relative to the project or to rankloom/. Build folders need not exist."""
    for code in re.findall(r"`([^`\n]+)`", text):
        word = code.split()[0]
        if "/" not in word or word.startswith("build") or PLACEHOLDER.search(word):
            continue
        for path in expand_braces(word.removeprefix("./")):
            if path.startswith("/") or not any(any(folder.glob(path)) for folder in (root, root / "rankloom")):
                yield f"CONTRIBUTING.md: names {path}, which does not exist"


def missing_headings(text, root):
    """A page in backticks or a link, a comma, and a heading of the page in quotation marks."""
    for page, heading in re.findall(r'(docs/[\w./-]+\.md)[`)], "([^"]+)"', text):
        path = root / page
        if not path.exists() or not re.search(rf"^#+ {re.escape(heading)}$", path.read_text(), flags=re.M):
            yield f"CONTRIBUTING.md: {page} has no heading {heading!r}"


def commands_that_are_not_run(page):
    """run_docs.py runs blocks marked sh, console and python; commands in others would go stale unseen."""
    for fence, body in re.findall(r"^[ \t]*```[ \t]*(\w*)\n(.*?)^[ \t]*```", page.read_text(), flags=re.S | re.M):
        command = re.search(r"^\s*(\$ )?((rankloom|mpirun|mpiexec|srun|\./dev|apt) .*)", body, flags=re.M)
        if fence not in ("sh", "console", "python") and command:
            yield f"{page}: the block with {command.group(2)!r} is not marked sh"


def missing_pages(mappers, index):
    rows = {name: row for row in index.read_text().splitlines() if row.startswith("| [") for name in re.findall(r"`([\w-]+)`", row)}
    for mapper in mappers:
        row = rows.get(mapper)
        if row is None:
            yield f"{index}: the table has no row for {mapper}"
            continue
        page = index.parent / LINK.search(row).group(1)
        text = page.read_text() if page.exists() else ""
        if not re.search(rf"\]\(\.\./images/mappers/[\w-]+\.svg\)", text):
            yield f"{page}: shows no picture"
        if not re.search(rf"(-a |eval .*|`){re.escape(mapper)}\b", text):
            yield f"{page}: does not show how to use {mapper}"


def wrong_citation(root):
    """The version is that of the build, and the papers are those that docs/reproduction.md judges."""
    citation = (root / "CITATION.cff").read_text()
    version = re.search(r"project\(rankloom VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)
    if f"\nversion: {version}\n" not in citation:
        yield f"CITATION.cff: its version is not {version}"
    papers = re.findall(r"^[A-Z][a-z]+ [A-Z]\.[^:]*: (.+?)\. ", (root / "docs/reproduction.md").read_text(), flags=re.M)
    if len(papers) != 4:
        yield f"docs/reproduction.md: {len(papers)} papers were found in it"
    for paper in papers:
        if paper not in citation:
            yield f"CITATION.cff: lacks {paper}"


def unknown_commands(page, program):
    """Commands in the text of a page, which run_docs.py does not run: their verbs and options exist."""
    text = re.sub(r"^\s*```.*?^\s*```", "", page.read_text(), flags=re.S | re.M)
    for command in re.findall(r"`(rankloom [^`]*)`", text):
        words = command.split(" -- ")[0].split()[1:]
        if words[0] == "VERB":
            continue
        verbs = [word for word in words[:2] if re.fullmatch(r"[a-z+]+", word)]
        helps = [subprocess.run([program, *verbs[:count], "--help"], capture_output=True, text=True) for count in range(len(verbs), 0, -1)]
        known = next((help.stdout for help in helps if help.returncode == 0), None)
        if known is None:
            yield f"{page}: {command!r}: there is no verb {verbs}"
            continue
        for option in re.findall(r"(?<= )--?[a-z][\w-]*", " " + " ".join(words)):
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known):
                yield f"{page}: {command!r}: there is no option {option}"


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    listed = json.loads(subprocess.run([program, "list", "mappers", "--json"], check=True, capture_output=True).stdout)
    mappers = [row["name"] for row in listed["mappers"]]
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    problems = [problem for page in pages for problem in (*broken_links(page, root), *commands_that_are_not_run(page))]
    problems += [*missing_pages(mappers, root / "docs/algorithms/README.md"), *wrong_citation(root)]
    contributing = (root / "CONTRIBUTING.md").read_text()
    problems += [*missing_paths(contributing, root), *missing_headings(contributing, root)]
    problems += unknown_commands(root / "docs/questions.md", program)
    print("\n".join(problems))
    return 1 if problems or len(mappers) < 10 or len(pages) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
