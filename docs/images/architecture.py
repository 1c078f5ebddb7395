#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/architecture.svg: the stages of rankloom, the values between them, and what may include what."""
import html
import pathlib

BOX = 'rx="6" stroke="#4a5a70" stroke-width="1.2"'
STAGES = [  # name, one line, x, y, width, colour
    ("capture", "record, import, generate", 20, 150, 190, "#dcebfa"),
    ("discover", "hwloc, Slurm, text, probe", 20, 240, 190, "#dcebfa"),
    ("map", "one table of mappers", 300, 195, 170, "#fbe9d0"),
    ("evaluate", "metrics, prediction, SimGrid", 560, 105, 200, "#dff2df"),
    ("place", "launchers, run, verify, online", 560, 195, 200, "#dff2df"),
    ("report", "terminal, SVG, HTML, JSON", 560, 285, 200, "#dff2df"),
    ("allocate", "isolated nodes for jobs", 300, 285, 170, "#fbe9d0"),
]
ARROWS = [  # from, to, label, label position
    ((210, 175), (300, 215), "Profile", (240, 182)),
    ((210, 265), (300, 228), "Topology", (232, 262)),
    ((470, 215), (560, 135), "Mapping", (478, 160)),
    ((470, 220), (560, 220), "Mapping", (490, 214)),
    ((470, 230), (560, 305), "", (0, 0)),
    ((210, 275), (300, 310), "", (0, 0)),
    ((470, 315), (560, 235), "", (0, 0)),
]


def main():
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 790 420" font-family="sans-serif" font-size="12">',
             '<rect width="790" height="420" fill="#ffffff"/>',
             '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a5a70"/></marker></defs>',
             f'<rect x="20" y="20" width="740" height="50" fill="#eeeeee" {BOX}/>',
             '<text x="36" y="41" font-weight="bold">apps</text><text x="36" y="59">rankloom (one file per verb), rankloom-bind, rankloom-agent, rankloom-simulate · capi, python, slurm plugins</text>']
    for name, about, x, y, width, colour in STAGES:
        parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="52" fill="{colour}" {BOX}/>'
                     f'<text x="{x + 12}" y="{y + 21}" font-weight="bold">{name}</text><text x="{x + 12}" y="{y + 40}">{html.escape(about)}</text>')
    for (x1, y1), (x2, y2), label, (lx, ly) in ARROWS:
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#4a5a70" stroke-width="1.4" marker-end="url(#a)"/>')
        if label:
            parts.append(f'<text x="{lx}" y="{ly}" font-style="italic" fill="#333333">{label}</text>')
    parts += [f'<rect x="20" y="360" width="365" height="44" fill="#f4f0fa" {BOX}/>',
              '<text x="32" y="379" font-weight="bold">model</text><text x="32" y="396">graph, machine, cost, files: values between stages</text>',
              f'<rect x="395" y="360" width="365" height="44" fill="#f4f0fa" {BOX}/>',
              '<text x="407" y="379" font-weight="bold">core</text><text x="407" y="396">results, ids, options, parallel loops, text, processes</text>',
              "</svg>"]
    pathlib.Path(__file__).with_suffix(".svg").write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
