"""A browser that finds no other host, the site under two folders of a local server, and a third of its pages for each day."""

import functools
import os
import shutil
import threading
from datetime import date
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from book_site import SITE

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
KNOWN = ("THEBE_JS_URL",)       # declared twice by Jupyter Book 1; harmless


def third(pages, config):
    """Every third page, another third each day; BOOK_THIRD=0, 1 or 2 chooses. `--full` takes all of them."""
    if config.getoption("--full"):
        return pages
    return pages[int(os.environ.get("BOOK_THIRD") or date.today().toordinal() % 3)::3]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """The site under two folders of a local server, as a project page would have it."""
    top = SITE.parents[1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=top))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{SITE.relative_to(top).as_posix()}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", NO_OTHER_HOST])
        yield browser
        browser.close()
