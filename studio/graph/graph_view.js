// A grouped graph that is opened group by group. The server says which boxes there are and where; pan, zoom, focus and
// search stay here. What is drawn is changed in place and never built anew, so that the picture keeps its place.
const PATIENCE_MS = 400;
const instances = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let graph = instances.get(parentElement);
  if (graph && graph.name !== data.graph) {
    graph.remove();
    graph = null;
  }
  if (!graph) {
    graph = new Graph(parentElement, data.graph, (events) => graph.tell({ outbox: events }));
    instances.set(parentElement, graph);
  }
  graph.tell = unlessLeaving((said) => setStateValue("said", said));
  graph.update(data);
  return () => {
    // Streamlit also calls this for a drawing that a newer one has overtaken: then the picture is still in use.
    if (parentElement.isConnected) return;
    graph.remove();
    instances.delete(parentElement);
  };
}

let made = 0;

class Graph {
  constructor(parent, name, send) {
    this.name = name;
    this.root = parent.querySelector(".graph");
    this.root.dataset.instance = String((made += 1));
    this.stage = this.root.querySelector(".stage");
    this.world = this.root.querySelector(".world");
    this.bar = this.root.querySelector(".wait");
    this.outbox = new Outbox(name, (events) => this.root.isConnected && send(events));
    this.place = new Place(`${name}-place`, this.stage, this.world);
    this.boxes = new Boxes(this.world);
    this.find = new Find(this.root.querySelector(".find"), (verb, on) => this.outbox.push({ verb, on }));
    this.focused = null;
    this.told = null; // number of the last move to a box that was made
    this.anchor = null;
    this.waiting = null;
    this.world.onclick = (event) => {
      const box = event.target.closest(".box");
      if (!box || this.place.wasDragged) return;
      this.focusOn(box.dataset.key);
      this.act(box.dataset.key);
    };
    this.world.onkeydown = (event) => this.key(event);
    this.world.onfocusin = (event) => event.target.dataset.key && this.focusOn(event.target.dataset.key, false);
    for (const [part, deed] of [[".in", () => this.place.zoom(STEP)], [".out", () => this.place.zoom(1 / STEP)],
      [".fit", () => this.place.fit(this.data.width, this.data.height)], [".wait button", () => this.cancel()]])
      this.root.querySelector(part).onclick = deed;
    this.root.querySelector(".crumbs").onclick = (event) => {
      const crumb = event.target.closest("button");
      if (crumb) this.outbox.push({ verb: "fill", on: crumb.dataset.key });
    };
    this.stage.onscroll = () => this.stage.scrollTo(0, 0); // a browser scrolls to what has the focus; the place does it
    this.watch = new ResizeObserver(() => this.data && !this.place.isSet && this.begin());
    this.watch.observe(this.stage);
  }

  remove() {
    this.outbox.remove();
    this.place.remove();
    this.watch.disconnect();
    clearTimeout(this.later);
  }

  update(data) {
    const rootBefore = this.data?.crumbs.at(-1).key;
    this.data = data;
    this.outbox.acknowledge(data.acknowledged);
    const isOther = this.boxes.draw(data);
    const held = this.anchor && data.acknowledged >= this.anchor.number ? this.anchor : null;
    if (!this.place.isSet) this.begin();
    else if (rootBefore !== undefined && rootBefore !== data.crumbs.at(-1).key) this.place.first(data.width);
    else if (isOther && held && this.boxes.of.has(held.key)) this.place.hold(this.boxes.of.get(held.key).box.at, held.screen);
    if (held) this.anchor = null;
    const isNewMove = data.go.number > (this.told ?? 0);
    this.told = data.go.number;
    if (isNewMove && this.boxes.of.has(data.go.key)) this.moveTo(data.go.key);
    if (this.waiting && data.acknowledged >= this.waiting.number) this.stopWaiting();
    if (!this.boxes.of.has(this.focused)) this.focused = null;
    const start = this.focused ?? (this.boxes.of.has(data.picked) ? data.picked : data.boxes[0]?.key);
    for (const [key, { element }] of this.boxes.of) element.tabIndex = key === start ? 0 : -1;
    this.find.update(data.found, data.texts);
    this.write(data);
  }

  // Where the picture stands when nobody has moved it yet; a stage that is not shown has no size.
  begin() {
    if (this.stage.clientWidth) this.place.first(this.data.width);
  }

  moveTo(key) {
    if (this.stage.clientWidth) this.place.centre(this.boxes.of.get(key).box.at);
    if (this.root.contains(document.activeElement) || this.root.getRootNode().activeElement) this.focusOn(key);
  }

  act(key) {
    const { kind } = this.boxes.of.get(key).box;
    if (kind === "node") {
      for (const [other, { element }] of this.boxes.of) element.setAttribute("aria-selected", String(other === key));
      this.outbox.push({ verb: "pick", on: key });
    } else this.toggle(key, kind === "group" ? "open" : "close");
  }

  toggle(key, verb) {
    const number = this.outbox.push({ verb, on: key });
    this.anchor = { number, key, screen: this.place.onScreen(this.boxes.of.get(key).box.at) };
    if (verb !== "open") return;
    this.stopWaiting();
    this.waiting = { number, key };
    this.later = setTimeout(() => (this.bar.hidden = false), PATIENCE_MS);
  }

  stopWaiting() {
    this.waiting = null;
    this.bar.hidden = true;
    clearTimeout(this.later);
  }

  cancel() {
    if (!this.waiting) return;
    this.outbox.push({ verb: "close", on: this.waiting.key });
    this.stopWaiting();
  }

  focusOn(key, moves = true) {
    if (this.focused && this.boxes.of.has(this.focused)) this.boxes.of.get(this.focused).element.tabIndex = -1;
    this.focused = key;
    const { element } = this.boxes.of.get(key);
    element.tabIndex = 0;
    if (moves) element.focus({ preventScroll: true });
  }

  goTo(key) {
    this.focusOn(key);
    this.place.reveal(this.boxes.of.get(key).box.at);
  }

  key(event) {
    const key = event.target.dataset.key;
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    const { kind } = this.boxes.of.get(key).box;
    const outer = this.boxes.around(key);
    if (event.key.startsWith("Arrow")) {
      const to = this.boxes.beside(key, event.key);
      if (to) this.goTo(to);
    } else if (event.key === "Enter" || event.key === " ") this.act(key);
    else if (event.key === "Escape" && this.waiting) this.cancel();
    else if ((event.key === "Escape" || event.key === "Backspace") && (kind === "frame" || outer)) {
      const closing = kind === "frame" ? key : outer;
      this.focusOn(closing);
      this.toggle(closing, "close");
    } else if (event.key === "Home" || event.key === "End")
      this.goTo(this.data.boxes.at(event.key === "Home" ? 0 : -1).key);
    else if (event.key === "+" || event.key === "-") this.place.zoom(event.key === "+" ? STEP : 1 / STEP);
    else if (event.key === "0") this.place.fit(this.data.width, this.data.height);
    else if (event.key === "/") this.find.field.focus();
    else return;
    event.preventDefault();
    event.stopPropagation(); // Streamlit has shortcuts of its own on some of these
  }

  write({ texts, legend, how, crumbs }) {
    this.world.setAttribute("aria-label", texts.graph_label);
    for (const [part, words] of [[".in", texts.graph_zoom_in], [".out", texts.graph_zoom_out]]) {
      this.root.querySelector(part).setAttribute("aria-label", words);
      this.root.querySelector(part).title = words;
    }
    put(this.root.querySelector(".fit"), texts.graph_fit);
    put(this.bar.querySelector("span"), texts.graph_opening);
    put(this.bar.querySelector("button"), texts.graph_cancel);
    put(this.root.querySelector(".hint"), texts.graph_keys);
    const path = this.root.querySelector(".crumbs");
    path.replaceChildren(...(crumbs.length > 1 ? crumbs : []).map(({ key, name }, index) => {
      const crumb = document.createElement("button");
      Object.assign(crumb, { type: "button", textContent: name, disabled: index === crumbs.length - 1 });
      crumb.dataset.key = key;
      return crumb;
    }));
    const items = legend.map(({ tone, shape, word }) => {
      const item = document.createElement("span");
      const swatch = document.createElement("i");
      swatch.dataset.tone = tone;
      item.append(swatch, `${shape} ${word}`);
      return item;
    });
    if (how) {
      const label = document.createElement("em");
      label.textContent = how;
      items.unshift(label);
    }
    this.root.querySelector(".legend").replaceChildren(...items);
  }
}
