// Parts that the desk is drawn from. Words from documents are only ever set as text.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made[name] = value
    else if (name === "class") made.className = value
    else if (value === true) made.setAttribute(name, "")
    else if (value !== false && value != null) made.setAttribute(name, value)
  }
  for (const child of children.flat()) if (child != null && child !== false) made.append(child)
  return made
}

function overlay(title, close, ...children) {
  const sheet = element("div", { class: "sheet-of", role: "dialog", "aria-modal": "true", "aria-label": title }, element("h2", {}, title), ...children)
  return element("div", { class: "veil", onclick: event => { if (event.target === event.currentTarget) close() } }, sheet)
}
