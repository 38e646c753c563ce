"""Takes a policy over to a model that was trained anew."""

from __future__ import annotations

from metainfer_core.errors import NotTrustedError
from metainfer_core.pipeline.steps import Prepared
from metainfer_core.policy.choose import tools_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.reapply import reapply
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.reference import Progress, collect_ranges, quiet, run_reference
from metainfer_core.verify.samples import Samples


def take_over(
    policy: Policy,
    before: Prepared,
    after: Prepared,
    spec: HardwareSpec,
    calibration_samples: Samples,
    evaluation_samples: Samples,
    progress: Progress = quiet,
) -> Policy:
    """The same actions for the new weights, with everything that was measured measured anew.

    Args:
        policy: For the old weights.
        before: The model that it was made for.
        after: The model with the new weights.
        spec: The hardware that the policy is for.
        calibration_samples: What ranges are taken from.
        evaluation_samples: What effects are measured on.
        progress: Called with each step.
    """
    if policy.model_digest not in (None, before.digest):
        raise NotTrustedError(
            "The old model is not the one that this policy was made for.",
            f"It names {policy.model_digest}; the model given is {before.digest}.",
            "Give the model that it was made for.",
            "wrong_model",
        )
    calibration = collect_ranges(after.model, calibration_samples, progress)
    reference = run_reference(after.model, evaluation_samples.feeds)
    objective = Objective.from_plain(policy.plain().get("objective", {}))
    tools = tools_for(after.model, spec, evaluation_samples, reference, objective, progress, calibration_samples)
    return reapply(policy, before.model, after.model, spec, calibration, tools, after.digest)
