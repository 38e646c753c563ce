// The search for a node by its name: the server finds, the list is gone through by keys or clicked.
const TYPING_MS = 150;

class Find {
  constructor(root, push) {
    this.field = root.querySelector("input");
    this.list = root.querySelector(".found");
    this.push = push;
    this.at = 0;
    this.field.oninput = () => this.typed();
    this.field.onkeydown = (event) => this.key(event);
    this.field.onblur = () => setTimeout(() => this.open(false), TYPING_MS);
    this.list.onpointerdown = (event) => {
      event.preventDefault(); // the cursor stays in the field
      const option = event.target.closest("[role=option]");
      if (option) this.choose(option.dataset.key);
    };
  }

  typed() {
    clearTimeout(this.later);
    const words = this.field.value.slice(0, 200);
    if (!words.trim()) return this.open(false);
    this.later = setTimeout(() => this.push("find", words), TYPING_MS);
  }

  update({ words, nodes }, texts) {
    this.field.placeholder = texts.graph_find;
    this.field.setAttribute("aria-label", texts.graph_find);
    this.list.setAttribute("aria-label", texts.graph_find);
    const isNew = words !== this.words;
    this.words = words;
    if (!isNew || !words || this.field.value !== words) return;
    this.at = 0;
    this.list.replaceChildren(...nodes.map((node, index) => {
      const option = document.createElement("div");
      option.setAttribute("role", "option");
      option.id = `found-${index}`;
      option.dataset.key = node.key;
      const operator = document.createElement("small");
      operator.textContent = node.operator;
      option.append(node.name, " ", operator);
      return option;
    }));
    if (!nodes.length) this.list.textContent = texts.graph_find_none;
    this.open(true);
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.field.setAttribute("aria-expanded", String(isOpen));
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === this.at)));
    options[this.at]?.scrollIntoView({ block: "nearest" });
    if (isOpen && options[this.at]) this.field.setAttribute("aria-activedescendant", options[this.at].id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const options = this.list.querySelectorAll("[role=option]");
    event.stopPropagation(); // Streamlit has shortcuts of its own
    if (event.key === "Escape") this.open(false);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.at = Math.min(Math.max(this.at + step, 0), Math.max(options.length - 1, 0));
      this.open(options.length > 0);
    } else if (event.key === "Enter" && !this.list.hidden && options[this.at]) this.choose(options[this.at].dataset.key);
    else return;
    event.preventDefault();
  }

  choose(key) {
    this.open(false);
    this.push("show", key);
  }
}
