"""A page as one HTML file: our style, our script and the data inlined, nothing fetched.

The script writes text as text, never as HTML. The content policy lets no other script or style run, should that fail.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any

from cuprl.core.text import printable
from cuprl.experiments.report.drawing import COLOURS

SCRIPTS = ("marks.js", "curves.js", "page.js")  # in the order in which each needs those before
SELF, NOTHING = "'self'", "'none'"  # as a content policy writes them
POLL = 2000  # milliseconds between two looks of a live page
TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body data-poll="{poll}">
<noscript>This page draws its curves with a script of its own; allow it to run.</noscript>
<main id="page"></main>
{video}
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(data: dict[str, Any], video: tuple[str, str] = ("", ""), live: bool = False) -> str:
    """Make the whole file. video: its kind and data URI, as `reading.read_video` gives them; live: it asks for data.json."""
    colours = "".join(f"--c{i}:{colour};" for i, colour in enumerate(COLOURS))
    style = f":root{{{colours}}}\n{source('page.css')}"
    script = "\n".join(["'use strict';", *map(source, SCRIPTS)])
    allowed = {
        "default-src": NOTHING,
        "style-src": digest(style),
        "script-src": digest(script),
        "img-src": "data:",
        "media-src": "data:",
        "connect-src": SELF if live else NOTHING,
        "base-uri": NOTHING,
        "form-action": NOTHING,
    }
    policy = "; ".join(f"{what} {where}" for what, where in allowed.items())
    title = html.escape(printable(data["title"]))
    return TEMPLATE.format(
        policy=policy,
        title=title,
        style=style,
        poll=POLL if live else 0,
        video=moving(*video),
        data=in_script(as_json(data)),
        script=script,
    )


def source(name: str) -> str:
    """Read a file of the page: its script or its style."""
    return files("cuprl.pages").joinpath(name).read_text()


def digest(content: str) -> str:
    """Name an inline script or style as a content policy does."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def moving(kind: str, uri: str) -> str:
    """Make the video's element; the script puts it in its place."""
    if not uri:
        return ""
    tag = f'<video controls loop muted playsinline src="{uri}"></video>'
    return tag if kind.startswith("video/") else f'<img alt="the policy acting" src="{uri}">'


def as_json(data: Any) -> str:
    """Write the data, with every text in it as it may be shown."""
    return json.dumps(shown(data), allow_nan=False, separators=(",", ":"))


def shown(value: Any) -> Any:
    """Make every text within JSON values one that may be shown."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): shown(part) for key, part in value.items()}
    return [shown(part) for part in value] if isinstance(value, list) else value


def in_script(text: str) -> str:
    """Write JSON that no word in it can end as a script element."""
    return text.replace("<", "\\u003c")
