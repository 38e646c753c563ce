// The review's queue and its keys. What is done travels in `said.outbox` (outbox.js), so that no fast key is lost.
const OPEN_A_FORM = ["approve_again", "tag", "override", "reject", "comment"];
const OF_FIELDS = ["write", "leave"]; // keys that count where one types
const SELECT_DELAY_MS = 40, LOOK_MS = 50, GONE_LOOKS = 40, HELD_LOOKS = 20, TAIL = 14, HEAD_ROOM = 72;
const instances = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let queue = instances.get(parentElement);
  if (!queue) {
    queue = new Queue(parentElement);
    instances.set(parentElement, queue);
  }
  queue.tell = unlessLeaving((said) => setStateValue("said", said));
  queue.update(data);
  return () => {
    // Streamlit also calls this for a drawing that a newer one has overtaken: then the queue is still in use.
    if (parentElement.isConnected) return;
    queue.remove();
    instances.delete(parentElement);
  };
}

class Queue {
  constructor(parent) {
    this.root = parent.querySelector(".queue");
    this.list = this.root.querySelector(".list");
    this.none = this.root.querySelector(".none");
    this.place = this.root.querySelector(".place");
    this.help = this.root.querySelector(".keys");
    this.rows = [];
    this.nodes = new Map();
    this.selected = null;
    this.told = { go: -1, focus: null };
    this.waiting = null; // the form that was asked for: its event's number, what was typed until it opened, if it opens
    this.onKey = (event) => this.key(event);
    this.onPointer = () => this.stopWaiting();
    this.typing = new Typing(() => this.root.isConnected);
    this.inView = new InView();
    window.addEventListener("keydown", this.onKey, true);
    window.addEventListener("pointerdown", this.onPointer, true);
    this.list.onclick = (event) => {
      const row = event.target.closest(".row");
      if (row) this.select(row.dataset.id);
    };
    this.root.querySelector(".help").onclick = () => this.toggleHelp();
    this.help.onclick = () => this.toggleHelp(false);
  }

  remove() {
    window.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("pointerdown", this.onPointer, true);
    this.typing.remove();
    this.inView.remove();
    this.outbox?.remove();
    clearTimeout(this.later);
    clearTimeout(this.looking);
  }

  update(data) {
    this.keys = data.keys;
    this.words = data.words;
    this.texts = data.texts;
    if (this.desk !== data.desk) {
      this.desk = data.desk;
      this.outbox?.remove();
      this.outbox = new Outbox(data.desk, () => this.root.isConnected && this.send());
    }
    this.outbox.acknowledge(data.acknowledged);
    this.rows = data.rows;
    this.policy = data.policy;
    this.draw();
    if (data.go.number > this.told.go) {
      this.told.go = data.go.number;
      this.select(data.go.id, { quietly: !data.go.answer });
    } else if (!this.row(this.selected) && this.rows.length) {
      this.select(this.rows[Math.min(this.at ?? 0, this.rows.length - 1)].id);
    }
    if (data.focus.number > (this.told.focus ?? data.focus.number)) this.focus(data.focus.keys);
    else if (this.waiting && !this.waiting.opens && data.acknowledged >= this.waiting.number)
      this.stopWaiting(); // no form opens: what was wrong is said instead
    this.told.focus = data.focus.number;
    if (data.written > (this.told.written ?? data.written)) {
      this.showHead();
      this.takeCursor();
    }
    this.told.written = data.written;
    this.writeHelp(data.texts);
  }

  draw() {
    const seen = new Set();
    const waiting = new Set(this.outbox.events.map((event) => event.id));
    for (const row of this.rows) {
      let node = this.nodes.get(row.id);
      if (!node) {
        node = rowNode(row.id);
        this.nodes.set(row.id, node);
      }
      seen.add(row.id);
      const [shape, state] = [this.words.risk[row.risk], this.words.state[row.word]];
      mark(node.risk, shape, row.risk);
      mark(node.state, state, row.word);
      writeMiddle(node.title, row.title);
      writeMiddle(node.node, row.node);
      write(node.stands, row.stands);
      write(node.marks, row.marks);
      node.element.title = row.full;
      node.element.classList.toggle("sent", waiting.has(row.id));
    }
    for (const [id, node] of this.nodes)
      if (!seen.has(id)) {
        node.element.remove();
        this.nodes.delete(id);
      }
    const wanted = this.rows.map((row) => this.nodes.get(row.id).element);
    wanted.forEach((element, index) => {
      if (this.list.children[index] !== element) this.list.insertBefore(element, this.list.children[index] ?? null);
    });
    this.none.hidden = this.rows.length > 0;
    this.list.hidden = this.rows.length === 0;
    this.showPlace();
  }

  row(id) {
    return this.rows.find((row) => row.id === id);
  }

  select(id, { quietly = false } = {}) {
    if (!this.row(id)) return;
    this.nodes.get(this.selected)?.element.setAttribute("aria-selected", "false");
    this.selected = id;
    this.at = this.rows.findIndex((row) => row.id === id);
    const element = this.nodes.get(id).element;
    element.setAttribute("aria-selected", "true");
    scrollInto(this.list, element);
    if (!quietly) this.showHead();
    this.list.setAttribute("aria-activedescendant", element.id);
    this.showPlace();
    clearTimeout(this.later);
    if (!quietly) this.later = setTimeout(() => this.send(), SELECT_DELAY_MS);
  }

  showHead() {
    this.inView.leave();
    showHead();
  }

  // Once the form that had the cursor is gone: else it would be nowhere, and the next Tab at the top of the page.
  takeCursor(looks = GONE_LOOKS) {
    if (document.activeElement === document.body) this.list.focus({ preventScroll: true });
    else if (looks && this.root.isConnected) setTimeout(() => this.takeCursor(looks - 1), LOOK_MS);
  }

  showPlace() {
    this.place.textContent = this.rows.length ? `${(this.at ?? 0) + 1} / ${this.rows.length}` : "";
  }

  move(step) {
    const index = Math.min(Math.max((this.at ?? 0) + step, 0), this.rows.length - 1);
    if (this.rows[index]) this.select(this.rows[index].id);
  }

  // The next action that still blocks signing, from the top again after the last; then what comes after the review.
  moveToOpen() {
    const from = (this.at ?? -1) + 1;
    const ahead = [...this.rows.slice(from), ...this.rows.slice(0, from)];
    const found = ahead.find((row) => row.word !== "approved");
    if (found) this.select(found.id);
    else document.querySelector('[data-testid="stMain"] [class*="st-key-next_"] a')?.focus();
  }

  act(verb) {
    const row = this.row(this.selected);
    if (!row) return;
    this.nodes.get(row.id).element.classList.add("sent");
    const opensForm = OPEN_A_FORM.includes(verb) || (verb === "approve" && row.justify);
    if (verb === "approve" && !opensForm) this.move(1);
    clearTimeout(this.later);
    const number = this.outbox.push({ verb, id: row.id, version: row.version, policy: this.policy });
    if (opensForm) this.waiting = { number, ahead: "" };
  }

  send() {
    this.tell({ selected: this.selected, outbox: this.outbox.events });
  }

  key(event) {
    if (event.key === "Escape" && !this.help.hidden) return this.toggleHelp(false);
    if (!this.root.isConnected) return;
    if (event.key === "Escape" && leave(event, this.list)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.isTrusted) return writeForm(event, this.texts);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event)) return;
    if (this.waiting) return this.typeAhead(event);
    const arrow = event.composedPath()[0] === this.list && { ArrowDown: "next", ArrowUp: "previous" }[event.key];
    const verb = arrow || this.keys.find((each) => each.key === event.key)?.verb;
    if (!verb || OF_FIELDS.includes(verb)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has shortcuts of its own on the same letters
    if (verb === "help") return this.toggleHelp();
    if (!this.help.hidden) return;
    if (verb === "next") this.move(1);
    else if (verb === "previous") this.move(-1);
    else if (verb === "next_open") this.moveToOpen();
    else if (verb === "search") this.focus(["q"]);
    else if (verb === "together") openPopover(".st-key-bulk_popover button, .st-key-several_popover button");
    else if (!event.repeat) this.act(verb);
  }

  // A form is about to open: what is typed until then is meant for it, and goes into its first field.
  typeAhead(event) {
    if (event.key === "Escape") this.stopWaiting();
    else if (event.key === "Backspace") this.waiting.ahead = this.waiting.ahead.slice(0, -1);
    else if (event.key.length === 1) this.waiting.ahead += event.key;
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  stopWaiting() {
    this.waiting = null;
    clearTimeout(this.looking);
  }

  // Puts the cursor into a field as soon as it is there, and back if the page is drawn anew under it. Of several keys,
  // one counts once the page is drawn without the fields of those before it.
  focus(keys, wasThere = false) {
    clearTimeout(this.looking);
    if (this.waiting) this.waiting.opens = true;
    const drawn = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";
    const place = keys.slice(0, drawn ? keys.length : 1).map(placeOf).find((found) => found);
    const field = place?.querySelector("textarea, input"); // the script of its kind of field may still be on its way
    const isFree = document.activeElement === null || document.activeElement === document.body;
    if (wasThere && !isFree && document.activeElement !== field) return; // who has gone on to another field stays there
    const isList = field?.matches("[role=combobox]"); // its choices close again if the page moves under them
    if (field && !field.disabled && (drawn || !isList) && (!wasThere || isFree)) {
      enter(field, this.waiting?.ahead);
      this.waiting = null;
      wasThere = true;
    }
    if (!(wasThere && drawn)) this.looking = setTimeout(() => this.focus(keys, wasThere), LOOK_MS);
  }

  toggleHelp(open = this.help.hidden) {
    this.help.hidden = !open;
  }

  writeHelp(texts) {
    this.list.setAttribute("aria-label", texts.list);
    write(this.none, texts.none);
    write(this.root.querySelector(".help"), texts.help);
    write(this.help.querySelector("h4"), texts.help_title);
    const list = this.help.querySelector("dl");
    list.replaceChildren(); // the language may be another one now
    for (const { label, name, hint } of this.keys) {
      const [term, said] = [document.createElement("dt"), document.createElement("dd")];
      term.append(Object.assign(document.createElement("kbd"), { textContent: label }));
      said.append(Object.assign(document.createElement("b"), { textContent: name }), ` ${hint}`);
      list.append(term, said);
    }
  }
}

// Scrolls a list, and nothing around it, until one of its rows is in view.
function scrollInto(list, row) {
  const [frame, place] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (place.top < frame.top) list.scrollTop -= frame.top - place.top;
  else if (place.bottom > frame.bottom) list.scrollTop += place.bottom - frame.bottom;
}

// Who goes on to another action sees its head, however far down the page they were.
function showHead() {
  const [page, card] = ['[data-testid="stMain"]', ".st-key-review_card"].map((each) => document.querySelector(each));
  const above = card && page ? page.getBoundingClientRect().top + HEAD_ROOM - card.getBoundingClientRect().top : 0;
  if (above > 0) page.scrollBy({ top: -above, behavior: "instant" });
}

let rowNumber = 0;

function rowNode(id) {
  const element = document.createElement("div");
  element.className = "row";
  element.id = `row-${(rowNumber += 1)}`;
  element.dataset.id = id;
  element.setAttribute("role", "option");
  element.setAttribute("aria-selected", "false");
  const parts = { element };
  for (const name of ["risk", "title", "stands", "state", "node", "marks"]) {
    parts[name] = document.createElement("span");
    parts[name].className = name;
    element.append(parts[name]);
  }
  return parts;
}

function mark(node, [shape, word], name) {
  node.className = `shape ${name}`;
  node.title = word;
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", word);
  write(node, shape);
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A long name loses its middle where there is no room: its end tells nodes apart as much as its beginning.
function writeMiddle(node, text) {
  if (node.textContent === text) return;
  const [head, tail] = [document.createElement("span"), document.createElement("span")];
  head.className = "head";
  head.textContent = text.slice(0, Math.max(0, text.length - TAIL));
  tail.textContent = text.slice(head.textContent.length);
  node.replaceChildren(...(head.textContent ? [head, tail] : [tail]));
}

function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof Element && (target.isContentEditable
    || target.closest("input, textarea, select, [contenteditable=''], [contenteditable='true'], [role='dialog'], [role='listbox']:not(.list), [role='combobox']") !== null);
}
