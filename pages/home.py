"""Home: what lies in the workspace, and the commands that take it further."""

import streamlit as st

from studio.texts import text
from studio.workspace import workspace_files, workspace_folder

COMMANDS = (
    ("step_ingest", "meta-infer ingest MANUAL.pdf --chip NAME --output DRAFT.yaml"),
    ("step_accept", "meta-infer spec accept DRAFT.yaml --above 0.9 --output SPEC.yaml"),
    ("step_adapt", "meta-infer adapt --model MODEL.onnx --hw-spec SPEC.yaml --output MODEL.policy"),
    ("step_explain", "meta-infer explain --policy MODEL.policy --hw-spec SPEC.yaml"),
    ("step_review", "meta-infer review list MODEL.policy"),
    ("step_sign", "meta-infer sign MODEL.policy --model MODEL.onnx --hw-spec SPEC.yaml --output MODEL.bundle"),
    (
        "step_compile",
        "meta-infer compile --model MODEL.onnx --policy MODEL.bundle --hw-spec SPEC.yaml --output MODEL.bin",
    ),
    ("step_run", "meta-infer run MODEL.bin --input INPUT.npz"),
)

folder = workspace_folder()
files = workspace_files(folder)

st.title("meta-infer")
st.subheader(text("workspace"))
st.markdown(text("workspace_place", place=folder))
if files:
    rows = [{text("kind"): text(file.kind), text("name"): file.name, text("size"): file.size_bytes} for file in files]
    st.dataframe(rows, hide_index=True)
else:
    st.info(text("workspace_empty"))

st.subheader(text("commands"))
st.markdown(text("commands_hint"))
for step, command in COMMANDS:
    st.markdown(f"**{text(step)}**")
    st.code(command, language="bash")
