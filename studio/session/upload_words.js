// Streamlit's box for files speaks English alone. The words are changed in place, in the nodes that Streamlit drew, so that
// they are seen, read out and searched for as ours.
const BOXES = '[data-testid="stFileUploaderDropzone"]';

if (!window.metaInferUploadWords) {
  window.metaInferUploadWords = {};
  new MutationObserver(sayUploads).observe(document.body, { childList: true, subtree: true });
}

function sayUploads() {
  const { button, drop } = window.metaInferUploadWords;
  if (!button) return;
  for (const box of document.querySelectorAll(BOXES)) {
    put(box.querySelector("button p"), button);
    const over = [...box.children].find((each) => each.textContent.startsWith("Drag and drop"));
    put(over, drop);
  }
}

function put(element, words) {
  const node = element && document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
  if (node && node.nodeValue !== words) node.nodeValue = words;
}

export default function ({ data }) {
  Object.assign(window.metaInferUploadWords, data);
  sayUploads();
}
