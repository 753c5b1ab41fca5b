"""What the benchmarks' ratios rest on."""

import json
import platform

from benchmarks import harness
from benchmarks.harness import update_flop

from chorus.networks.torsos import ConvLayer, ConvTorso
from chorus.runs.machine import processor


def test_the_work_of_an_update_by_hand():
    # 5 x 5 x 2 pixels, 3 kernels of 3 x 3 x 2 at 3 x 3 places: 2 · 54 · 9 = 972. Dense 27 to 4: 216; 4 to 2: 16.
    # Five passes of all but one of the first layer: 5 · 1204 - 972 = 5048, for 7 transitions and 10 members.
    torso = ConvTorso(convolutions=(ConvLayer(features=3, kernel=3),), dense=(4,))
    assert update_flop(torso, (5, 5, 2), actions=2, members=10, batch=7) == 70 * 5048


def test_history_says_on_which_processor_a_figure_was_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setattr(harness, "LATEST", tmp_path / "latest.json")
    harness.record({"ratio": 1.23456}, "an example")
    entry = json.loads((tmp_path / "history.jsonl").read_text())
    assert entry["benchmark"] == "an example" and entry["ratio"] == 1.235
    assert entry["processor"] == processor() != ""
    if platform.system() == "Linux" and platform.machine() == "x86_64":
        assert "family" in entry["processor"]
