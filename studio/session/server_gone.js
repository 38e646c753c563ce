// Where the server is away, Streamlit asks whether one is connected to the internet: nothing here needs that. The words are
// changed in place, in the node that Streamlit drew, so that it can still take its dialog away.
const TITLES = '[role="dialog"] > h2[slot="title"]';
const OF_STREAMLIT = "Streamlit server is not responding";

if (!window.metaInferServerGone) {
  window.metaInferServerGone = {};
  new MutationObserver(() => {
    for (const title of document.querySelectorAll(TITLES)) {
      const words = document.createTreeWalker(title.parentElement, NodeFilter.SHOW_TEXT);
      while (words.nextNode()) {
        if (!words.currentNode.nodeValue.startsWith(OF_STREAMLIT)) continue;
        title.firstChild.nodeValue = window.metaInferServerGone.title;
        words.currentNode.nodeValue = window.metaInferServerGone.what;
      }
    }
  }).observe(document.body, { childList: true, subtree: true });
}

export default function ({ data }) {
  Object.assign(window.metaInferServerGone, data);
}
