// What all pages share.
"use strict";
// A table that is wider than its place is moved by the arrow keys, so it must be reached by them.
for (const place of document.querySelectorAll(".table-responsive")) {
  if (place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight) place.tabIndex = 0;
}

// What cannot be undone asks first, in the words of its button. What was sent is not sent twice: its
// button is busy until the answer comes, or so long that something went wrong.
const BUSY_MS = 60000;
const busy = new Set();
const rest = (button) => {
  button.classList.remove("btn-loading");
  button.removeAttribute("aria-busy");
  busy.delete(button.form);
};
addEventListener("submit", (event) => {
  const button = event.submitter, form = event.target;
  if (!button || (form.method !== "post" && !form.dataset.slow) || event.defaultPrevented) return;
  if ((button.dataset.ask && !confirm(button.dataset.ask)) || busy.has(form)) {
    event.preventDefault();
    return;
  }
  busy.add(form);
  button.setAttribute("aria-busy", "true");
  if (button.classList.contains("btn")) button.classList.add("btn-loading");
  setTimeout(rest, BUSY_MS, button);
});
// Back to a page that the browser kept as it was left.
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[aria-busy]")) rest(button);
});
