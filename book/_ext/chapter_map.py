"""The directives `chapter-map` and `objectives`: what each chapter needs and teaches, from the notebooks' own metadata."""

import html
import json
from functools import lru_cache
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
PATHS = ("first course", "engineer", "contact weekend")
PATH_COLOURS = ("#c98a1b", "#3b82c4", "#c2557a")
PART_COLOURS = ("#2f9e6e", "#3b82c4", "#8a63c9", "#c2557a")
ROW, NAME, DOTS = 26, 150, 312             # height of a row, where names and the dots of the paths begin


@lru_cache(maxsize=1)
def chapters():
    """Name to {page, title, part, objectives, needs, minutes, paths} in the order of the book: its numbered parts."""
    found, parts = {}, yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))["parts"]
    for part in (part for part in parts if part.get("numbered")):
        for page in (entry["file"] for entry in part["chapters"]):
            path = ROOT / f"{page}.ipynb"
            facts = path.is_file() and json.loads(path.read_text(encoding="utf8"))
            if facts and "lagrangebook" in facts["metadata"]:
                title = "".join(facts["cells"][0]["source"]).splitlines()[0].lstrip("# ")
                found[path.stem] = {"page": page, "title": title, "part": part["caption"], **facts["metadata"]["lagrangebook"]}
    return found


def leaned_on(path, book):
    """The chapters of a reading path, and those outside it that they need, directly or through others."""
    marked = {name for name, chapter in book.items() if path in chapter["paths"]}
    needed, ahead = set(), list(marked)
    while ahead:
        for name in book[ahead.pop()]["needs"]:
            if name not in needed:
                needed.add(name)
                ahead.append(name)
    return marked, needed - marked


def arc(start, end, colour):
    """From a chapter up to one that it needs, on the left of the names."""
    x, top, bottom = NAME - 14, *sorted((start, end))
    reach = min(x - 4, 8 + 0.26 * (bottom - top))
    return (f'<path d="M{x} {bottom}C{x - reach:.0f} {bottom} {x - reach:.0f} {top} {x} {top}" fill="none" '
            f'stroke="{colour}" stroke-opacity="0.55" stroke-width="1.3"/>')


def text(x, y, words, anchor="start", size=13, more=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="currentColor"{more}>{html.escape(words)}</text>'


def rows(book):
    """The height of each chapter in the picture; a part opens with one empty row."""
    heights, y, part = {}, 74, None
    for name, chapter in book.items():
        y += ROW if chapter["part"] == part else ROW * 2
        heights[name], part = y, chapter["part"]
    return heights


def picture(book):
    """The map as SVG: arcs are needs, dots are reading paths (open: needed by the path, not on it)."""
    y, parts = rows(book), list(dict.fromkeys(chapter["part"] for chapter in book.values()))
    drawn = []
    for k, path in enumerate(PATHS):
        x, (marked, needed) = DOTS + 32 * k, leaned_on(path, book)
        drawn.append(text(x + 4, 84, path, size=12, more=f' transform="rotate(-60 {x + 4} 84)"'))
        drawn += [f'<circle cx="{x}" cy="{y[name]}" r="6" fill="{PATH_COLOURS[k]}"/>' for name in book if name in marked]
        drawn += [f'<circle cx="{x}" cy="{y[name]}" r="5" fill="none" stroke="{PATH_COLOURS[k]}" stroke-width="1.5"/>'
                  for name in book if name in needed]
    for name, chapter in book.items():
        colour = PART_COLOURS[parts.index(chapter["part"]) % len(PART_COLOURS)]
        drawn += [arc(y[name], y[need], colour) for need in chapter["needs"]]
        drawn += [f'<circle cx="{NAME - 10}" cy="{y[name]}" r="3.5" fill="{colour}"/>', text(NAME, y[name] + 4, name)]
    for part in parts:
        first = min(y[name] for name, chapter in book.items() if chapter["part"] == part)
        drawn.append(text(NAME - 14, first - 22, part, size=14, more=' font-weight="700"'))
    alt = ("The chapters in their order, one below the other. An arc joins each chapter to the earlier ones that it needs. "
           "Three columns of dots mark the reading paths. The table below says the same in words.")
    return (f'<svg class="chapter-map" role="img" aria-label="{alt}" viewBox="0 0 440 {max(y.values()) + 20:.0f}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(drawn)}</svg>')


class ChapterMap(SphinxDirective):
    def run(self):
        return [nodes.raw("", f'<figure class="chapter-map">{picture(chapters())}</figure>', format="html")]


class Objectives(SphinxDirective):
    """One part: each chapter with its minutes, its needs and what its reader can do."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        book = chapters()
        block = nodes.container(classes=["objectives"])
        for chapter in (chapter for chapter in book.values() if chapter["part"] == self.arguments[0]):
            needs = ", ".join(f"{{doc}}`/{book[need]['page']}`" for need in chapter["needs"]) or "nothing before it"
            paths = ", ".join(path for path in PATHS if path in chapter["paths"]) or "no marked path"
            block += self.parse_text_to_nodes(
                f"**{{doc}}`/{chapter['page']}`** · {chapter['minutes']} minutes · {paths}<br>Needs: {needs}.\n\n"
                + "\n".join(f"* {objective}" for objective in chapter["objectives"]))
        if not block.children:
            raise self.error(f"no chapter stands in the part {self.arguments[0]!r}")
        return [block]


class PathTimes(SphinxDirective):
    """The three paths: chapters, minutes, and the minutes of what they lean on."""

    def run(self):
        book, lines = chapters(), ["| path | chapters | hours | chapters it leans on | hours |", "|---|---|---|---|---|"]
        for path in PATHS:
            cells = [path]
            for names in leaned_on(path, book):
                cells += [str(len(names)), f"{sum(book[name]['minutes'] for name in names) / 60:.0f}"]
            lines.append("| " + " | ".join(cells) + " |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("chapter-map", ChapterMap)
    app.add_directive("objectives", Objectives)
    app.add_directive("path-times", PathTimes)
    return {"parallel_read_safe": True}
