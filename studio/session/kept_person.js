// Who sits at a window is kept by the window's own tab, so that loading it anew does not make its person another one. Not in a
// cookie: two tabs of a browser may be two people.
const KEY = "meta-infer-person";

export default function ({ data, setTriggerValue }) {
  const kept = sessionStorage.getItem(KEY);
  if (data.chosen) sessionStorage.setItem(KEY, data.person);
  else if (kept && kept !== data.person) setTriggerValue("kept", kept);
}
