"""Two switches of the build: stored outputs instead of execution, and no links to a repository that has no address yet."""

import os

PLACEHOLDER = "https://github.com/example/"
REPOSITORY_BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")


def switch(app, config):
    if os.environ.get("BOOK_EXECUTE"):
        config.nb_execution_mode = os.environ["BOOK_EXECUTE"]
    options = config.html_theme_options
    if options.get("repository_url", PLACEHOLDER).startswith(PLACEHOLDER):
        options.pop("repository_url", None)
        options["launch_buttons"] = {}
        options.update(dict.fromkeys(REPOSITORY_BUTTONS, False))


def setup(app):
    app.connect("config-inited", switch, priority=100)
    return {"parallel_read_safe": True}
