// What is typed into a form reaches the server at every pause, not only when the field is left: it keeps it.
const PAUSE_MS = 400;

class Typing {
  constructor(isInUse) {
    this.onInput = (event) => {
      const field = event.target;
      if (!(field instanceof Element) || !isInUse()) return;
      if (!field.matches("textarea, input") || !field.closest('[class*="st-key-form_"]')) return;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => commit(field), PAUSE_MS);
    };
    document.addEventListener("input", this.onInput, true);
  }

  remove() {
    document.removeEventListener("input", this.onInput, true);
    clearTimeout(this.pause);
  }
}

// The key with which Streamlit takes a field's text while the cursor stays in it.
function commit(field) {
  if (!field.isConnected) return;
  const key = { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true };
  field.dispatchEvent(new KeyboardEvent("keydown", key));
}

// Sets a field's text as typing does: React hears of it through its own setter and the event.
function typeInto(field, text) {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
