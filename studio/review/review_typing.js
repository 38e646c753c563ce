// What is typed into a form reaches the server at every pause, not only when the field is left: it keeps it. What looks
// for a choice in a list is no text as yet: a pause does not choose.
const PAUSE_MS = 400;
const MEASURING = ".st-key-effect_measuring"; // in the one form that stands open

class Typing {
  constructor(isInUse) {
    this.onInput = (event) => {
      const field = event.target;
      if (!(field instanceof Element) || !isInUse()) return;
      if (!field.matches("textarea, input:not([role=combobox])") || !field.closest('[class*="st-key-form_"]')) return;
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

// Writes the form that one types into, as its first button does, once Streamlit has taken the field's text. Where that
// cannot be as yet, such as while an override is measured, it says so and puts the cursor on the button when it can:
// nothing is written before its maker has seen what it does. Whoever goes on to type or to point stays where they are.
function writeForm(event, texts) {
  const field = event.composedPath()[0]; // a button that has the focus is pressed by the browser itself
  const form = field.matches?.("textarea, input") ? field.closest('[class*="st-key-form_"]') : null;
  const key = [...(form?.classList ?? [])].find((each) => each.startsWith("st-key-form_"));
  const place = () => key && document.querySelector(`.${CSS.escape(key)} .st-key-form_submit`); // looked up anew: it is redrawn
  if (!place()) return;
  setTimeout(() => place()?.querySelector("button").disabled ? sayNotYet(place, texts) : place()?.querySelector("button").click());
}

function sayNotYet(place, texts) {
  let [gone, held] = [0, 0];
  const look = () => {
    const now = place();
    const button = now?.querySelector("button");
    if (!button) return ++gone > GONE_LOOKS && stop(); // it was closed; a redraw is shorter
    gone = 0;
    if (!button.disabled) {
      delete now.dataset.notYet;
      if (document.activeElement === button) return ++held > HELD_LOOKS && stop();
      held = 0;
      return button.focus(); // until it keeps the cursor: a redraw under way takes it once more
    }
    const words = document.querySelector(MEASURING) ? texts.not_yet_measured : texts.not_yet;
    if (now.dataset.notYet === words) return;
    now.dataset.notYet = words;
    now.setAttribute("role", "status");
    now.scrollIntoView({ block: "nearest" });
  };
  const timer = setInterval(look, LOOK_MS);
  const stop = (event) => {
    if (event && !event.isTrusted) return; // that a pause takes what was typed is nobody's going on
    clearInterval(timer);
    if (place()) delete place().dataset.notYet;
    for (const sign of ["keydown", "pointerdown"]) window.removeEventListener(sign, stop, true);
  };
  for (const sign of ["keydown", "pointerdown"]) window.addEventListener(sign, stop, true);
  look();
}

// Leaves the field that one types into, for the queue; from elsewhere, closes the form. True if there was something to
// leave. What has an Escape of its own (an open list of choices, a popover) keeps it.
function leave(event, list) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element) || target.closest("[role=combobox][aria-expanded=true], [role=listbox]:not(.list), [role=dialog], [data-testid=stPopoverBody]"))
    return false;
  const isField = target.matches("textarea, input");
  const close = document.querySelector(".st-key-form_close button");
  if (!isField && !close) return false;
  if (!isField) close.click();
  list.focus({ preventScroll: true });
  return true;
}

// Where the field with this key stands, or the first of those whose keys go on from it.
function placeOf(key) {
  return document.querySelector(`.st-key-${key}, [class*="st-key-${key}_"]`);
}

// Puts the cursor into a field as Tab does, and does there what the keys that were pressed before it was there do.
function enter(field, ahead = "") {
  field.focus();
  if (field.type === "checkbox") return [...ahead].forEach((letter) => letter === " " && field.click());
  if (!field.matches("textarea")) field.select();
  if (field.type === "number") ahead = ahead.match(/-?\d+(\.\d*)?/)?.[0] ?? "";
  if (ahead) typeInto(field, field.matches("textarea") ? field.value + ahead : ahead);
}

// Sets a field's text as typing does: React hears of it through its own setter and the event.
function typeInto(field, text) {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
