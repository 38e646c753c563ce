// A table drawn by Streamlit takes every Tab for the step to its next cell: who has only a keyboard walks through all of
// them. Here Tab leaves the table, as in any grid with one place in the order of tabs; the arrows walk within it.
if (!window.metaInferLeavesGrids) {
  window.metaInferLeavesGrids = true;
  window.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && event.target.closest?.('[data-testid="stDataFrame"]')) event.stopImmediatePropagation();
  }, true);
}

export default function () {}
