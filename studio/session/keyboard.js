// The keyboard on every screen: it begins at the heading of a screen that was just opened, and Alt+M goes to what most
// people do there. Who is elsewhere by then is left alone, and so is a page that is loaded anew. In a group of choices it
// begins at the chosen one.
const LOOK_MS = 100;
const PATIENCE_LOOKS = 10;
const MAIN = '[data-testid="stMain"]';
const CHIEF = [`${MAIN} [class*="st-key-next_"] a`, `${MAIN} button[kind="primary"]:not(:disabled)`].join(", ");
const seen = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());

class Keyboard {
  constructor() {
    this.stands = null; // the screen that the keyboard was led to last: its heading
    this.came = null; // whether there was a click or a key since: a page that draws itself anew asks for nothing
    this.looks = 0; // how often it still looks whether the focus is free
    for (const name of ["click", "keydown"])
      window.addEventListener(name, () => ([this.came, this.looks] = [true, 0]), true);
    window.addEventListener("keydown", (event) => (this.isTab = event.key === "Tab"), true);
    window.addEventListener("pointerdown", () => (this.isTab = false), true);
    window.addEventListener("keydown", (event) => this.key(event), true);
    window.addEventListener("focusin", (event) => this.choices(event), true);
    setInterval(() => this.look(), LOOK_MS);
  }

  look() {
    if (document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "notRunning") return;
    const heading = seen(`${MAIN} h1`)[0];
    if (!heading) return;
    const stands = heading.textContent; // not the path: it changes before the screen does
    const isOther = this.stands !== null && this.stands !== stands;
    this.stands = stands;
    if (isOther) [this.looks, this.came] = [this.came ? PATIENCE_LOOKS : 0, false];
    if (this.looks === 0) return;
    this.looks -= 1;
    const active = document.activeElement;
    const isFree = !active || active === document.body || active.matches(MAIN);
    const isLink = active?.matches('[data-testid="stSidebarNavLink"]') && active.pathname === location.pathname;
    if (!isFree && !isLink) return; // what had the focus may still be on its way out
    this.looks = 0;
    enter(heading);
  }

  // Tab into choices that exclude each other comes to the chosen one, from either side.
  choices({ target, relatedTarget }) {
    const group = this.isTab && target.closest?.('[role="radiogroup"]');
    const chosen = group && !group.contains(relatedTarget) && group.querySelector('[aria-checked="true"]');
    if (chosen) setTimeout(() => group.contains(document.activeElement) && chosen.focus()); // once Streamlit is done
  }

  // The first chief button or link of the screen, and from each the next one; the heading where none can be pressed.
  key(event) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== "KeyM") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const found = seen(CHIEF);
    const next = found[(found.indexOf(document.activeElement) + 1) % found.length] ?? seen(`${MAIN} h1`)[0];
    if (next) enter(next);
  }
}

function enter(element) {
  if (!element.matches("a, button")) element.tabIndex = -1;
  element.focus();
}

window.metaInferKeyboard ??= new Keyboard();

export default function () {}
