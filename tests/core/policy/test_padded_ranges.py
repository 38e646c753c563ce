"""Padding gives tensors more channels: the ranges by channel that INT8 starts from are those of all of them."""

from __future__ import annotations

from action_bench import calibrated, cpu, model_of, npu, spec_of

from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.integer_search import quantized
from metainfer_core.policy.search.measured_alone import with_new_tensors

MODEL = """
    m (float[1,3,8,8] x, float[12,3,3,3] w_a, float[12] w_b, float[12,1,3,3] w_d, float[8,12,1,1] w_p)
        => (float[1,8,8,8] y) {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_b)
        [s] s = Relu (a)
        [d] d = Conv <group = 12, pads = [1,1,1,1]> (s, w_d)
        [r] r = Relu (d)
        [p] y = Conv (r, w_p)
    }"""
SPEC = spec_of(units={"npu": npu(channel_multiple=8), "cpu": cpu()})


def test_padded_channels_have_ranges_and_scales_of_their_own() -> None:
    model = model_of(MODEL)
    before = calibrated(model)
    assert len(before.by_channel["s"]) == 12
    draft = Draft(model.clone(), SPEC, before)
    draft.take(draft.propose("fuse"))
    draft.take(draft.propose("pad_channels"))
    after = with_new_tensors(draft, calibrated)
    assert after.by_channel["s"] == (*before.by_channel["s"], *[(0.0, 0.0)] * 4)
    assert after.ranges["s"] == before.ranges["s"]
    draft.calibration = after
    actions = [action for action in quantized(draft, {}, {}).actions if action.kind == "quantize"]
    assert [sorted(action.params.get("channel_ranges", {})) for action in actions] == [["s"], ["s"], []]
    draft.calibration = before  # planted: the ranges of the narrower tensor
    stale = [action for action in quantized(draft, {}, {}).actions if action.kind == "quantize"]
    assert not any("channel_ranges" in action.params for action in stale)
