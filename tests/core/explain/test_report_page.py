import re

from metainfer_core.explain.memory_picture import memory_picture
from metainfer_core.explain.report_page import report_html, report_text
from metainfer_core.verify.report import BuildReport, MemoryMap

FIGURES = {
    "output": "scores",
    "sqnr_db": 31.25,
    "worst_channel": 3,
    "worst_channel_sqnr_db": 18.5,
    "channels": 10,
    "dead_channels": 1,
    "argmax_flips": 0,
    "max_abs_error": 0.0123,
    "cosine": 0.99987,
}
ARENA = {
    "memory": "sram",
    "capacity_bytes": 4096,
    "peak_bytes": 2000,
    "lower_bound_bytes": 1900,
    "planner": "hill climb",
    "steps": 4,
    "blocks": [
        {"tensor": "a", "offset_bytes": 0, "size_bytes": 1000, "start": 0, "end": 2},
        {"tensor": "<b>", "offset_bytes": 1000, "size_bytes": 1000, "start": 1, "end": 4},
    ],
}


def report(**changes):
    plain = {
        "headlines": [
            {"question": "Does it fit?", "answer": "Yes: 2,000 of 4,096 bytes of sram.", "good": True},
            {"question": "How fast is it?", "answer": "0.5 ms here, 0.8 times ONNX Runtime.", "good": True},
            {"question": "What blocks it?", "answer": "Nothing.", "good": True},
        ],
        "development": True,
        "model": "<script>alert(1)</script>",
        "model_digest": "sha256:1",
        "spec": "chip 1.0.0",
        "spec_digest": "sha256:2",
        "policy_digest": "sha256:3",
        "package_digest": "sha256:4",
        "target": "native_cpu",
        "tool_version": "0.1.0",
        "graph_changes": [{"by": "fuse", "nodes": ["Conv_0", "Relu_1"], "sentence": "Computes Relu_1 in Conv_0."}],
        "candidates": [{"name": "all INT8", "predicted_ms": [0.25, 0.5], "accuracy": "31.3 dB", "chosen": True}],
        "memory": [ARENA],
        "latency": {
            "median_ms": 0.5,
            "min_ms": 0.4,
            "max_ms": 0.9,
            "baseline": "ONNX Runtime 1.32",
            "baseline_median_ms": 0.625,
            "ratio": 0.8,
            "runs": 50,
            "machine": "test machine",
        },
        "accuracy": {
            "against_reference": {"outputs": [FIGURES], "samples": 8, "data": "8 random inputs, seed 0"},
            "distances": [],
            "simulator_equal": True,
            "layers": [{"node_id": "Conv_0", "tensor": "t", "precision": "int8", "figures": FIGURES}],
            "first_diverging": "Conv_0",
        },
        "violations": [],
        "approved_not_realised": [],
        "assumptions": ["compute_units.cpu.macs_per_cycle: no document gives it"],
    }
    return BuildReport.from_plain(plain | changes)


def test_the_first_lines_answer_the_three_questions():
    page = report_html(report())
    body = re.sub(r"<[^>]+>", "\n", page.split("<body>")[1])
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    assert lines[1] == "Development package: nobody has reviewed or signed it."
    assert lines[2:8] == ["Does it fit?", "Yes:", "1.95 KiB", "of", "4.00 KiB", "of sram."]
    assert lines[8:10] == ["How fast is it?", "0.5 ms here, 0.8 times ONNX Runtime."]
    assert lines[10:12] == ["What blocks it?", "Nothing."]
    assert report_text(report()).split("\n")[0] == "Does it fit? Yes: 1.95 KiB of 4.00 KiB of sram."


def test_a_report_without_times_is_read_as_it_was_written():
    emulated = report(target="aarch64_linux", latency=None)
    assert b'"latency"' not in emulated.to_json()
    assert BuildReport.from_json(emulated.to_json(), "report") == emulated
    written = b'{"latency":null,' + emulated.to_json()[1:]
    assert BuildReport.from_json(written, "report").latency is None
    (arena, *others) = emulated.memory
    unknown = emulated.model_copy(update={"memory": (arena.model_copy(update={"capacity_bytes": None}), *others)})
    assert BuildReport.from_json(unknown.to_json(), "report") == unknown


def test_names_from_models_are_never_html():
    page = report_html(report())
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; on chip 1.0.0" in page
    assert "&lt;b&gt;: 1,000 bytes at 1,000, steps 1-3" in page


def test_the_page_needs_nothing_from_outside():
    page = report_html(report())
    assert not re.search(r"(src|href)\s*=", page)
    assert "url(" not in page


def test_bad_news_is_shown():
    bad = report(
        approved_not_realised=[{"node_id": "Conv_0", "approved": "INT8 by channel", "realised": "float32"}],
        violations=[{"law": "A unit computes only in its data types.", "place": "Conv_0", "reason": "npu has int8."}],
    )
    page = report_html(bad)
    assert "<td>Conv_0</td><td>INT8 by channel</td><td>float32</td>" in page
    assert "<td>npu has int8.</td>" in page
    assert "nothing else" not in page


def test_figures_stand_in_their_columns():
    page = report_html(report())
    row = re.search(r"<tr><td>scores</td>(.*?)</tr>", page, re.S).group(1)
    assert re.findall(r">([^<]*)</td>", row) == ["31.2", "3", "18.5", "1 of 10", "0", "0.0123", "0.999870"]


def test_the_picture_keeps_proportions():
    picture = memory_picture(MemoryMap.from_plain(ARENA))
    first, second = picture.rectangles
    assert (first.x, first.width) == (0.0, 450.0)
    assert (second.x, second.width) == (225.0, 675.0)
    assert abs(first.height - second.height) < 0.02
    assert abs(second.y + second.height - first.y) < 0.02
    assert picture.peak_y < picture.bound_y < picture.height
