"""Corrects roles that Sphinx writes and WCAG's checkers refuse: entries of a list of references are items of that list."""


def correct(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = context["body"].replace(' role="doc-biblioentry"', ' role="listitem"')


def setup(app):
    app.connect("html-page-context", correct)
    return {"parallel_read_safe": True}
