// What was decided: the server's record, with what is still on its way to the server laid over it.
//
// Each decision gets a number of this window and goes into an outbox, which is sent whole and again until Python
// acknowledges the number: however fast the keys, none is lost and none counts twice. The outbox and what is typed
// stand in sessionStorage, under the draft's digest, so that they survive a refresh of the page.

const RESEND_MS = 3000

class Record {
  constructor(data, send) {
    let kept = {}
    this.draft = data.draft
    try { kept = JSON.parse(sessionStorage.getItem(this.storageKey()) || "{}") } catch { kept = {} }
    this.window = kept.window || Array.from(crypto.getRandomValues(new Uint8Array(8)), b => b.toString(16).padStart(2, "0")).join("")
    this.number = kept.number || 0
    this.outbox = kept.outbox || []
    this.typed = kept.typed || {}
    this.cursor = data.cursor || kept.cursor || ""
    this.take(data, send)
    if (this.outbox.length) this.post()
  }
  storageKey() { return `confirm:${this.draft}` }
  keep() {
    const { window, number, outbox, typed, cursor } = this
    try { sessionStorage.setItem(this.storageKey(), JSON.stringify({ window, number, outbox, typed, cursor })) } catch { /* full or forbidden: the outbox in memory still counts */ }
  }
  take(data, send) {
    this.data = data
    this.send = send
    const acked = data.acked[this.window] || 0
    this.number = Math.max(this.number, acked)
    this.outbox = this.outbox.filter(event => event.number > acked)
    this.lay()
    this.keep()
  }
  lay() {
    this.laid = new Map()
    for (const event of this.outbox) {
      if (event.kind === "undo") continue
      for (const key of event.places) this.laid.set(key, { kind: event.kind, index: (event.choices || {})[key], given: event.given, actor: this.data.actor })
    }
  }
  standing(key) { return this.laid.get(key) || this.data.standing[key] || null }
  decide(kind, places, more = {}) {
    if (!places.length) return
    const seen = {}
    for (const key of places) if (this.data.seqs[key]) seen[key] = this.data.seqs[key]
    this.outbox.push({ number: ++this.number, kind, places, seen, ...more })
    this.lay()
    this.keep()
    this.post()
  }
  post() {
    this.send("outbox", { draft: this.draft, window: this.window, events: [...this.outbox], sent: (this.sent = (this.sent || 0) + 1) })
    clearTimeout(this.resend)
    this.resend = setTimeout(() => { if (this.outbox.length) this.post() }, RESEND_MS)
  }
}
