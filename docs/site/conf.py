"""Makes a site of the pages in Markdown. The source folder is the repository: links between pages work as they stand."""

from pathlib import Path

from sphinx.application import Sphinx

project = "Strata"
author = "The Strata authors"
copyright = "2026, The Strata authors"
html_title = "Strata for Apache Kafka"

extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "docs/*.md", "docs/**/*.md", "examples/**/*.md"]
exclude_patterns = ["**/target/**", "**/node_modules/**"]
source_suffix = {".md": "markdown"}

# Anchors as GitHub makes them, for every heading that a page links to.
myst_heading_anchors = 4
# A word in angle brackets is a word, not a tag.
myst_disable_syntax = ["html_inline"]
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_static_path: list[str] = []
html_show_sphinx = False
html_copy_source = False

# The order of a newcomer. A page that is not listed is a failure of the build: Sphinx warns of it.
NAVIGATION = {
    "Start": ["docs/uses", "docs/first-version", "docs/install", "docs/pafka", "docs/faq", "docs/README"],
    "Use": [
        "docs/configuration",
        "docs/migration",
        "docs/remote",
        "docs/operations",
        "docs/runbooks",
        "docs/security",
        "docs/testcontainers",
    ],
    "Reference": ["docs/reference/configuration", "docs/reference/metrics", "docs/reference/cli"],
    "Trust": ["docs/reliability", "docs/benchmarks", "docs/strata-bench", "docs/surprises", "docs/changelog"],
    "Inside": ["docs/contributing", "docs/design/*", "docs/adr/README", "docs/adr/*"],
    "Examples": ["examples/**/*"],
}


def add_navigation(app: Sphinx, docname: str, source: list[str]) -> None:
    """Appends the tables of contents to the first page: on GitHub they would be noise."""
    if docname != root_doc:
        return
    listed: set[str] = {root_doc}
    for caption, patterns in NAVIGATION.items():
        pages: list[str] = []
        for pattern in patterns:
            for path in sorted(Path(app.srcdir).glob(pattern + ".md")):
                page = str(path.relative_to(app.srcdir).with_suffix(""))
                if page not in listed and "target" not in path.parts:
                    listed.add(page)
                    pages.append("/" + page)
        source[0] += "\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (caption, "\n".join(pages))


def add_index(app: Sphinx, exception: Exception | None) -> None:
    """Lets the folder's own address show the first page."""
    if exception is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(
            '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=README.html">'
            '<link rel="canonical" href="README.html"><title>Strata</title>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
    app.connect("build-finished", add_index)
