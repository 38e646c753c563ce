// The page that a value was read from: its picture with marks, the lines of a text, or two crops of a conflict.

const ZOOM = 1.35 // pixels of the screen for one point at most: ten-point type is read without effort
const SIDES = 24 // pixels left and right of what is marked
const POINT = 2 // pixels of a page's picture for one point of the page
const GROW = 1.5 // points around a box, so that the mark does not touch the words
const CUT_MARGIN = 12 // points of the page left and right of a crop's words
const KEPT_PICTURES = 40

class PageView {
  constructor(desk) {
    this.desk = desk
    this.pane = element("div", { class: "pane left" })
    this.zoomed = true
    this.pictures = new Map()
  }
  draw() {
    const { desk } = this
    const place = desk.at()
    const reading = place && desk.reading(place)
    const paper = reading && desk.data.documents[reading.source]
    const drawn = JSON.stringify([desk.loaded, desk.cursor, reading && reading.index, place && desk.record.standing(place.key), this.zoomed, paper])
    if (drawn === this.drawn) return // so that it stays where a hand has scrolled it
    this.drawn = drawn
    const head = element("div", { class: "head" },
      element("span", { class: "name" }, reading ? `${desk.documentName(reading)} · ${reading.place}` : ""),
      element("button", { type: "button", "aria-pressed": String(this.zoomed), "data-act": "zoom", "aria-keyshortcuts": "z", onclick: () => desk.act("zoom") }, desk.words("zoom"), desk.hint("zoom")))
    const view = element("div", { class: "view", tabindex: "0", role: "region", "aria-label": desk.words("page") })
    this.pane.replaceChildren(head, ...(place && place.conflict ? [this.drawCrops(place, reading)] : []), view)
    if (!reading) return view.append(element("div", { class: "say muted" }, desk.words(!place ? "nothing_here" : place.was ? "page_vanished" : "page_missing")))
    if (!paper || paper.kind === "absent") return view.append(element("div", { class: "say muted" }, desk.words("page_absent", { text: reading.text })))
    if (paper.kind === "purged") return view.append(element("div", { class: "say muted" }, desk.words("page_purged", { text: reading.text })))
    if (paper.kind === "pdf" && reading.page) return this.drawSheet(view, place, reading)
    if (paper.kind === "text" && reading.page) return this.drawLines(view, paper, reading)
    view.append(element("div", { class: "say" }, reading.text))
  }
  drawSheet(view, place, reading) {
    const { desk } = this
    view.append(element("div", { class: "say muted" }, desk.words("page_loading")))
    this.picture(reading).then(picture => {
      if (desk.at() !== place || !view.isConnected) return
      if (picture.error) { view.replaceChildren(element("div", { class: "say" }, `${picture.error}\n\n${reading.text}`)); return }
      const image = element("img", { src: picture.url, alt: desk.words("page_alt", { page: reading.page, name: desk.documentName(reading) }) })
      const sheet = element("div", { class: "sheet" }, image)
      const width = picture.width / POINT, height = picture.height / POINT
      for (const mark of this.marks(place, reading, width, height)) sheet.append(mark)
      const wide = view.clientWidth - 24
      sheet.style.width = `${this.zoomed ? Math.max(wide, width * this.zoomFor(view, reading.box)) : wide}px`
      view.replaceChildren(sheet)
      if (reading.box) this.center(view, sheet, reading.box, width)
    })
  }
  // One mark for each box on the page; the current one lies on top.
  marks(place, reading, width, height) {
    const found = new Map()
    for (const [other, one] of this.desk.onPage(reading)) {
      const id = String(one.box)
      if (one === reading || !found.has(id)) found.set(id, [one.box, one === reading, other])
    }
    return [...found.values()].sort((one, other) => one[1] - other[1]).map(([box, current, other]) => this.mark(box, width, height, current, other))
  }
  mark(box, width, height, current, place) {
    const mark = element("button", { class: current ? "mark current" : "mark", type: "button", tabindex: "-1", title: place.title,
      "aria-label": place.title, onclick: () => this.desk.go(place) })
    const [left, top, right, bottom] = box
    Object.assign(mark.style, { left: `${(left - GROW) / width * 100}%`, top: `${(top - GROW) / height * 100}%`,
      width: `${(right - left + 2 * GROW) / width * 100}%`, height: `${(bottom - top + 2 * GROW) / height * 100}%` })
    return mark
  }
  // A line that is wide is enlarged less: its last columns are what is to be confirmed.
  zoomFor(view, box) { return box ? Math.min(ZOOM, (view.clientWidth - 2 * SIDES) / (box[2] - box[0])) : ZOOM }
  center(view, sheet, box, width) {
    const scale = parseFloat(sheet.style.width) / width
    view.scrollTop = sheet.offsetTop + (box[1] + box[3]) / 2 * scale - view.clientHeight / 2
    const fits = box[2] * scale + 40 < view.clientWidth
    view.scrollLeft = fits ? 0 : sheet.offsetLeft + Math.min((box[0] + box[2]) / 2 * scale - view.clientWidth / 2, box[0] * scale - SIDES)
  }
  drawCrops(place, current) {
    const { desk } = this
    const crops = element("div", { class: "crops", tabindex: "0", role: "group", "aria-label": desk.words("alternatives_conflict") })
    const stands = desk.record.standing(place.key)
    place.readings.forEach((reading, number) => {
      const cut = element("div", { class: "cut" })
      crops.append(element("button", { class: "crop", type: "button", disabled: !!desk.data.growing, "aria-pressed": String(reading === current && !!stands && stands.kind === "accept"),
        onclick: () => desk.choose(place, reading) },
        element("span", {}, number < 9 ? element("kbd", {}, String(number + 1)) : null, " ", element("strong", {}, reading.value), reading.instance ? ` · ${reading.instance}` : ""),
        cut, element("span", { class: "muted" }, `${desk.documentName(reading)} · ${reading.place} · ${reading.confidence.toFixed(3)}`)))
      const paper = desk.data.documents[reading.source]
      if (paper && paper.kind === "pdf" && reading.box) this.drawCut(cut, reading)
      else cut.textContent = reading.text
    })
    return crops
  }
  drawCut(cut, reading) {
    this.picture(reading).then(picture => {
      if (!cut.isConnected || picture.error) { cut.textContent = reading.text; return }
      const [left, top, right, bottom] = reading.box
      const scale = Math.min(1.6, (cut.clientWidth - 8) / (right - left + 2 * CUT_MARGIN))
      const image = element("img", { src: picture.url, alt: reading.text })
      image.style.width = `${picture.width / POINT * scale}px`
      const shiftX = -(left - CUT_MARGIN) * scale, shiftY = cut.clientHeight / 2 - (top + bottom) / 2 * scale
      Object.assign(image.style, { left: `${shiftX}px`, top: `${shiftY}px` })
      const mark = element("span", { class: "mark current" })
      Object.assign(mark.style, { left: `${shiftX + (left - GROW) * scale}px`, top: `${shiftY + (top - GROW) * scale}px`,
        width: `${(right - left + 2 * GROW) * scale}px`, height: `${(bottom - top + 2 * GROW) * scale}px` })
      cut.replaceChildren(image, mark)
    })
  }
  // Pages that will be looked at next are drawn by the server while the person still reads this one.
  fetchAhead(places) {
    for (const place of places) {
      const reading = place.readings[0]
      const paper = reading && this.desk.data.documents[reading.source]
      if (paper && paper.kind === "pdf" && reading.page) this.picture(reading)
    }
  }
  picture(reading) {
    const paper = this.desk.data.documents[reading.source]
    const page = `${paper.address}/${reading.page}`
    const found = this.pictures.get(page) || this.fetchPicture(page, paper.token)
    this.pictures.delete(page)
    this.pictures.set(page, found) // the last in the order is the last used
    for (const [old, picture] of this.pictures) {
      if (this.pictures.size <= KEPT_PICTURES) break
      this.pictures.delete(old)
      picture.then(made => { if (made.url) setTimeout(() => URL.revokeObjectURL(made.url), 60_000) })
    }
    return found
  }
  fetchPicture(page, token) {
    const failed = () => { this.pictures.delete(page); return { error: this.desk.words("page_failed") } }
    return fetch(`${page}.png?token=${token}`).then(async answer => {
      if (!answer.ok) { this.pictures.delete(page); return { error: (await answer.json().catch(() => ({}))).error || this.desk.words("page_failed") } }
      const url = URL.createObjectURL(await answer.blob())
      const image = new Image()
      image.src = url
      await image.decode()
      return { url, width: image.naturalWidth, height: image.naturalHeight }
    }).catch(failed)
  }
  drawLines(view, paper, reading) {
    fetch(`${paper.address}/${reading.page}.json?token=${paper.token}`).then(answer => answer.json()).then(found => {
      if (!view.isConnected) return
      if (found.error) { view.replaceChildren(element("div", { class: "say" }, found.error)); return }
      const lines = found.lines.map((line, number) =>
        element("div", { class: found.first + number === reading.page ? "at" : "" }, element("span", {}, String(found.first + number)), line))
      view.replaceChildren(element("div", { class: "lines" }, lines))
    }).catch(() => view.replaceChildren(element("div", { class: "say" }, reading.text)))
  }
}
