"""Pages in a real browser: that the scripts run, and do what a reader does. Skipped where there is no Chromium."""

import json
import re
import shutil
import subprocess
import threading

import pytest

import cuprl
from cuprl.pages.html import page
from cuprl.pages.run_data import run_page
from cuprl.pages.serve import Server
from pages.made_up import folder, seen
from pages.test_html import HOSTILE

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed; with apt: apt-get install chromium")

# What a reader does with a page, in its own script; what came of it is left on the body.
READER = """<script>{
  const [, plot] = document.querySelectorAll(".plot"), box = plot.getBoundingClientRect(), found = {};
  const send = (kind, share) => plot.dispatchEvent(
    new PointerEvent(kind, { clientX: box.left + share * box.width, clientY: box.top + 50, bubbles: true }));
  const axis = () => [...plot.querySelectorAll("svg > text")].map((text) => text.textContent).join(" ");
  const press = (key) => plot.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const tip = () => plot.querySelector(".tip").textContent;
  const whole = axis();
  send("pointermove", 0.5);
  found.pointed = tip();
  press("ArrowRight");
  found.next = tip();
  send("pointerdown", 0.4); send("pointermove", 0.5); send("pointerup", 0.6);
  found.zoomed = axis() !== whole && view.charts[0].range[1] === view.charts[1].range[1];
  const range = JSON.stringify(view.zoom);
  const more = JSON.parse(document.getElementById("data").textContent);
  more.panels[1].series[0].y[99] = 4321;
  show(more);
  found.kept = JSON.stringify(view.zoom) === range;
  plot.dispatchEvent(new MouseEvent("dblclick"));
  found.reset = view.zoom === null;
  found.redrawn = axis().includes("4000");
  const button = document.querySelector(".panel .legend button"), curves = () => document.querySelectorAll(".curve").length;
  const before = curves();
  button.click();
  found.hidden = before - curves();
  found.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  document.body.dataset.found = JSON.stringify(found);
}</script>"""


def browse(address, tmp_path, *flags, size="1280,900"):
    """What a page has become after its scripts ran."""
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={tmp_path / 'browser'}",
        "--virtual-time-budget=6000",
        f"--window-size={size}",
        *flags,
        "--dump-dom",
        str(address),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert 'data-ready="true"' in dom and 'class="error"' not in dom
    return dom


def test_a_page_with_hostile_names_runs_as_it_is_and_has_its_picture_taken(tmp_path):
    run = folder(tmp_path / "r", limits={HOSTILE: 50.0, "effort": 30.0}, task=HOSTILE)
    picture = tmp_path / "page.png"
    dom = browse(cuprl.report(run), tmp_path, f"--screenshot={picture}")
    assert picture.stat().st_size > 20_000
    assert "&lt;img src=x onerror=alert(2)&gt;" in dom and "<img" not in dom and dom.count("<script") == 2
    assert len(re.findall('class="curve"', dom)) == 11
    assert "cost 'effort' is over its limit now: 40, limit 30." in dom


def test_a_reader_points_zooms_and_hides_on_a_narrow_screen(tmp_path):
    text = re.sub("<meta http-equiv[^>]*>", "", page(run_page(seen())))  # which would not let the reader's script run
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{READER}</body>"))
    dom = browse(tmp_path / "page.html", tmp_path, size="390,800")
    found = json.loads(re.search('data-found="(.*?)"', dom)[1].replace("&quot;", '"'))
    pointed, after = (re.match(r"iteration (\d+), ([\d,]+) steps", found.pop(name)) for name in ("pointed", "next"))
    assert 80 < int(pointed[1]) < 120 and int(after[1]) == int(pointed[1]) + 1
    assert found == {"zoomed": True, "kept": True, "reset": True, "redrawn": True, "hidden": 1, "wide": False}


@pytest.mark.parametrize("size", ["1280,900", "390,800"])
def test_evaluations_are_drawn_with_the_best_of_them(size, tmp_path):
    run = folder(tmp_path / "r")
    (run.path / "evaluations.csv").write_text(
        "iteration,steps,episodes,mode/return,sampled/return,mode/cost,sampled/cost\n10,1000,5,1,2,40,41\n20,2000,5,3,2,44,60\n"
    )
    dom = browse(cuprl.report(run), tmp_path, size=size)
    assert "<h2>Evaluations</h2>" in dom and dom.count("means of 5 episodes") >= 2
    assert dom.count('class="ring"') == 4 and dom.count(" best, iteration 20</span>") == 2  # and in each legend


def test_a_live_page_shows_what_comes(tmp_path):
    asked = []

    def data():
        asked.append(1)
        return run_page(seen(n=2 + len(asked), training=True))

    with Server(0, data, lambda: ("", "")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom = browse(server.url, tmp_path)
        server.shutdown()
    shown = int(re.search(r"training: iteration (\d+) of 200", dom)[1])
    assert shown > 4 and "Live: looked at every two seconds." in dom
