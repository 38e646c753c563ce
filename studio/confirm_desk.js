// The desk for confirming a draft: the page with the marked words, the list of places, the card of the current one.
//
// Keys act at once, here. Each decision gets a number of this window and goes into an outbox, which is sent whole and
// again until Python acknowledges the number: however fast the keys, none is lost and none counts twice.
// Words from documents are only ever set as textContent.

const desks = new WeakMap()
const RESEND_MS = 3000
const ZOOM = 1.35 // pixels of the screen for one point: ten-point type is read without effort
const POINT = 2 // pixels of a page's picture for one point of the page

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

class Desk {
  constructor(root) {
    this.root = root
    this.pictures = new Map()
    this.group = "all"
    this.zoomed = true
    this.editing = false
    this.panel = null
    this.threshold = 0
    this.asks = 0
  }

  // What survives a refresh of the page stands in sessionStorage, under the draft's digest.
  restore() {
    let kept = {}
    try { kept = JSON.parse(sessionStorage.getItem(this.storageKey()) || "{}") } catch { kept = {} }
    this.window = kept.window || Array.from(crypto.getRandomValues(new Uint8Array(8)), b => b.toString(16).padStart(2, "0")).join("")
    this.number = kept.number || 0
    this.outbox = kept.outbox || []
    this.typed = kept.typed || {}
    this.cursor = this.data.cursor || kept.cursor || ""
  }
  storageKey() { return `confirm:${this.data.draft}` }
  keep() {
    const { window, number, outbox, typed, cursor } = this
    try { sessionStorage.setItem(this.storageKey(), JSON.stringify({ window, number, outbox, typed, cursor })) } catch { /* full or forbidden: the outbox in memory still counts */ }
  }

  update(component) {
    const fresh = !this.data || this.data.draft !== component.data.draft
    this.data = component.data
    this.send = component.setStateValue
    this.threshold = this.threshold || this.data.thresholds[0]
    if (fresh) {
      this.restore()
      this.group = this.data.groups.some(group => group.key === this.data.group) ? this.data.group : "all"
    }
    const acked = this.data.acked[this.window] || 0
    this.number = Math.max(this.number, acked)
    this.outbox = this.outbox.filter(event => event.number > acked)
    this.byKey = new Map(this.data.places.map(place => [place.key, place]))
    const jump = this.data.jump
    if (jump && jump.number === this.asks && jump.number !== this.jumped) {
      this.jumped = jump.number
      this.cursor = jump.place
      this.group = "all"
    }
    if (!this.byKey.has(this.cursor)) this.cursor = (this.nextOf(() => true, -1) || {}).key || ""
    this.keep()
    this.draw()
    if (fresh) this.view()
    if (fresh && this.outbox.length) this.post()
  }

  // ---- What stands, with what is still on its way to the server laid over it.
  standing(key) {
    let found = this.data.standing[key] || null
    for (const event of this.outbox) {
      if (!event.places.includes(key) || event.kind === "undo") continue
      found = { kind: event.kind, index: (event.choices || {})[key], given: event.given, actor: this.data.actor }
    }
    return found
  }
  shown() {
    return this.data.places.filter(place =>
      this.group === "all" || place.group === this.group ||
      (this.group === "conflicts" && place.conflict) || (this.group === "missing" && !place.readings.length))
  }
  at() { return this.byKey.get(this.cursor) }
  reading(place) {
    const stands = this.standing(place.key)
    return place.readings.find(one => stands && one.index === stands.index) || place.readings[0]
  }
  isSure(place) { return place.readings.length && !place.conflict && place.readings[0].confidence >= this.data.sure }
  nextOf(wanted, from) {
    const places = this.shown()
    for (let step = 1; step <= places.length; step++) {
      const place = places[(from + step + places.length) % places.length]
      if (wanted(place)) return place
    }
    return null
  }

  // ---- Acts
  chooseGroup(key) {
    this.group = key
    const [first] = this.shown()
    if (first && !this.shown().includes(this.at())) this.cursor = first.key
    this.editing = false
    this.draw()
    this.view()
  }
  move(step) {
    const places = this.shown()
    if (!places.length) return
    const at = places.findIndex(place => place.key === this.cursor)
    this.go(places[Math.min(places.length - 1, Math.max(0, at + step))])
  }
  unsure() {
    const from = this.shown().findIndex(place => place.key === this.cursor)
    const undecided = place => !this.standing(place.key) && place.readings.length
    const unsure = this.nextOf(place => undecided(place) && !this.isSure(place), from)
    if (unsure || this.data.whole) return this.go(unsure || this.nextOf(undecided, from))
    this.send("view", { place: this.cursor, group: this.group, asks: ++this.asks }) // it lies beyond what was sent
  }
  go(place) {
    if (!place) return
    this.cursor = place.key
    this.editing = false
    this.keep()
    this.draw()
    clearTimeout(this.viewTimer)
    this.viewTimer = setTimeout(() => this.view(), 500)
  }
  view() { this.send("view", { place: this.cursor, group: this.group }) }
  decide(kind, places, more = {}) {
    if (!places.length) return
    const seen = Object.fromEntries(places.map(key => [key, this.data.seqs[key] || 0]))
    this.outbox.push({ number: ++this.number, kind, places, seen, ...more })
    this.keep()
    this.post()
  }
  post() {
    this.send("outbox", { window: this.window, events: [...this.outbox], sent: (this.sent = (this.sent || 0) + 1) })
    clearTimeout(this.resend)
    this.resend = setTimeout(() => { if (this.outbox.length) this.post() }, RESEND_MS)
  }
  act(name) {
    const place = this.at()
    if (name === "next") return this.move(1)
    if (name === "previous") return this.move(-1)
    if (name === "unsure") return this.unsure()
    if (name === "undo") { this.decide("undo", [this.cursor || "-"]); return this.draw() }
    if (name === "zoom") { this.zoomed = !this.zoomed; return this.drawPage() }
    if (name === "help") { this.panel = this.panel === "help" ? null : "help"; return this.draw() }
    if (name === "sure") { this.panel = this.panel === "sure" ? null : "sure"; return this.draw() }
    if (!place) return
    if (name === "accept" && place.readings.length) return this.choose(place, this.reading(place))
    if (name === "edit") { this.editing = true; this.draw(); return }
    if (name === "reject" && place.readings.length) { this.decide("reject", [place.key]); return this.onward() }
    if (name === "unknown") { this.decide("unknown", [place.key]); return this.onward() }
    if (/^[1-9]$/.test(name) && place.readings[name - 1]) this.choose(place, place.readings[name - 1])
  }
  choose(place, reading) {
    this.decide("accept", [place.key], { choices: { [place.key]: reading.index } })
    this.onward()
  }
  onward() {
    const from = this.shown().findIndex(place => place.key === this.cursor)
    const next = this.nextOf(place => !this.standing(place.key), from)
    if (next) this.go(next)
    else this.draw()
  }
  key(event) {
    const target = event.composedPath()[0]
    const typing = target && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable)
    if (event.key === "Escape" && (this.panel || this.editing)) {
      this.panel = null
      this.editing = false
      event.preventDefault(); event.stopImmediatePropagation()
      return this.draw()
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return
    const found = this.data.keys.find(one => one.keys.includes(event.key))
    const name = found ? found.act : /^[1-9]$/.test(event.key) ? event.key : null
    if (!name || (this.panel && name !== this.panel)) return
    event.preventDefault(); event.stopImmediatePropagation()
    this.act(name)
  }

  // ---- Drawing
  words(key, values = {}) {
    return this.data.words[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "")
  }
  hint(act) { const found = this.data.keys.find(one => one.act === act); return found ? element("kbd", { "aria-hidden": "true" }, found.shown) : null }
  shortcut(act) { return this.data.keys.find(one => one.act === act).keys.join(" ") }
  button(act, kind = "", disabled = false) {
    return element("button", { class: kind, type: "button", disabled, "data-act": act, "aria-keyshortcuts": this.shortcut(act), onclick: () => this.act(act) }, this.words(act), this.hint(act))
  }
  draw() {
    const list = this.root.querySelector(".list")
    const scroll = list ? list.scrollTop : 0
    const focus = this.focused()
    if (!this.left) {
      this.left = element("div", { class: "pane left" })
      this.right = element("div", { class: "pane right" })
      this.over = element("div")
      this.root.replaceChildren(this.left, this.right, this.over)
    }
    this.right.replaceChildren(this.drawGroups(), this.drawList(), this.drawCard(), this.drawBar(), this.drawFoot())
    this.right.querySelector(".list").scrollTop = scroll
    const row = this.right.querySelector(".row.current")
    if (row) row.scrollIntoView({ block: "nearest" })
    this.over.replaceChildren(...(this.panel === "sure" ? [this.drawSure()] : this.panel === "help" ? [this.drawHelp()] : []))
    this.refocus(focus)
    this.drawPage()
  }
  // Drawing anew must not take the focus, nor what is typed, from the person at the keyboard.
  focused() {
    const active = this.root.getRootNode().activeElement
    if (!active || !this.root.contains(active)) return null
    const name = ["act", "group", "choose"].find(one => active.dataset[one] !== undefined)
    if (name) return { selector: `[data-${name}="${CSS.escape(active.dataset[name])}"]` }
    if (active.classList.contains("list")) return { selector: ".list" }
    if (active.closest(".editor")) return { place: this.drawn, start: active.selectionStart, end: active.selectionEnd }
    return null
  }
  refocus(focus) {
    const input = this.right.querySelector(".editor input")
    if (input) {
      input.focus()
      if (focus && focus.place === this.cursor && focus.start != null) input.setSelectionRange(focus.start, focus.end)
      else input.select()
    } else if (focus && focus.selector) {
      const found = this.root.querySelector(focus.selector)
      if (found) found.focus({ preventScroll: true })
    }
    if (this.panel) (this.over.querySelector("button:not(:disabled)") || this.over).focus()
    this.drawn = this.cursor
  }
  drawGroups() {
    const all = this.data.groups
    const bar = element("div", { class: "groups", role: "toolbar", "aria-label": this.words("groups") })
    for (const group of all) {
      bar.append(element("button", {
        type: "button", "aria-pressed": String(this.group === group.key), "data-group": group.key,
        onclick: () => this.chooseGroup(group.key),
      }, group.title, " ", element("span", { class: "number muted" }, this.groupFigures(group))))
    }
    return bar
  }
  // Decided here and not yet acknowledged: laid over the figures of the server, which knows the whole draft.
  newly(wanted) {
    return this.data.places.filter(place => !this.data.standing[place.key] && this.standing(place.key) && wanted(place)).length
  }
  inGroup(place, group) {
    if (group === "conflicts") return place.conflict
    if (group === "missing") return !place.readings.length
    return place.readings.length > 0 && (group === "all" || place.group === group)
  }
  decidedIn(group) { return group.decided + this.newly(place => this.inGroup(place, group.key)) }
  groupFigures(group) {
    return group.key === "conflicts" ? String(group.places - this.decidedIn(group)) : `${this.decidedIn(group)}/${group.places}`
  }
  stateMark(place) {
    const stands = this.standing(place.key)
    if (stands) return { text: { accept: "✓", edit: "✎", reject: "✕", unknown: "?" }[stands.kind], kind: stands.kind }
    if (place.conflict) return { text: "≠", kind: "conflict" }
    return { text: place.readings.length ? "·" : "–", kind: "muted" }
  }
  valueOf(place) {
    const stands = this.standing(place.key)
    if (stands && stands.kind === "edit") return stands.given
    if (stands && stands.kind !== "accept") return this.words(`said_${stands.kind}`)
    if (place.conflict && !stands) return this.words("conflict", { count: place.readings.length })
    const reading = this.reading(place)
    return reading ? reading.value : this.words("not_there")
  }
  row(place, first, tag = "div") {
    const reading = place.readings[0]
    return element(tag, { class: "row" }, first,
      element("span", { class: "what", title: place.key }, place.title, place.instance ? element("span", { class: "muted" }, ` · ${place.instance}`) : null),
      element("span", { class: "value" }, this.valueOf(place)),
      element("span", { class: "number muted" }, reading ? reading.confidence.toFixed(2) : ""))
  }
  drawList() {
    const list = element("div", { class: "list", role: "listbox", "aria-label": this.words("places"), tabindex: "0" })
    for (const place of this.shown()) {
      const mark = this.stateMark(place)
      const row = this.row(place, element("span", { class: `mark-of ${mark.kind}`, "aria-label": this.words(`mark_${mark.kind}`) }, mark.text))
      row.classList.toggle("current", place.key === this.cursor)
      row.setAttribute("role", "option")
      row.setAttribute("aria-selected", String(place.key === this.cursor))
      row.dataset.place = place.key
      row.onclick = () => this.go(place)
      list.append(row)
    }
    if (!list.childElementCount) list.append(element("div", { class: "say muted" }, this.words("nothing_here")))
    return list
  }
  drawCard() {
    const place = this.at()
    const card = element("div", { class: "card", tabindex: "0", role: "region", "aria-label": this.words("card") })
    if (!place) { card.append(element("p", { class: "muted" }, this.words("nothing_here"))); return card }
    const stands = this.standing(place.key)
    const reading = this.reading(place)
    card.append(element("h2", {}, place.title, place.instance ? ` · ${place.instance}` : ""))
    card.append(element("div", { class: "big" }, stands && stands.kind === "edit" ? stands.given : reading ? reading.value : this.words("not_there")))
    for (const refused of this.data.refused) {
      if (refused.places.includes(place.key)) card.append(element("div", { class: "notice", role: "alert" }, refused.why))
    }
    if (this.editing) card.append(this.drawEditor(place, reading))
    const facts = element("dl", { class: "facts" })
    const fact = (name, value, kind = "") => { if (value) facts.append(element("dt", {}, this.words(name)), element("dd", { class: kind }, value)) }
    if (stands) fact("fact_state", this.words(`by_${stands.kind}`, { actor: stands.actor }))
    if (reading) {
      fact("fact_range", reading.range)
      fact("fact_strength", reading.strength)
      fact("fact_sharing", reading.sharing)
      fact("fact_condition", reading.condition)
      fact("fact_confidence", `${reading.confidence.toFixed(2)} · ${reading.method}`)
      fact("fact_source", `${this.documentName(reading)} · ${reading.place}`)
    }
    fact("fact_meaning", place.meaning)
    fact("fact_spec", reading && reading.holds ? reading.holds : place.key.startsWith("other.") ? this.words("fact_other", { place: place.key }) : place.key, "code")
    card.append(facts)
    if (reading && reading.text) card.append(element("div", { class: "quote" }, reading.text))
    if (place.readings.length > 1) {
      const others = element("div", { class: "others", "aria-label": this.words("alternatives") })
      others.append(element("div", { class: "muted" }, this.words(!place.conflict ? "alternatives" : place.mixed ? "alternatives_mixed" : "alternatives_conflict")))
      place.readings.forEach((one, number) => others.append(element("button", {
        type: "button", "data-choose": String(number + 1), "aria-pressed": String(one === reading && !!stands), onclick: () => this.choose(place, one),
      }, element("kbd", {}, String(number + 1)), element("span", {}, one.value, one.instance ? ` · ${one.instance}` : ""),
        element("span", { class: "number muted" }, `${one.place} · ${one.confidence.toFixed(2)}`))))
      card.append(others)
    }
    return card
  }
  drawEditor(place, reading) {
    const input = element("input", {
      type: "text", "aria-label": this.words("edit_label", { place: place.title }), maxlength: "400",
      oninput: () => { this.typed[place.key] = input.value; this.keep() },
      onkeydown: event => { if (event.key === "Enter") { event.preventDefault(); save() } },
    })
    input.value = this.typed[place.key] ?? (reading ? reading.value : "")
    const save = () => {
      this.editing = false
      this.decide("edit", [place.key], { given: input.value })
      this.onward()
    }
    return element("div", { class: "editor" }, input, element("button", { class: "primary", type: "button", onclick: save }, this.words("edit_save")),
      element("button", { type: "button", onclick: () => { this.editing = false; this.draw() } }, this.words("edit_cancel")))
  }
  drawBar() {
    const place = this.at()
    const none = !place || !place.readings.length
    return element("div", { class: "bar" }, this.button("accept", "primary", none), this.button("edit", "", !place), this.button("reject", "", none),
      this.button("unknown", "", !place), this.button("unsure"))
  }
  drawFoot() {
    const open = this.sureOnes()
    const figures = this.figures()
    return element("div", { class: "foot" }, element("span", { class: "figures", role: "status" }, this.words("foot", figures)),
      this.outbox.length ? element("span", { class: "muted" }, this.words("saving")) : null, element("span", { class: "gap" }),
      element("button", { type: "button", disabled: !open.length, "data-act": "sure", onclick: () => this.act("sure") },
        this.words("accept_sure", { count: this.above(open).length, above: this.threshold.toFixed(2) }), this.hint("sure")),
      this.button("undo"),
      element("button", { type: "button", "aria-label": this.words("help"), onclick: () => this.act("help") }, "?"))
  }
  figures() {
    const of = key => this.data.groups.find(group => group.key === key) || { key, places: 0, decided: 0 }
    const open = group => group.places - this.decidedIn(group)
    return { decided: this.decidedIn(of("all")), places: of("all").places, conflicts: open(of("conflicts")), missing: open(of("missing")) }
  }
  sureOnes() {
    return this.data.places.filter(place => place.readings.length && !place.conflict && !this.standing(place.key))
  }
  above(open) { return open.filter(place => place.readings[0].confidence > this.threshold) }
  drawSure() {
    const open = this.above(this.sureOnes())
    const boxes = new Map()
    const accept = () => {
      const taken = open.filter(place => boxes.get(place.key).checked)
      this.panel = null
      this.decide("accept", taken.map(place => place.key), { choices: Object.fromEntries(taken.map(place => [place.key, place.readings[0].index])) })
      this.draw()
    }
    const choice = element("select", { "aria-label": this.words("threshold"), onchange: () => { this.threshold = Number(choice.value); this.draw() } },
      this.data.thresholds.map(one => element("option", { value: String(one), selected: one === this.threshold }, one.toFixed(2))))
    return this.overlay(this.words("sure_title", { count: open.length, above: this.threshold.toFixed(2) }),
      element("label", {}, this.words("threshold"), " ", choice),
      element("div", { class: "scroll", tabindex: "0" }, open.map(place => {
        const box = element("input", { type: "checkbox", checked: true })
        boxes.set(place.key, box)
        return this.row(place, box, "label")
      })),
      element("div", { class: "bar" }, element("button", { class: "primary", type: "button", "data-act": "accept-sure", disabled: !open.length, onclick: accept }, this.words("sure_accept")),
        element("button", { type: "button", onclick: () => { this.panel = null; this.draw() } }, this.words("edit_cancel"))))
  }
  drawHelp() {
    return this.overlay(this.words("help"), element("dl", { class: "facts scroll", tabindex: "0" }, this.data.keys.map(one =>
      [element("dt", {}, element("kbd", {}, one.shown)), element("dd", {}, this.words(one.act))])),
      element("div", { class: "bar" }, element("button", { type: "button", onclick: () => { this.panel = null; this.draw() } }, this.words("close"))))
  }
  overlay(title, ...children) {
    const sheet = element("div", { class: "sheet-of", role: "dialog", "aria-modal": "true", "aria-label": title }, element("h2", {}, title), ...children)
    return element("div", { class: "veil", onclick: event => { if (event.target === event.currentTarget) { this.panel = null; this.draw() } } }, sheet)
  }

  // ---- The page on the left
  documentName(reading) { return (this.data.documents[reading.source] || { name: reading.source }).name }
  drawPage() {
    const place = this.at()
    const reading = place && this.reading(place)
    const head = element("div", { class: "head" },
      element("span", { class: "name" }, reading ? `${this.documentName(reading)} · ${reading.place}` : ""),
      element("button", { type: "button", "aria-pressed": String(this.zoomed), onclick: () => this.act("zoom") }, this.words("zoom"), this.hint("zoom")))
    const crops = place && place.conflict ? this.drawCrops(place, reading) : null
    const view = element("div", { class: "view", tabindex: "0", "aria-label": this.words("page") })
    this.left.replaceChildren(head, ...(crops ? [crops] : []), view)
    if (!reading) { view.append(element("div", { class: "say muted" }, this.words(place ? "page_missing" : "nothing_here"))); return }
    const paper = this.data.documents[reading.source]
    if (!paper || paper.kind === "absent") { view.append(element("div", { class: "say muted" }, this.words("page_absent", { text: reading.text }))); return }
    if (paper.kind === "pdf" && reading.page) return this.drawSheet(view, place, reading)
    if (paper.kind === "text" && reading.page) return this.drawLines(view, paper, reading)
    view.append(element("div", { class: "say" }, reading.text))
  }
  drawSheet(view, place, reading) {
    view.append(element("div", { class: "say muted" }, this.words("page_loading")))
    this.picture(reading).then(picture => {
      if (this.at() !== place || !view.isConnected) return
      if (picture.error) { view.replaceChildren(element("div", { class: "say" }, `${picture.error}\n\n${reading.text}`)); return }
      const image = element("img", { src: picture.url, alt: this.words("page_alt", { page: reading.page, name: this.documentName(reading) }) })
      const sheet = element("div", { class: "sheet" }, image)
      const width = picture.width / POINT, height = picture.height / POINT
      const seen = new Set()
      for (const other of this.data.places) for (const one of other.readings) {
        if (one.source !== reading.source || one.page !== reading.page || !one.box) continue
        const id = `${other.key === place.key}${one.box}`
        if (seen.has(id)) continue
        seen.add(id)
        sheet.append(this.mark(one.box, width, height, one === reading, other))
      }
      const wide = view.clientWidth - 24
      sheet.style.width = `${this.zoomed ? Math.max(wide, width * ZOOM) : wide}px`
      view.replaceChildren(sheet)
      if (reading.box) this.center(view, sheet, reading.box, width)
    })
  }
  mark(box, width, height, current, place) {
    const mark = element("button", { class: current ? "mark current" : "mark", type: "button", tabindex: "-1", title: place.title,
      "aria-label": place.title, onclick: () => this.go(place) })
    const [left, top, right, bottom] = box
    const grow = 1.5
    Object.assign(mark.style, { left: `${(left - grow) / width * 100}%`, top: `${(top - grow) / height * 100}%`,
      width: `${(right - left + 2 * grow) / width * 100}%`, height: `${(bottom - top + 2 * grow) / height * 100}%` })
    return mark
  }
  center(view, sheet, box, width) {
    const scale = parseFloat(sheet.style.width) / width
    view.scrollTop = sheet.offsetTop + (box[1] + box[3]) / 2 * scale - view.clientHeight / 2
    const fits = box[2] * scale + 40 < view.clientWidth
    view.scrollLeft = fits ? 0 : sheet.offsetLeft + Math.min((box[0] + box[2]) / 2 * scale - view.clientWidth / 2, box[0] * scale - 24)
  }
  drawCrops(place, current) {
    const crops = element("div", { class: "crops", tabindex: "0", role: "group", "aria-label": this.words("alternatives_conflict") })
    place.readings.forEach((reading, number) => {
      const cut = element("div", { class: "cut" })
      const crop = element("button", { class: "crop", type: "button", "aria-pressed": String(reading === current && !!this.standing(place.key)),
        onclick: () => this.choose(place, reading) },
        element("span", {}, element("kbd", {}, String(number + 1)), " ", element("strong", {}, reading.value), reading.instance ? ` · ${reading.instance}` : ""),
        cut, element("span", { class: "muted" }, `${this.documentName(reading)} · ${reading.place} · ${reading.confidence.toFixed(2)}`))
      crops.append(crop)
      const paper = this.data.documents[reading.source]
      if (!paper || paper.kind !== "pdf" || !reading.box) { cut.textContent = reading.text; return }
      this.picture(reading).then(picture => {
        if (!cut.isConnected || picture.error) { cut.textContent = reading.text; return }
        const [left, top, right, bottom] = reading.box
        const scale = Math.min(1.6, (cut.clientWidth - 8) / (right - left + 24))
        const width = picture.width / POINT, height = picture.height / POINT
        const image = element("img", { src: picture.url, alt: reading.text })
        image.style.width = `${width * scale}px`
        const shiftX = -(left - 12) * scale, shiftY = cut.clientHeight / 2 - (top + bottom) / 2 * scale
        Object.assign(image.style, { left: `${shiftX}px`, top: `${shiftY}px` })
        const mark = element("span", { class: "mark current" })
        Object.assign(mark.style, { left: `${shiftX + (left - 1.5) * scale}px`, top: `${shiftY + (top - 1.5) * scale}px`,
          width: `${(right - left + 3) * scale}px`, height: `${(bottom - top + 3) * scale}px` })
        cut.replaceChildren(image, mark)
      })
    })
    return crops
  }
  picture(reading) {
    const paper = this.data.documents[reading.source]
    const address = `${paper.address}/${reading.page}.png?token=${paper.token}`
    if (!this.pictures.has(address)) {
      this.pictures.set(address, fetch(address).then(async answer => {
        if (!answer.ok) { this.pictures.delete(address); return { error: (await answer.json().catch(() => ({}))).error || this.words("page_failed") } }
        const url = URL.createObjectURL(await answer.blob())
        const image = new Image()
        image.src = url
        await image.decode()
        return { url, width: image.naturalWidth, height: image.naturalHeight }
      }).catch(() => { this.pictures.delete(address); return { error: this.words("page_failed") } }))
    }
    return this.pictures.get(address)
  }
  drawLines(view, paper, reading) {
    fetch(`${paper.address}/${reading.page}.json?token=${paper.token}`).then(answer => answer.json()).then(found => {
      if (!view.isConnected) return
      if (found.error) { view.replaceChildren(element("div", { class: "say" }, found.error)); return }
      view.replaceChildren(element("div", { class: "lines" }, found.lines.map((line, number) =>
        element("div", { class: found.first + number === reading.page ? "at" : "" }, element("span", {}, String(found.first + number)), line))))
    }).catch(() => view.replaceChildren(element("div", { class: "say" }, reading.text)))
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".desk")
  let desk = desks.get(root)
  if (!desk) {
    desk = new Desk(root)
    desks.set(root, desk)
    desk.listener = event => desk.key(event)
    window.addEventListener("keydown", desk.listener, true)
  }
  desk.update(component)
  return () => {
    window.removeEventListener("keydown", desk.listener, true)
    clearTimeout(desk.resend)
    clearTimeout(desk.viewTimer)
    desks.delete(root)
  }
}
