// Where the picture stands in its stage, and how large: by pointer, wheel and buttons. It outlives every drawing.
const LEAST_SCALE = 0.08, MOST_SCALE = 3, FIRST_LEAST = 0.6, DRAG_PIXELS = 4, EDGE = 24, STEP = 1.25, KEEP_MS = 200;

class Place {
  constructor(name, stage, world) {
    [this.name, this.stage, this.world] = [name, stage, world];
    [this.x, this.y, this.scale] = [0, 0, 1];
    this.isSet = false;
    this.wasDragged = false;
    try {
      const kept = JSON.parse(sessionStorage.getItem(name));
      if (kept) this.set(kept.x, kept.y, kept.scale);
    } catch { /* forbidden or not ours */ }
    stage.onpointerdown = (event) => this.press(event);
    stage.onpointermove = (event) => this.drag(event);
    stage.onpointerup = stage.onpointercancel = () => { this.from = null; stage.classList.remove("dragged"); };
    stage.onwheel = (event) => this.wheel(event);
  }

  set(x, y, scale) {
    [this.x, this.y, this.scale] = [x, y, Math.min(Math.max(scale, LEAST_SCALE), MOST_SCALE)];
    this.isSet = true;
    this.world.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keep(), KEEP_MS);
  }

  keep() {
    try {
      sessionStorage.setItem(this.name, JSON.stringify({ x: this.x, y: this.y, scale: this.scale }));
    } catch { /* full or forbidden */ }
  }

  press(event) {
    this.wasDragged = false;
    if (event.button === 0) this.from = { x: event.clientX - this.x, y: event.clientY - this.y, at: event };
  }

  drag(event) {
    if (!this.from) return;
    const far = Math.hypot(event.clientX - this.from.at.clientX, event.clientY - this.from.at.clientY);
    if (!this.wasDragged && far < DRAG_PIXELS) return;
    if (!this.wasDragged) this.stage.setPointerCapture(event.pointerId);
    this.wasDragged = true;
    this.stage.classList.add("dragged");
    this.set(event.clientX - this.from.x, event.clientY - this.from.y, this.scale);
  }

  // Until someone has pressed into the picture, the wheel scrolls the page, which the picture would else hold fast.
  wheel(event) {
    const isZoom = event.ctrlKey || event.metaKey;
    if (!isZoom && !this.stage.matches(":focus-within")) return;
    event.preventDefault();
    if (isZoom) {
      const frame = this.stage.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 300), event.clientX - frame.left, event.clientY - frame.top);
    } else this.set(this.x - event.deltaX, this.y - event.deltaY, this.scale);
  }

  zoom(factor, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, LEAST_SCALE), MOST_SCALE);
    const ratio = scale / this.scale;
    this.set(x - (x - this.x) * ratio, y - (y - this.y) * ratio, scale);
  }

  fit(width, height) {
    const [room, tall] = [this.stage.clientWidth - 2 * EDGE, this.stage.clientHeight - 2 * EDGE];
    const scale = Math.min(1, room / Math.max(width, 1), tall / Math.max(height, 1));
    this.set((this.stage.clientWidth - width * scale) / 2, Math.max(EDGE, (tall - height * scale) / 2), scale);
  }

  // As much as can be read: the whole width where it is small, from the top.
  first(width) {
    const scale = Math.max(Math.min(1, (this.stage.clientWidth - 2 * EDGE) / Math.max(width, 1)), FIRST_LEAST);
    this.set((this.stage.clientWidth - width * scale) / 2, EDGE, scale);
  }

  // A box to the middle, large enough to be read.
  centre([x, y, width, height]) {
    const scale = Math.max(this.scale, 0.8);
    const [room, tall] = [this.stage.clientWidth, this.stage.clientHeight];
    this.set(room / 2 - (x + width / 2) * scale, tall / 2 - (y + Math.min(height, 60) / 2) * scale, scale);
  }

  // Moves as little as shows a box.
  reveal([x, y, width, height]) {
    const [left, top] = [this.x + x * this.scale, this.y + y * this.scale];
    const [w, h] = [width * this.scale, Math.min(height, 60) * this.scale];
    const moveX = Math.max(EDGE - left, 0) || Math.min(this.stage.clientWidth - EDGE - left - w, 0);
    const moveY = Math.max(EDGE - top, 0) || Math.min(this.stage.clientHeight - EDGE - top - h, 0);
    if (moveX || moveY) this.set(this.x + moveX, this.y + moveY, this.scale);
  }

  onScreen([x, y]) {
    return { x: this.x + x * this.scale, y: this.y + y * this.scale };
  }

  // So that a box whose place in the picture changed stays where it was on the screen.
  hold([x, y], screen) {
    this.set(screen.x - x * this.scale, screen.y - y * this.scale, this.scale);
  }

  remove() {
    clearTimeout(this.later);
    this.keep();
  }
}
