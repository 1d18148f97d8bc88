// The counts beside the choices of a list: fetched when they are opened, and from then on with
// each list, until they are closed again.
"use strict";
(() => {
  const place = document.getElementById("facets"), kept = "console.facets";
  if (!place) return;
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
    localStorage.setItem(kept, place.open ? "open" : "");
    if (place.open) load();
  });
  if (localStorage.getItem(kept)) place.open = true;
})();
