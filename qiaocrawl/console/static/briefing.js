/* Keys of the briefing desk: j k choose an item, Shift moves it, o changes it, x takes it out. */
(() => {
  "use strict";
  const rows = [...document.querySelectorAll("#desk-items > li[id]")];
  let at = rows.findIndex((row) => `#${row.id}` === window.location.hash);
  const here = (place) => {
    if (!rows[place]) return;
    rows.forEach((row, number) => row.classList.toggle("desk-here", number === place));
    at = place;
    rows[at].focus({preventScroll: true});
    rows[at].scrollIntoView({block: "nearest"});
  };
  if (at >= 0) here(at);
  const press = (name) => { if (rows[at]) { const own = rows[at].querySelector(`[data-desk="${name}"]`); if (own) own.click(); } };
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select, dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") here(at + 1);
    else if (event.key === "k") here(Math.max(at - 1, 0));
    else if (event.key === "J") press("down");
    else if (event.key === "K") press("up");
    else if (event.key === "o") press("edit");
    else if (event.key === "x") press("drop");
    else return;
    event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button && button.dataset.sure && !window.confirm(button.dataset.sure)) event.preventDefault();
  });
})();
