#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site strictly and looks at what came out: every link and anchor leads somewhere, nothing is
loaded from elsewhere, every page is in the navigation and in the search, pictures are there, and no list or table was taken for text.
Where Chromium is installed, it also opens pages from the folder and searches.

    site_test.py FOLDER_OF_THE_PROJECT
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

LOADING_LINKS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}
LOADED_BY = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src", "video": "src"}
IN_STYLES = re.compile(r"(?:url\(|@import\s+)['\"]?([^'\")\s;]+)")
LEFT_AS_TEXT = re.compile(r"\n\s*([-*|]|\d+\.)\s")


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, its anchors, and its paragraphs."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors, self.classes, self.paragraphs = [], [], set(), set(), []
        self.in_paragraph = False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        got = dict(attrs)
        self.anchors |= {got[name] for name in ("id", "name") if got.get(name)}
        self.classes |= set((got.get("class") or "").split())
        if tag == "a" and got.get("href"):
            self.links.append(got["href"])
        if tag == "link" and set((got.get("rel") or "").split()) & LOADING_LINKS:
            self.loads.append(got["href"])
        if got.get(LOADED_BY.get(tag)):
            self.loads.append(got[LOADED_BY[tag]])
        if got.get("style"):
            self.loads += IN_STYLES.findall(got["style"])
        self.in_paragraph &= tag not in ("div", "pre", "table", "ul", "ol")  # as browsers do
        if tag == "p":
            self.in_paragraph = True
            self.paragraphs.append("")

    def handle_endtag(self, tag):
        self.in_paragraph &= tag != "p"

    def handle_data(self, data):
        if self.in_paragraph:
            self.paragraphs[-1] += data


def is_elsewhere(target):
    return re.match(r"[a-z+]+://|//", target, re.I) is not None and not target.startswith("data:")


def problems_of_page(path, page, pages, site):
    name = path.relative_to(site)
    for target in page.loads:
        if is_elsewhere(target):
            yield f"{name}: loads {target}, which is elsewhere"
        elif not target.startswith("data:") and not (path.parent / urllib.parse.unquote(target)).exists():
            yield f"{name}: loads {target}, which does not exist"
    for link in page.links:
        target, _, anchor = link.partition("#")
        if is_elsewhere(link) or link.startswith("mailto:"):
            continue
        there = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
        if there.is_dir():
            there /= "index.html"
        if not there.exists():
            yield f"{name}: links to {link}, which does not exist"
        elif anchor and there in pages and urllib.parse.unquote(anchor) not in pages[there].anchors:
            yield f"{name}: links to {link}: no such anchor"
    for text in page.paragraphs:
        if LEFT_AS_TEXT.search(text):
            yield f"{name}: a list or table that was taken for text (a blank line before it is missing?): {text[:80]!r}"
    # The theme would fetch a library for diagrams, and figures of a repository, for pages that ask for them.
    for word in page.classes & {"mermaid", "md-source"}:
        yield f"{name}: has something of class {word}, for which the theme asks servers elsewhere"


def problems_of_styles(site):
    for sheet in site.glob("**/*.css"):
        for target in IN_STYLES.findall(sheet.read_text()):
            if is_elsewhere(target):
                yield f"{sheet.relative_to(site)}: loads {target}"


def problems_of_contents(root, site):
    nav = re.findall(r"[\w/.-]+\.md", re.sub(r"#.*", "", (root / "mkdocs.yml").read_text()))
    for page in root.glob("docs/**/*.md"):
        if page.relative_to(root / "docs").as_posix() not in nav:
            yield f"{page.relative_to(root)}: is not in the navigation of mkdocs.yml"
    for picture in root.glob("docs/**/*.svg"):
        if not (site / picture.relative_to(root / "docs")).exists():
            yield f"{picture.relative_to(root)}: is not in the site"
    index = json.loads((site / "search/search_index.json").read_text())
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    for path in site.glob("**/*.html"):
        if path.name != "404.html" and path.relative_to(site).as_posix() not in found:
            yield f"{path.relative_to(site)}: is not in the search"
    script = (site / "search/search_index.js").read_text()
    if json.loads(script[script.index("{"):].strip().rstrip(";")) != index:
        yield "search/search_index.js: differs from search_index.json"


def problems_of_searching(site, profile):
    """Asks a real browser that has nothing but the folder."""
    browser = shutil.which("chromium")
    if browser is None:
        return
    for page, word, expected in (("index.html", "rankfile", "launchers.html"), ("algorithms/auto.html", "recursive bipartitioning", "scotch.html")):
        address = f"{(site / page).as_uri()}?q={urllib.parse.quote(word)}"
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=8000", "--dump-dom", address],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100, check=False).stdout.decode()
        results = re.findall(r'<a href="([^"]*)" class="md-search-result__link"', shown)
        if not any(expected in result for result in results):
            yield f"{page}: searching for {word!r} from a folder found {results}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        site = pathlib.Path(folder).resolve() / "site"
        built = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--site-dir", site], cwd=root, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            print(built.stdout + built.stderr)
            return 1
        pages = {path: Page(path) for path in site.glob("**/*.html") if path.name != "404.html"}  # 404.html is made for the root of a server
        problems = [problem for path, page in pages.items() for problem in problems_of_page(path, page, pages, site)]
        problems += [*problems_of_styles(site), *problems_of_contents(root, site), *problems_of_searching(site, f"{folder}/browser")]
        links = sum(len(page.links) for page in pages.values())
    print("\n".join(problems) or f"{len(pages)} pages, {links} links")
    return 1 if problems or len(pages) < 40 or links < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
