// Where the keyboard goes on when the button that was pressed has gone or rests. Its long job first, with Cancel as the
// next Tab; when that ends, its result: what most people do next, or what went wrong. Who has moved on is left alone.
const LOOK_MS = 150;
const PATIENCE_LOOKS = 20; // for a result that is still to be drawn; then the page's heading takes its place
const MAIN = '[data-testid="stMain"]';
const NEXT = `${MAIN} :is([class*="st-key-next_"] a, [class*="st-key-next_"] button:not(:disabled))`;
const JOB = (...states) => states.map((state) => `[class*="st-key-job-${state}-"]`).join(", ");
const idOf = (box) => box.className.match(/st-key-job-\w+-(\S+)/)[1];
const all = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
const nameOf = (next) => `${next.getAttribute("href")} ${next.textContent}`;

class JobFocus {
  constructor() {
    this.pressed = null; // the button, and what stood on the page when it was pressed
    this.followed = null; // the job that took the keyboard: its id, on which page
    this.entered = null; // what was given the focus last
    window.addEventListener("pointerdown", () => this.forget(), true);
    window.addEventListener("click", (event) => this.press(event), true);
    setInterval(() => this.look(), LOOK_MS);
  }

  forget() {
    this.pressed = this.followed = null;
  }

  press(event) {
    const button = event.target.closest?.(`:is(${MAIN}, [data-testid="stPopoverBody"]) button`);
    if (!button) return;
    const [jobs, next] = [all(JOB("open", "done", "failed", "cancelled")).map(idOf), all(NEXT).map(nameOf)];
    const place = location.pathname;
    this.pressed = { button, jobs, next, place, isPointer: event.detail > 0 };
  }

  look() {
    const { pressed, followed } = this;
    const place = (followed ?? pressed)?.place;
    if (place === undefined) return;
    if (place !== location.pathname) return this.forget();
    const active = document.activeElement;
    const job = active?.closest(JOB("open", "done", "failed", "cancelled"));
    // Streamlit may draw another thing into the element that was the job's box.
    const isFree = active === null || active === document.body || (active === this.entered && !job);
    if (pressed && !isFree && active !== pressed.button && !followed) return this.forget();
    if (!isFree && !(followed && job)) return;
    const open = all(JOB("open"));
    if (followed && open.some((box) => idOf(box) === followed.id)) {
      if (isFree) this.enter(open.find((box) => idOf(box) === followed.id), followed.isPointer);
      return;
    }
    const begun = pressed && !followed && open.find((box) => !pressed.jobs.includes(idOf(box)));
    if (begun) {
      this.followed = { id: idOf(begun), place, isPointer: pressed.isPointer, looks: 0 };
      return this.enter(begun, pressed.isPointer);
    }
    if (document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "notRunning") return;
    const found = followed ? resultOf(followed.id) : newResult(pressed);
    const result = found ?? (followed && ++followed.looks > PATIENCE_LOOKS ? all(`${MAIN} h1`)[0] : null);
    if (!result) return;
    this.enter(result, (followed ?? pressed).isPointer);
    this.forget();
  }

  // Scrolls for a key only: who presses with the mouse may be reading elsewhere.
  enter(element, isPointer) {
    if (!element.matches("a, button")) element.tabIndex = -1;
    this.entered = element;
    element.focus({ preventScroll: isPointer });
  }
}

// What a job that has ended has come to. Of several next steps the one below its box is its own.
function resultOf(id) {
  const box = all(JOB("done", "failed", "cancelled")).find((each) => idOf(each) === id);
  if (box && !box.matches(JOB("done"))) return box;
  const isBelow = (next) => box?.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING;
  const next = all(NEXT);
  return next.find(isBelow) ?? next[0] ?? box;
}

// What was not there when the button was pressed.
function newResult({ jobs, next }) {
  const wrong = all(JOB("failed", "cancelled")).find((box) => !jobs.includes(idOf(box)));
  return wrong ?? all(NEXT).find((each) => !next.includes(nameOf(each)));
}

window.metaInferJobFocus ??= new JobFocus();

export default function () {}
