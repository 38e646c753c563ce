// Numbered events on their way to the server: sent again until it has acknowledged their numbers. They also stand in
// the tab's storage, so that neither a refresh nor a drawing in the wrong moment loses one or does one twice.
const RESEND_MS = 2000;

class Outbox {
  constructor(name, send) {
    this.name = name;
    this.send = send;
    this.number = 0;
    this.events = [];
    try {
      const kept = JSON.parse(sessionStorage.getItem(name) || "{}");
      this.number = kept.number || 0;
      this.events = kept.events || [];
    } catch { /* forbidden or not ours: what is in memory still counts */ }
    this.timer = setInterval(() => this.events.length && this.send(this.events), RESEND_MS);
  }

  push(event) {
    this.number += 1;
    this.events.push({ number: this.number, ...event });
    this.keep();
    this.send(this.events);
    return this.number;
  }

  acknowledge(number) {
    this.number = Math.max(this.number, number);
    this.events = this.events.filter((event) => event.number > number);
    this.keep();
  }

  keep() {
    try {
      sessionStorage.setItem(this.name, JSON.stringify({ number: this.number, events: this.events }));
    } catch { /* full or forbidden */ }
  }

  remove() {
    clearInterval(this.timer);
  }
}
