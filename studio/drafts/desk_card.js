// The card of the current place: what was read, what the spec will hold, what else was found, and the acts.

function drawCard(desk) {
  const place = desk.at()
  const card = element("div", { class: "card", tabindex: "0", role: "region", "aria-label": desk.words("card") })
  if (!place) { card.append(element("p", { class: "muted" }, desk.words("nothing_here"))); return card }
  const stands = desk.record.standing(place.key)
  const reading = desk.reading(place)
  const big = stands && stands.kind === "edit" ? stands.given : reading ? reading.value : desk.words(place.was ? "vanished" : "not_there")
  card.append(element("h2", {}, place.title, place.instance ? ` · ${place.instance}` : ""), element("div", { class: "big" }, big))
  for (const refused of desk.data.refused) {
    if (refused.places.includes(place.key)) card.append(element("div", { class: "notice", role: "alert" }, refused.why))
  }
  if (place.was && !(stands && place.change === "same")) card.append(element("div", { class: "was" }, desk.words(`was_${place.change}`, { was: place.was, name: desk.data.before.name })))
  if (desk.editing) card.append(drawEditor(desk, place, reading))
  const others = place.readings.length > 1 ? drawOthers(desk, place, reading, stands) : ""
  const asked = place.conflict || place.mixed // a choice that is asked for stands above what may be scrolled
  card.append(asked ? others : "", drawFacts(desk, place, reading, stands))
  if (reading && reading.text) card.append(element("div", { class: "quote" }, reading.text))
  card.append(asked ? "" : others)
  return card
}

function drawFacts(desk, place, reading, stands) {
  const facts = element("dl", { class: "facts" })
  const fact = (name, value, kind = "") => { if (value) facts.append(element("dt", {}, desk.words(name)), element("dd", { class: kind }, value)) }
  if (stands) fact("fact_state", desk.words(`by_${stands.kind}`, { actor: stands.actor || desk.words("someone") }))
  if (reading) {
    fact("fact_range", reading.range)
    fact("fact_strength", reading.strength)
    fact("fact_sharing", reading.sharing)
    fact("fact_condition", reading.condition)
    fact("fact_confidence", `${reading.confidence.toFixed(3)} · ${reading.method}`)
    fact("fact_source", `${desk.documentName(reading)} · ${reading.place}`)
  }
  fact("fact_meaning", place.meaning)
  const kept = place.key.startsWith("other.") ? desk.words("fact_other", { place: place.key }) : place.key
  fact("fact_spec", reading && reading.holds ? reading.holds : kept, "code")
  return facts
}

function drawOthers(desk, place, reading, stands) {
  const said = place.conflict ? "alternatives_conflict" : place.mixed ? "alternatives_mixed" : "alternatives"
  const others = element("div", { class: "others", role: "group", "aria-label": desk.words(said) }, element("div", { class: "muted" }, desk.words(said)))
  place.readings.forEach((one, number) => others.append(element("button", {
    type: "button", "data-choose": String(number + 1), disabled: !!desk.data.growing, "aria-pressed": String(one === reading && !!stands && stands.kind === "accept"), onclick: () => desk.choose(place, one),
  }, number < 9 ? element("kbd", {}, String(number + 1)) : null, element("span", {}, one.value, one.instance ? ` · ${one.instance}` : "", one.condition ? ` · ${one.condition}` : ""),
    element("span", { class: "number muted" }, `${one.place} · ${one.confidence.toFixed(3)}`))))
  return others
}

// What may be typed, for an empty field: the unit that the value is kept in, and an example in such a unit.
function exampleOf(desk, place) {
  if (!place.example) return desk.words("edit_any_word")
  return desk.words(place.unit ? "edit_example_unit" : "edit_example", { example: place.example, unit: place.unit })
}

// A typed value is held against the spec's own rules while it is typed: a wrong unit says why before it is saved.
function drawEditor(desk, place, reading) {
  const said = element("div", { class: "said", role: "status" })
  let asked = 0, timer = 0
  const check = async () => {
    const number = ++asked
    const given = input.value
    const found = await fetch(`${desk.data.value_at}&${new URLSearchParams({ place: place.key, given })}`).then(answer => answer.ok ? answer.json() : {}).catch(() => ({}))
    if (number !== asked) return null
    said.className = found.why ? "said wrong" : "said"
    said.textContent = found.why || (found.holds ? desk.words("edit_holds", { value: found.holds }) : "")
    input.setAttribute("aria-invalid", String(!!found.why))
    return found
  }
  const save = async () => {
    clearTimeout(timer)
    const found = await check()
    if (!found || found.why || !desk.editing) return
    desk.editing = false
    desk.record.decide("edit", [place.key], { given: input.value })
    desk.onward()
  }
  const input = element("input", {
    type: "text", placeholder: exampleOf(desk, place), "aria-label": desk.words("edit_label", { place: place.title }), maxlength: "400",
    oninput: () => { desk.record.typed[place.key] = input.value; desk.record.keep(); clearTimeout(timer); timer = setTimeout(check, 150) },
    onkeydown: event => { if (event.key === "Enter") { event.preventDefault(); save() } },
  })
  input.value = desk.record.typed[place.key] ?? (reading ? reading.typed : "")
  if (input.value) check()
  return element("div", { class: "editor" }, input, element("button", { class: "primary", type: "button", onclick: save }, desk.words("edit_save"), element("kbd", { "aria-hidden": "true" }, "↵")),
    element("button", { type: "button", onclick: () => { desk.editing = false; desk.draw() } }, desk.words("edit_cancel"), element("kbd", { "aria-hidden": "true" }, "Esc")), said)
}

function drawBar(desk) {
  const place = desk.at()
  const closed = !!desk.data.growing
  const none = closed || !place || !place.readings.length
  return element("div", { class: "bar" }, desk.button("accept", "primary", none), desk.button("edit", "", closed || !place), desk.button("reject", "", none),
    desk.button("unknown", "", closed || !place), desk.button("unsure"), desk.button("previous"), desk.button("next"))
}

function drawFoot(desk) {
  const foot = element("div", { class: "foot" })
  if (desk.data.growing) {
    foot.append(element("span", { class: "figures", role: "status" }, desk.words("growing", { count: desk.list.figures("all").places })), element("span", { class: "gap" }), helpButton(desk))
    return foot
  }
  const all = desk.list.figures("all"), conflicts = desk.list.figures("conflicts"), missing = desk.list.figures("missing")
  const said = desk.words("foot", { decided: all.decided, places: all.places, conflicts: conflicts.places - conflicts.decided, missing: missing.places - missing.decided })
  const done = all.decided === all.places && conflicts.decided === conflicts.places
  const sure = desk.above().length, resting = desk.sureRests()
  foot.append(element("span", { class: "figures", role: "status" }, said), done ? element("strong", { class: "done" }, desk.words("foot_done")) : "", desk.record.outbox.length ? element("span", { class: "muted" }, desk.words("saving")) : "", element("span", { class: "gap" }))
  if (desk.kept().length) foot.append(element("button", { class: "primary", type: "button", "data-act": "carry", onclick: () => desk.act("carry") },
    desk.words("carry_open", { count: desk.kept().length, name: desk.data.before.name }), desk.hint("carry")))
  foot.append(element("button", { type: "button", disabled: !!resting, title: resting || null, "data-act": "sure", onclick: () => desk.act("sure") },
    desk.words(sure || resting ? "accept_sure" : "sure_lower", { count: sure, above: desk.threshold.toFixed(2) }), desk.hint("sure")), desk.button("undo"), helpButton(desk))
  return foot
}

function helpButton(desk) {
  return element("button", { type: "button", "aria-label": desk.words("help"), "data-act": "help", onclick: () => desk.act("help") }, "?")
}
