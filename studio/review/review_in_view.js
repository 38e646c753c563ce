// The field of a form that has the cursor stays in sight when something above it arrives or grows, such as what an
// override was measured to do, until its owner scrolls or points elsewhere.
const PARTS_IN_VIEW = [0, 0.25, 0.5, 0.75, 0.99];

class InView {
  constructor() {
    this.watch = new IntersectionObserver((seen) => this.look(seen.at(-1)), { threshold: PARTS_IN_VIEW });
    this.onFocus = ({ target }) => this.hold(target);
    this.onInput = () => (this.isLeft = false);
    this.onLeave = ({ target }) => {
      if (target !== this.field) this.leave();
    };
    this.onScroll = () => this.leave();
    document.addEventListener("focusin", this.onFocus, true);
    document.addEventListener("input", this.onInput, true);
    document.addEventListener("pointerdown", this.onLeave, true);
    for (const sign of ["wheel", "touchmove"]) document.addEventListener(sign, this.onScroll, { capture: true, passive: true });
  }

  remove() {
    this.watch.disconnect();
    document.removeEventListener("focusin", this.onFocus, true);
    document.removeEventListener("input", this.onInput, true);
    document.removeEventListener("pointerdown", this.onLeave, true);
    for (const sign of ["wheel", "touchmove"]) document.removeEventListener(sign, this.onScroll, true);
  }

  hold(field) {
    this.watch.disconnect();
    this.field = field.closest?.('[class*="st-key-form_"]') && field.matches("textarea, input") ? field : null;
    this.isLeft = false;
    if (this.field) this.watch.observe(this.field);
  }

  leave() {
    this.isLeft = true;
  }

  // A field that is higher than the window is never wholly in it.
  look({ target, intersectionRatio, boundingClientRect, rootBounds }) {
    if (this.isLeft || target !== document.activeElement || intersectionRatio >= PARTS_IN_VIEW.at(-1)) return;
    if (boundingClientRect.height < (rootBounds?.height ?? 0)) target.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
}
