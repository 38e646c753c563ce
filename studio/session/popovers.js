// Streamlit draws what a popover holds at the end of the page: Tab would walk through all the rest behind it first. Opened
// with a key, it takes the cursor, so that the next Tab is in it; Escape gives the cursor back.
const POPOVER = '[data-testid="stPopover"] button';
const POPOVER_BODY = '[data-testid="stPopoverBody"]';
const FOCUSABLE = "button, input, textarea, select, a[href], [tabindex='0']";
const POPOVER_LOOKS = 500; // 10 s: a busy server is slow to fill it

if (!window.metaInferEntersPopovers) {
  window.metaInferEntersPopovers = true;
  window.addEventListener("keyup", (event) => {
    const button = event.target.closest?.(POPOVER);
    if (button && (event.key === "Enter" || event.key === " ")) enterPopover(button, POPOVER_LOOKS);
  }, true);
}

// Opens the first of some popovers for a key, with the cursor in it.
function openPopover(buttons) {
  const button = document.querySelector(buttons);
  if (!button) return;
  button.focus({ preventScroll: true });
  if (!document.querySelector(POPOVER_BODY)) button.click();
  enterPopover(button, POPOVER_LOOKS);
}

function enterPopover(button, looks) {
  const body = document.querySelector(POPOVER_BODY);
  if (document.activeElement !== button || looks === 0) return; // it was closed, or the cursor is elsewhere by now
  const isFilled = body?.querySelector(FOCUSABLE) || (body && looks === 1);
  if (!isFilled) return setTimeout(() => enterPopover(button, looks - 1), 20); // a Tab in an empty one leaves the page
  body.tabIndex = -1;
  body.focus({ preventScroll: true });
}
