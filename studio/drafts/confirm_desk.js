// The desk for confirming a draft: the page with the marked words, the list of places, the card of the current one.
//
// Keys act at once, here; what they decide is written down by Python (desk_record.js). The places are fetched once for
// each draft, so that a run of the screen carries only what was decided.

const desks = new WeakMap()
const RELEASED = ["pointerup", "pointercancel", "blur"]
const AHEAD = 3 // places whose pages are fetched before they are looked at

class Desk {
  constructor(root) {
    this.root = root
    this.group = "all"
    this.editing = false
    this.panel = null
    this.threshold = 0
    this.unticked = new Set()
    this.places = []
    this.byKey = new Map()
    this.page = new PageView(this)
    this.list = new PlaceList(this)
    this.pressed = false // a button of the mouse is down
    this.waiting = null // what Python sent meanwhile
  }
  // What is pressed must still stand there when it is let go: drawn anew in between, the click would be lost.
  press() { this.pressed = true }
  release() {
    this.pressed = false
    if (this.waiting) setTimeout(() => { if (this.waiting && !this.pressed) this.update(this.waiting) })
  }
  update(component) {
    this.waiting = this.pressed && this.loaded ? component : null
    if (this.waiting) return
    this.data = component.data
    this.send = unlessLeaving(component.setStateValue)
    this.root.setAttribute("aria-label", this.words("label"))
    this.threshold = this.threshold || this.data.thresholds[0]
    if (!this.record || this.record.draft !== this.data.draft) {
      const cursor = this.record ? this.record.cursor : ""
      if (this.record) clearTimeout(this.record.resend)
      this.record = new Record(this.data, this.send)
      this.record.cursor = cursor || this.record.cursor // a draft that grows stays where it is looked at
      if (!cursor) this.group = this.data.groups.some(group => group.key === this.data.group) ? this.data.group : "all"
    } else {
      this.record.take(this.data, this.send)
    }
    if (this.loaded === this.data.draft) { this.compare(); this.draw() }
    else this.load()
  }
  load() {
    if (!this.places.length) this.root.replaceChildren(element("div", { class: "say muted", role: "status" }, this.words("loading")))
    if (this.loading === this.data.draft) return
    this.loading = this.data.draft
    fetch(this.data.places_at).then(async answer => {
      const found = await answer.json()
      if (!answer.ok) throw new Error(found.error)
      this.loaded = found.draft
      this.read = found.places
      this.compare()
      this.draw()
      this.view()
    }).catch(error => this.root.replaceChildren(element("div", { class: "notice", role: "alert" }, error.message || this.words("page_failed"))))
      .finally(() => { this.loading = null })
  }
  // Lays over the places what an earlier version says about them, and adds those that only it has.
  compare() {
    const before = this.data.before
    this.places = before ? [...this.read, ...before.vanished] : this.read
    for (const place of this.read) Object.assign(place, { was: "", change: "", same: null }, before && before.places[place.key])
    this.byKey = new Map(this.places.map(place => [place.key, place]))
    this.pages = new Map()
    for (const place of this.places) for (const reading of place.readings) {
      if (!reading.box) continue
      const id = `${reading.source}|${reading.page}`
      if (!this.pages.has(id)) this.pages.set(id, [])
      this.pages.get(id).push([place, reading])
    }
    const shown = this.shown()
    if (!this.at() || (shown.length && !shown.includes(this.at()))) this.record.cursor = (shown[0] || this.places[0] || {}).key || ""
  }
  onPage(reading) { return this.pages.get(`${reading.source}|${reading.page}`) || [] }

  // ---- What is looked at
  get cursor() { return this.record.cursor }
  shown() { return this.places.filter(place => this.list.inGroup(place, this.group)) }
  at() { return this.byKey.get(this.cursor) }
  reading(place) {
    const stands = this.record.standing(place.key)
    return place.readings.find(one => stands && one.index === stands.index) || place.readings[0]
  }
  documentName(reading) { return (this.data.documents[reading.source] || { name: reading.source }).name }
  isSure(place) { return place.readings.length && !place.conflict && !place.mixed && !this.isChanged(place) && place.readings[0].confidence >= this.data.sure }
  isChanged(place) { return !!place.change && place.change !== "same" }
  isOpen(place) { return !this.record.standing(place.key) && (place.readings.length > 0 || this.isChanged(place)) }
  open() { return this.places.filter(place => place.readings.length && !place.conflict && !place.mixed && !this.isChanged(place) && !this.record.standing(place.key)) }
  above() { return this.open().filter(place => place.readings[0].confidence > this.threshold) }
  // Why nothing can be accepted together, not even above the lowest threshold that may be chosen; empty where it can.
  sureRests() {
    const lowest = Math.min(...this.data.thresholds)
    if (this.open().some(place => place.readings[0].confidence > lowest)) return ""
    return this.words("nothing_open", { above: lowest.toFixed(2) })
  }
  kept() { return this.places.filter(place => place.change === "same" && !place.conflict && !this.record.standing(place.key)) }
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
    const shown = this.shown()
    if (shown.length && !shown.includes(this.at())) this.record.cursor = shown[0].key
    this.editing = false
    this.draw()
    this.view()
  }
  move(step) {
    const places = this.shown()
    const at = places.findIndex(place => place.key === this.cursor)
    if (places.length) this.go(places[Math.min(places.length - 1, Math.max(0, at + step))])
  }
  unsure() {
    const from = this.shown().findIndex(place => place.key === this.cursor)
    this.go(this.nextOf(place => this.isOpen(place) && !this.isSure(place), from) || this.nextOf(place => this.isOpen(place), from))
  }
  go(place) {
    if (!place) return
    this.record.cursor = place.key
    if (!this.shown().includes(place)) this.group = "all"
    this.editing = false
    this.record.keep()
    this.draw()
    clearTimeout(this.viewTimer)
    this.viewTimer = setTimeout(() => { this.view(); this.ahead() }, 500)
  }
  view() { this.send("view", { place: this.cursor, group: this.group }) }
  ahead() {
    const places = this.shown()
    const at = places.findIndex(place => place.key === this.cursor)
    this.page.fetchAhead(places.slice(at + 1, at + 1 + AHEAD))
  }
  act(name) {
    const place = this.at()
    if (name === "next") return this.move(1)
    if (name === "previous") return this.move(-1)
    if (name === "unsure") return this.unsure()
    if (name === "zoom") { this.page.zoomed = !this.page.zoomed; return this.page.draw() }
    if (name === "help") return this.togglePanel("help")
    if (this.data.growing) return
    if (name === "sure") return this.panel || !this.sureRests() ? this.togglePanel("sure") : undefined
    if (name === "carry") return this.kept().length || this.panel ? this.togglePanel("carry") : undefined
    if (name === "undo") { this.record.decide("undo", [this.cursor || "-"]); return this.draw() }
    if (!place) return
    if (name === "accept" && place.readings.length) return this.choose(place, this.reading(place))
    if (name === "edit") { this.editing = true; return this.draw() }
    if (name === "reject" && place.readings.length) { this.record.decide("reject", [place.key]); return this.onward() }
    if (name === "unknown") { this.record.decide("unknown", [place.key]); return this.onward() }
    if (/^[1-9]$/.test(name) && place.readings[name - 1]) this.choose(place, place.readings[name - 1])
  }
  choose(place, reading) {
    this.record.decide("accept", [place.key], { choices: { [place.key]: reading.index } })
    this.onward()
  }
  onward() {
    const from = this.shown().findIndex(place => place.key === this.cursor)
    const next = this.nextOf(place => !this.record.standing(place.key), from)
    if (next) this.go(next)
    else this.draw()
  }
  togglePanel(name) {
    this.unticked.clear()
    this.panel = this.panel === name ? null : name
    if (this.panel === "sure" && !this.above().length) this.lower()
    this.draw()
  }
  // The highest threshold above which something is open: what is opened to look lower is not empty.
  lower() {
    const surest = Math.max(...this.open().map(place => place.readings[0].confidence))
    this.threshold = this.data.thresholds.find(one => surest > one) ?? this.threshold
  }
  closePanel() { this.panel = null; this.draw() }
  key(event) {
    if (!this.root.isConnected || this.loaded !== this.data.draft) return
    const target = event.composedPath()[0]
    const typing = target && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable) && target.type !== "checkbox"
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
  words(key, values = {}) { return this.data.words[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "") }
  hint(act) { const found = this.data.keys.find(one => one.act === act); return found ? element("kbd", { "aria-hidden": "true" }, found.shown) : null }
  button(act, kind = "", disabled = false) {
    const shortcut = this.data.keys.find(one => one.act === act).keys.join(" ")
    return element("button", { class: kind, type: "button", disabled, "data-act": act, "aria-keyshortcuts": shortcut, onclick: () => this.act(act) }, this.words(act), this.hint(act))
  }
  draw() {
    const focus = this.focused()
    if (!this.right || !this.right.isConnected) {
      this.right = element("div", { class: "pane right" })
      this.over = element("div")
      this.root.replaceChildren(this.page.pane, this.right, this.over)
      this.right.append(this.list.groups, this.list.list, element("div"), element("div"), element("div"))
    }
    const [, , card, bar, foot] = this.right.children
    card.replaceWith(drawCard(this))
    bar.replaceWith(drawBar(this))
    foot.replaceWith(drawFoot(this))
    this.list.draw()
    const scrolled = this.over.querySelector(".scroll")?.scrollTop
    const panel = { sure: drawSure, carry: drawCarry, help: drawHelp }[this.panel]
    this.over.replaceChildren(...(panel ? [panel(this)] : []))
    if (scrolled) this.over.querySelector(".scroll").scrollTop = scrolled
    this.refocus(focus)
    this.page.draw()
  }
  // Drawing anew must not take the focus, nor what is typed, from the person at the keyboard.
  focused() {
    const active = this.root.getRootNode().activeElement
    if (!active || !this.root.contains(active)) return null
    const name = ["act", "group", "choose"].find(one => active.dataset[one] !== undefined)
    if (name) return { selector: `[data-${name}="${CSS.escape(active.dataset[name])}"]` }
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
    if (this.panel && !this.over.contains(this.root.getRootNode().activeElement)) (this.over.querySelector("button:not(:disabled)") || this.over).focus()
    this.drawn = this.cursor
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
    root.addEventListener("pointerdown", () => desk.press(), true)
    desk.released = () => desk.release()
    for (const name of RELEASED) window.addEventListener(name, desk.released, true)
  }
  desk.update(component)
  return () => {
    // Streamlit also calls this for a drawing that a newer one has overtaken: then the desk is still in use.
    if (component.parentElement.isConnected) return
    window.removeEventListener("keydown", desk.listener, true)
    for (const name of RELEASED) window.removeEventListener(name, desk.released, true)
    clearTimeout(desk.record.resend)
    clearTimeout(desk.viewTimer)
    desks.delete(root)
  }
}
