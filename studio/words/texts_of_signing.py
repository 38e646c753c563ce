"""Texts of the Sign screen. Part of the one table."""

from __future__ import annotations

TEXTS_OF_SIGNING: dict[str, dict[str, str]] = {
    "bundle_details": {"en": "What was verified"},
    "bundle_demo": {"en": "A demo. Outside of this studio it is refused."},
    "bundle_refused": {"en": "Not trusted. It is not built from."},
    "bundle_report": {"en": "Open its build report"},
    "bundle_save": {"en": "Download"},
    "bundle_trusted": {"en": "Signed, and trusted here"},
    "compile_again": {"en": "Compile it again, or for another target"},
    "compile_data": {"en": "Data that the package is tried on"},
    "compile_data_help": {"en": "The build runs the package on it and compares every output."},
    "compile_busy": {"en": "It is being compiled. The way to its report appears here."},
    "compile_start": {"en": "Compile it"},
    "compile_target": {"en": "Target"},
    "compile_title": {"en": "Compiling {bundle} for {target}"},
    "demo_banner": {
        "en": "**Demo mode.** This studio signs for you, with keys of its own. That proves nothing about who approved "
        "what: the bundle is marked as a demo, and `verify` and `compile` refuse it everywhere unless asked for one."
    },
    "demo_how": {"en": "Sign as a demo"},
    "demo_hint": {"en": "It signs as **{person}**, and for everybody else who approved here. No key is needed."},
    "demo_not_ready": {"en": "Possible once every action is approved, all of it can be built, and your name is known."},
    "demo_real": {"en": "How it is signed for real"},
    "demo_sign": {"en": "Sign this demo"},
    "sign_blocked": {"en": "{count} of {total} {total:action|actions} {count:blocks|block} signing."},
    "sign_bound": {"en": "Bound to exactly"},
    "sign_again": {"en": "Sign again, or take in a bundle from another machine"},
    "sign_canonical": {"en": "The canonical text that is signed"},
    "sign_canonical_save": {"en": "Save this text"},
    "sign_drop": {
        "en": "A signed bundle, such as the one that the command above writes. It is verified before it is kept."
    },
    "sign_how": {"en": "Sign on your own machine"},
    "sign_kept": {"en": "Verified, and kept as {file}."},
    "sign_key_untrusted": {"en": "Nobody may sign here yet. Your key is there; let this workspace trust it:"},
    "sign_later": {"en": "How it is signed once every action is approved"},
    "sign_lead": {"en": "What is signed: {actions} {actions:action that fits|actions that fit} {model} to {chip}."},
    "sign_model": {"en": "Model"},
    "sign_next_compile": {"en": "Signed. Next: compile what was signed."},
    "sign_next_report": {"en": "Signed and compiled. Next: read its build report."},
    "sign_no_releaser": {
        "en": "Nobody may sign here yet. Make a key (it asks for a passphrase), and let this workspace trust it:"
    },
    "sign_nobody": {"en": "nobody yet"},
    "sign_off": {"en": "is switched off"},
    "sign_other_bundles": {"en": "{count} other {count:bundle|bundles} of this policy"},
    "sign_others": {"en": "Also approved by {people}. Each of them signs their own approvals first:"},
    "sign_other_key": {
        "en": "No key of {person} is trusted here yet. {person} makes one, and this workspace trusts it:"
    },
    "sign_out_of_reach": {"en": "The model or the spec of this policy is not in the workspace: put it there first."},
    "sign_other_rules": {
        "en": "This policy was made under other rules than those of this program. Propose it anew before it is signed; "
        "what stays the same only has to be approved again."
    },
    "sign_overrides": {"en": "Overrides"},
    "sign_people": {"en": "Who stands behind it"},
    "sign_person": {"en": "{person}: {count} of {total} {total:action|actions}"},
    "sign_policy": {"en": "Policy as reviewed"},
    "sign_approved": {"en": "All {total} actions are approved."},
    "sign_ready": {"en": "All {total} actions are approved, and can be built together. It can be signed."},
    "sign_refuses": {"en": "As it is now, this command refuses and signs nothing: see what cannot be built."},
    # Whether what was reviewed can be built, on Review and Sign
    "notice_close": {"en": "Close"},
    "buildable_again": {"en": "Check again"},
    "buildable_cannot": {"en": "It cannot be signed as it is: what was reviewed cannot be built."},
    "buildable_checking": {"en": "Being checked: whether all of it can be built together. Nothing is signed before."},
    "buildable_failed": {"en": "Whether this can be built could not be checked."},
    "buildable_more": {"en": "and {count} more"},
    "buildable_open": {"en": "Review {action}"},
    "buildable_then": {"en": "Override these actions so that they can be done, and have that approved."},
    "buildable_title": {"en": "Check that {policy} can be built"},
    "sign_releasers": {"en": "Who may sign the whole: {people}"},
    "sign_rules": {"en": "Rule set"},
    "sign_elsewhere": {
        "en": "Does your key lie on another machine? Run it there, with the paths that this folder and meta-infer have "
        "there, and drop the bundle in here:"
    },
    "sign_renewed": {
        "en": "The policy was made anew since it was approved (last by {person}, {at}). What stayed exactly as it was "
        "keeps its approvals."
    },
    "sign_renewed_open": {"en": "{count} {count:action has|actions have} to be approved again."},
    "sign_run": {
        "en": "Paste this into a terminal of this machine. It asks for the passphrase of your key; neither ever comes "
        "here. This screen then goes on by itself:"
    },
    "dropped_data": {"en": "a file of sample data"},
    "dropped_empty": {"en": "an empty file"},
    "dropped_key": {"en": "a private key"},
    "dropped_key_then": {
        "en": "A private key belongs on its owner's machine alone. It was not kept here; give it to nobody."
    },
    "dropped_manual": {"en": "a chip's document"},
    "dropped_model": {"en": "a model"},
    "dropped_other": {
        "en": "{file} is {what}, not a signed bundle. Drop {bundle} here: the file that the command above writes."
    },
    "dropped_package": {"en": "a package, which is built from a bundle"},
    "dropped_policy": {"en": "a policy that nobody has signed"},
    "dropped_public_key": {"en": "a public key"},
    "dropped_spec": {"en": "a spec or a draft of one"},
    "dropped_unreadable": {"en": "some other file, or damaged"},
    "sign_spec": {"en": "Values of the spec"},
    "sign_to_review": {"en": "Review what is open"},
    "stage_approve": {"en": "Approve"},
    "stage_compile": {"en": "Compile"},
    "stage_sign": {"en": "Sign"},
}
