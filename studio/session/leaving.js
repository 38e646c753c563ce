// Of two requests to the server only the newer counts, and one from a component asks for the page that stands: sent just
// after a press on a link to another page, it would take that page away again. So nothing is sent until the page changes.
const LINKS = '[data-testid="stPageLink-NavLink"], [data-testid="stSidebarNavLink"]';
const LEAVES_WITHIN_MS = 10_000; // then the link is taken to have failed
let left = null; // the path that is being left, and until when

window.addEventListener("click", (event) => {
  const link = event.target.closest?.(LINKS);
  if (!link || new URL(link.href, location).pathname === location.pathname) return;
  left = { path: location.pathname, until: performance.now() + LEAVES_WITHIN_MS };
}, true);

const isLeaving = () => left !== null && location.pathname === left.path && performance.now() < left.until;
const unlessLeaving = (send) => (...said) => { if (!isLeaving()) send(...said); };
