// Boxes and wires, kept by key: a box that stays is the same element, so that focus and place stay too. Names from
// models are only ever set as text.
class Boxes {
  constructor(world) {
    this.world = world;
    this.wires = world.querySelector(".wires");
    this.of = new Map();
    this.drawn = "";
  }

  // Gives whether the boxes or their places are others than before.
  draw(data) {
    const signature = JSON.stringify([data.boxes.map((box) => [box.key, box.kind, ...box.at]), data.wires]);
    const isOther = signature !== this.drawn;
    this.drawn = signature;
    const seen = new Set();
    for (const box of data.boxes) {
      let made = this.of.get(box.key);
      if (!made) this.of.set(box.key, (made = boxElement(box.key)));
      seen.add(box.key);
      made.box = box;
      describe(made, data);
    }
    for (const [key, made] of this.of)
      if (!seen.has(key)) {
        made.element.remove();
        this.of.delete(key);
      }
    if (isOther) {
      data.boxes.forEach((box, index) => {
        const { element } = this.of.get(box.key);
        if (this.world.children[index + 1] !== element) this.world.insertBefore(element, this.world.children[index + 1] ?? null);
      });
      this.wire(data);
    }
    return isOther;
  }

  wire(data) {
    this.wires.setAttribute("width", data.width + 40);
    this.wires.setAttribute("height", data.height + 40);
    this.wires.replaceChildren(...data.wires.map(({ points, stub, tensors }) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", way(points));
      path.setAttribute("class", stub ? "stub" : tensors > 1 ? "many" : "");
      return path;
    }));
  }

  // The box that a key of an arrow leads to: near in its direction, and not far off it.
  beside(key, name) {
    const from = middle(this.of.get(key).box);
    const [dx, dy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[name];
    let best = null, least = Infinity;
    for (const [other, { box }] of this.of) {
      const to = middle(box);
      const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
      const across = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
      if (other !== key && along > 1 && along + 2 * across < least) [best, least] = [other, along + 2 * across];
    }
    return best;
  }

  // The key of the open group around a box.
  around(key) {
    const keys = [...this.of.keys()].filter((other) => {
      const { box } = this.of.get(other);
      return box.kind === "frame" && other !== key && holds(box.at, this.of.get(key).box.at);
    });
    return keys[keys.length - 1] ?? null;
  }
}

function holds([x, y, width, height], [innerX, innerY, innerWidth, innerHeight]) {
  return innerX >= x && innerY >= y && innerX + innerWidth <= x + width && innerY + innerHeight <= y + height;
}

function middle({ at: [x, y, width, height], kind }) {
  return { x: x + width / 2, y: y + (kind === "frame" ? 15 : height / 2) };
}

function boxElement(key) {
  const element = document.createElement("div");
  element.dataset.key = key;
  element.setAttribute("role", "treeitem");
  element.tabIndex = -1;
  const made = { element };
  for (const name of ["mark", "name", "operators", "word"]) {
    made[name] = document.createElement("span");
    made[name].className = name;
    element.append(made[name]);
  }
  return made;
}

function describe(made, data) {
  const { element, box } = made;
  const [x, y, width, height] = box.at;
  Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`, zIndex: box.depth });
  element.className = `box ${box.kind}`;
  element.dataset.tone = box.tone;
  element.classList.toggle("marked", data.marked.includes(box.key));
  element.setAttribute("aria-level", box.depth);
  element.setAttribute("aria-selected", String(box.key === data.picked));
  if (box.kind !== "node") element.setAttribute("aria-expanded", String(box.kind === "frame"));
  const count = box.kind === "node" ? "" : data.texts.graph_nodes.replace("#", box.count);
  const painted = [box.shape, box.word].filter(Boolean).join(" ");
  const operators = count ? `${count} · ${box.operators}` : box.operators;
  element.setAttribute("aria-label", [box.full, operators, box.word].filter(Boolean).join(", "));
  element.title = [box.full, operators, painted].filter(Boolean).join("\n");
  put(made.mark, box.kind === "group" ? "▸" : box.kind === "frame" ? "▾" : "");
  put(made.name, box.name);
  put(made.operators, operators);
  put(made.word, painted);
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// From foot to head through all lanes, each step smooth and downward.
function way(points) {
  let path = `M${points[0]} ${points[1]}`;
  for (let at = 2; at < points.length; at += 2) {
    const half = (points[at - 1] + points[at + 1]) / 2;
    path += `C${points[at - 2]} ${half} ${points[at]} ${half} ${points[at]} ${points[at + 1]}`;
  }
  return path;
}
