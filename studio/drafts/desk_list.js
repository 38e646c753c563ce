// The groups and the list of places. Of a long list only the rows in sight are in the page.

const ROW = 26 // pixels, as in confirm_desk.css
const BEYOND = 30 // rows kept ready above and below what is in sight

class PlaceList {
  constructor(desk) {
    this.desk = desk
    this.groups = element("div", { class: "groups", role: "toolbar" })
    this.inner = element("div", { class: "rows", role: "presentation" })
    this.list = element("div", { class: "list", role: "listbox", tabindex: "0", onscroll: () => this.drawRows() }, this.inner)
  }
  inGroup(place, key) {
    if (key === "all") return true
    if (key === "conflicts") return place.conflict
    if (key === "missing") return !place.readings.length && !place.was
    if (key === "changed") return this.desk.isChanged(place)
    return place.group === key
  }
  // Of a group: how many places the documents give, and how many of them are decided.
  figures(key) {
    let places = 0, decided = 0
    for (const place of this.desk.places) {
      if (!this.inGroup(place, key) || (key !== "missing" && key !== "changed" && !place.readings.length)) continue
      places += 1
      if (this.desk.record.standing(place.key)) decided += 1
    }
    return { places, decided }
  }
  draw() {
    const { desk } = this
    this.groups.setAttribute("aria-label", desk.words("groups"))
    this.list.setAttribute("aria-label", desk.words("places"))
    this.groups.replaceChildren(...desk.data.groups.flatMap(group => {
      const { places, decided } = this.figures(group.key)
      if (!places && desk.group !== group.key) return []
      const open = group.key === "conflicts" || group.key === "changed"
      return [element("button", { type: "button", "aria-pressed": String(desk.group === group.key), "data-group": group.key, onclick: () => desk.chooseGroup(group.key) },
        group.title, " ", element("span", { class: "number muted" }, open ? String(places - decided) : `${decided}/${places}`))]
    }))
    this.shown = desk.shown()
    this.inner.style.height = `${Math.max(1, this.shown.length) * ROW}px`
    const at = this.shown.findIndex(place => place.key === desk.cursor)
    if (at >= 0 && at !== this.scrolledTo) this.reveal(at)
    this.scrolledTo = at
    this.drawRows()
  }
  reveal(at) {
    const top = at * ROW, high = this.list.clientHeight
    if (top < this.list.scrollTop) this.list.scrollTop = top
    else if (top + ROW > this.list.scrollTop + high) this.list.scrollTop = top + ROW - high
  }
  drawRows() {
    if (!this.shown) return
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - BEYOND)
    const last = Math.min(this.shown.length, Math.ceil((this.list.scrollTop + (this.list.clientHeight || 400)) / ROW) + BEYOND)
    const rows = []
    for (let at = first; at < last; at++) rows.push(this.option(this.shown[at], at))
    if (!rows.length) rows.push(element("div", { class: "row muted", role: "option", "aria-selected": "false" }, element("span"), this.desk.words("nothing_here")))
    this.inner.replaceChildren(...rows)
  }
  option(place, at) {
    const { desk } = this
    const mark = this.mark(place)
    const row = this.row(place, element("span", { class: `mark-of ${mark.kind}`, role: "img", "aria-label": desk.words(`mark_${mark.kind}`) }, mark.text))
    const current = place.key === desk.cursor
    row.classList.toggle("current", current)
    for (const [name, value] of Object.entries({ role: "option", "aria-selected": current, "aria-posinset": at + 1, "aria-setsize": this.shown.length })) row.setAttribute(name, String(value))
    row.dataset.place = place.key
    row.style.top = `${at * ROW}px`
    row.onclick = () => desk.go(place)
    return row
  }
  row(place, first, tag = "div") {
    const reading = place.readings[0]
    return element(tag, { class: "row" }, first,
      element("span", { class: "what", title: place.key }, place.title, place.instance ? element("span", { class: "muted" }, ` · ${place.instance}`) : null),
      element("span", { class: "value" }, this.valueOf(place)),
      element("span", { class: "number muted" }, reading ? reading.confidence.toFixed(3) : ""))
  }
  mark(place) {
    const stands = this.desk.record.standing(place.key)
    if (stands) return { text: { accept: "✓", edit: "✎", reject: "✕", unknown: "?" }[stands.kind], kind: stands.kind }
    if (place.conflict) return { text: "≠", kind: "conflict" }
    if (this.desk.isChanged(place)) return { text: "△", kind: "changed" }
    return { text: place.readings.length ? "·" : "–", kind: "muted" }
  }
  valueOf(place) {
    const { desk } = this
    const stands = desk.record.standing(place.key)
    if (stands && stands.kind === "edit") return stands.given
    if (stands && stands.kind !== "accept") return desk.words(`said_${stands.kind}`)
    if (place.conflict && !stands) return desk.words("conflict", { count: place.readings.length })
    if (place.mixed && !stands) return desk.words("mixed", { count: place.readings.length })
    const reading = desk.reading(place)
    return reading ? reading.value : desk.words(place.was ? "vanished" : "not_there")
  }
}
