"""The built site, as its gates read it."""

import os
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

from book_pages import ROOT

SITE = Path(os.environ.get("BOOK_SITE", ROOT / "_build" / "stored" / "_build" / "html"))
NOT_OURS = ("_static/", "_modules/", "_sphinx_design_static/")


class Page(HTMLParser):
    """The tags of one page: .tags as (name, attributes), .ids, .links."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        self.ids.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def pages():
    """The pages of the site, '/' between folders, without the redirect at its root; empty where there is no site."""
    files = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return sorted(file for file in files if not file.startswith(NOT_OURS) and file != "index.html")


@lru_cache(maxsize=None)
def parsed(page):
    return Page((SITE / page).read_text(encoding="utf8"))
