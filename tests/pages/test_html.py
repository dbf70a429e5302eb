"""A page as one file that trusts no name and needs no network."""

import json
import re
from importlib.resources import files

import cuprl
from cuprl.pages.html import page
from cuprl.pages.run_data import run_page
from pages.made_up import folder, seen

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2J"


def test_names_from_files_are_no_html(tmp_path):
    limits = {HOSTILE: 50.0, "</SCRIPT": 3.0}
    text = cuprl.report(folder(tmp_path / "r", limits=limits, task=HOSTILE), tmp_path / "r.html").read_text()
    assert text.count("<script") == 2 and text.count("</script") == 2 and "<img" not in text and "</SCRIPT" not in text
    data = re.search(r'id="data">(.*?)</script>', text)[1]
    assert "<" not in data
    shown = json.loads(data)
    assert shown["title"].startswith("</script><script>alert(1)") and "\x1b" not in data and "\\x1b[2J" in shown["title"]
    title = re.search("<title>(.*?)</title>", text)[1]
    assert title.startswith("&lt;/script&gt;") and "<" not in title and "\u202e" not in title


def test_a_video_is_inlined(tmp_path):
    run = folder(tmp_path / "r")
    (run.path / "video.mp4").write_bytes(b"mp4")
    assert '<video controls loop muted playsinline src="data:video/mp4;base64,bXA0">' in cuprl.report(run).read_text()


def test_style_and_scripts_are_in_the_package_and_allowed_by_their_digests():
    text = page(run_page(seen()))
    for name in ("page.css", "marks.js", "curves.js", "page.js"):
        assert files("cuprl.pages").joinpath(name).read_text() in text
    assert len(re.findall(r"'sha256-[\w+/]{43}='", text)) == 2 and "unsafe" not in text
