# SPDX-License-Identifier: Apache-2.0
"""Hooks of the documentation site (mkdocs.yml names this file under `hooks`).

The pages can also be read in the source tree: their links name files, some of them outside docs/. The files in OUTSIDE become
pages of the site, and links are rewritten to the site's paths. The search index is also written as a script, because a page
that is opened from a local directory may load scripts but no data.
"""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = ["CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "slurm/README.md", "reproduce/results/*.md", "reproduce/results/*.svg"]
NOT_SHOWN = (".py", ".pyc")
FENCE = re.compile(r"(^\s*```.*?^\s*```\s*?$)", re.M | re.S)
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")


def on_files(files, config):
    for file in list(files):
        if file.src_path.endswith(NOT_SHOWN):
            files.remove(file)
    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            files.append(File(path.relative_to(ROOT).as_posix(), str(ROOT), config["site_dir"], config["use_directory_urls"]))
    return files


def in_tree(file, config):
    """The path of a file of the site in the source tree."""
    return pathlib.PurePath(file.abs_src_path).relative_to(ROOT).as_posix()


def on_page_markdown(markdown, page, config, files):
    place = {in_tree(file, config): file.src_path for file in files if file.abs_src_path.startswith(str(ROOT))}
    here = posixpath.dirname(in_tree(page.file, config))

    def turned(found):
        before, target, after = found.groups()
        wanted = posixpath.normpath(posixpath.join(here, target))
        if wanted + "/README.md" in place:
            wanted += "/README.md"
        if wanted not in place:
            return found.group()  # `mkdocs build --strict` reports it
        return before + posixpath.relpath(place[wanted], posixpath.dirname(page.file.src_path) or ".") + after

    parts = FENCE.split(markdown)
    return "".join(part if at % 2 else LINK.sub(turned, part) for at, part in enumerate(parts))


def on_post_page(output, page, config):
    depth = page.url.count("/")
    return output.replace("</head>", f'<script src="{"../" * depth}site/search.js"></script></head>', 1)


def on_post_build(config):
    search = pathlib.Path(config["site_dir"]) / "search"
    # Newer versions of the theme read __index; docs/site/search.js gives older ones the other.
    (search / "search_index.js").write_text(f"window.searchIndex = window.__index = {(search / 'search_index.json').read_text()};\n")
