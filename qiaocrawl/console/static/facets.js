// The counts beside the choices of a list: fetched when they are opened. Where they have a column of
// their own they are open with each list, until they are closed.
"use strict";
(() => {
  const place = document.getElementById("facets"), kept = "console.facets";
  if (!place) return;
  const hasColumn = window.matchMedia("(min-width: 1200px)").matches;
  const into = place.querySelector("[data-into]");
  const load = async () => {
    if (into.dataset.done) return;
    into.dataset.done = "1";
    try {
      const answer = await fetch(place.dataset.url);
      if (!answer.ok) throw new Error(answer.status);
      // A page of our own, escaped where it was made.
      into.innerHTML = await answer.text();
    } catch {
      delete into.dataset.done;
    }
  };
  place.addEventListener("toggle", () => {
    if (hasColumn) localStorage.setItem(kept, place.open ? "open" : "closed");
    if (place.open) load();
  });
  if (hasColumn && localStorage.getItem(kept) !== "closed") place.open = true;
})();
