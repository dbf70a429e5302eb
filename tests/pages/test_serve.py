"""`cup watch`: the page while the run goes on, for this machine alone."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from cuprl.cli import main
from cuprl.pages.serve import server_of
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.further import extension
from pages.made_up import BATCH, config, folder, row


@pytest.fixture
def served(tmp_path):
    """A run that goes on, and a way to ask its server."""
    run = folder(tmp_path / "r", n=2)
    with server_of(run.path, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

        def ask(path, method="GET", **headers):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer

        yield run, ask
        server.shutdown()


def test_the_page_is_live_and_its_data_grow(served):
    run, ask = served
    status, text, answer = ask("/")
    assert status == 200 and 'data-poll="2000"' in text and "connect-src 'self'" in text
    assert answer.headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in answer.headers
    assert json.loads(ask("/data.json")[1])["grids"]["training"]["iteration"] == [1, 2]
    run.append(row(3))
    assert json.loads(ask("/data.json?x=1")[1])["grids"]["training"]["iteration"] == [1, 2, 3]


def test_more_steps_are_seen_while_it_is_served(served):
    run, ask = served
    assert "iteration 2 of 200" in ask("/data.json")[1]
    added = [extension(2, 200 * BATCH, "continue")]
    run.extend(replace(RunConfig.from_json(run.config), steps=300 * BATCH, extensions=added))
    assert "iteration 2 of 300" in ask("/data.json")[1]


def test_nothing_is_written_and_nothing_else_is_given(served):
    run, ask = served
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*")}
    assert ask("/")[0] == 200
    assert [ask(path)[0] for path in ("/config.json", "/../../etc/passwd", "/data")] == [404] * 3
    assert ask("/", "POST")[0] == 501
    assert {path: path.stat().st_mtime_ns for path in run.path.rglob("*")} == before


def test_another_name_that_leads_here_is_refused(served):
    _, ask = served
    assert [ask("/data.json", Host=host)[0] for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1234")] == [200] * 3
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::1]:80"):
        status, text, _ = ask("/data.json", Host=host)
        assert status == 403 and "grids" not in text


def test_damage_while_it_is_served_is_a_sentence(served):
    run, ask = served
    run.metrics.write_text("damage\n")
    status, text, _ = ask("/data.json")
    assert status == 503 and "is damaged" in text


def test_a_run_that_has_just_begun_is_served(tmp_path):
    run = Run.create(tmp_path / "r", RunConfig.from_json(config()))
    with server_of(run.path, 0) as server:
        assert server.answer("/data.json")[0] == 200 and "no iteration has ended" in server.answer("/")[2]


def test_a_port_in_use_and_no_port(served, tmp_path, capsys):
    run, _ = served
    with server_of(run.path, 0) as other:
        for port, said in ((other.server_port, "in use"), (-1, "0-65535"), (2**16, "0-65535"), ("x", "whole number")):
            assert main(["watch", str(run.path), "--port", str(port)]) == 2
            assert said in capsys.readouterr().err
    assert main(["watch", str(tmp_path)]) == 2
    assert "is not a run" in capsys.readouterr().err


def test_the_command_prints_its_address_and_ends_with_ctrl_c(tmp_path):
    run = folder(tmp_path / "r", n=1)
    command = [sys.executable, "-m", "cuprl", "watch", str(run.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}) as watch:
        address = watch.stdout.readline().split()[0]
        host, _, port = address.removeprefix("http://").strip("/").partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.request("GET", "/")
        assert host == "127.0.0.1" and connection.getresponse().status == 200
        connection.close()
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) == 0 and watch.stderr.read() == ""
