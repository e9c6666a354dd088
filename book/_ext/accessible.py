"""Corrects what checkers of WCAG refuse: entries of a list of references are its items; sliders of players have a name."""

CORRECTIONS = {' role="doc-biblioentry"': ' role="listitem"', 'class="anim-slider"': 'class="anim-slider" aria-label="Frame"'}


def correct(app, pagename, templatename, context, doctree):
    for old, new in CORRECTIONS.items():
        context["body"] = context.get("body", "").replace(old, new)


def setup(app):
    app.connect("html-page-context", correct)
    return {"parallel_read_safe": True}
