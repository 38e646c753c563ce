// What lies over the desk: values that are accepted together, listed first, each with its box to tick; and the keys.

function drawTogether(desk, title, places, choiceOf, none, ...before) {
  const close = () => desk.closePanel()
  const accept = () => {
    const taken = places.filter(place => !desk.unticked.has(place.key))
    desk.record.decide("accept", taken.map(place => place.key), { choices: Object.fromEntries(taken.map(place => [place.key, choiceOf(place)])) })
    close()
  }
  return overlay(title, close, ...before,
    element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, places.map(place => {
      const box = element("input", { type: "checkbox", checked: !desk.unticked.has(place.key), onchange: () => desk.unticked[box.checked ? "delete" : "add"](place.key) })
      return desk.list.row(place, box, "label")
    })),
    element("div", { class: "bar" }, element("button", { class: "primary", type: "button", "data-act": "accept-sure", disabled: !places.length, title: places.length ? null : none, onclick: accept }, desk.words("sure_accept")),
      element("button", { type: "button", onclick: close }, desk.words("edit_cancel"), element("kbd", { "aria-hidden": "true" }, "Esc"))))
}

function drawSure(desk) {
  const choice = element("select", { "aria-label": desk.words("threshold"), onchange: () => { desk.threshold = Number(choice.value); desk.draw() } },
    desk.data.thresholds.map(one => element("option", { value: String(one), selected: one === desk.threshold }, one.toFixed(2))))
  const places = desk.above()
  return drawTogether(desk, desk.words("sure_title", { count: places.length, above: desk.threshold.toFixed(2) }), places, place => place.readings[0].index, desk.words("nothing_open", { above: desk.threshold.toFixed(2) }),
    element("label", {}, desk.words("threshold"), " ", choice))
}

function drawCarry(desk) {
  const places = desk.kept()
  return drawTogether(desk, desk.words("carry_title", { count: places.length, name: desk.data.before.name }), places, place => place.same, desk.words("nothing_here"),
    element("p", { class: "muted" }, desk.words("carry_hint")))
}

function drawHelp(desk) {
  const row = (keys, said) => [element("dt", {}, element("kbd", {}, keys)), element("dd", {}, said)]
  return overlay(desk.words("help"), () => desk.closePanel(), element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": desk.words("help") }, element("dl", { class: "facts" },
    desk.data.keys.flatMap(one => row(one.shown, desk.words(one.act))), row("1 – 9", desk.words("choose")), row("↵", desk.words("edit_save")), row("Esc", desk.words("close")))),
    element("div", { class: "bar" }, element("button", { type: "button", onclick: () => desk.closePanel() }, desk.words("close"), element("kbd", { "aria-hidden": "true" }, "Esc"))))
}
