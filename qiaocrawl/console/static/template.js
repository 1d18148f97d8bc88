// Choosing places by clicking on the stored page. The frame runs no scripts of its own; this one,
// of the page around it, sees which numbered element was clicked on and asks what that chooses.
"use strict";
(() => {
  const form = document.getElementById("template");
  const frame = document.getElementById("stored");
  if (!form || !frame) return;
  const { mark } = frame.dataset;
  const taken = document.getElementById("taken"), chosen = document.getElementById("chosen");
  const page = () => frame.contentDocument;
  const numbered = (node) => node && node.closest ? node.closest(`[${mark}]`) : null;

  function unmark(name) {
    for (const node of page().querySelectorAll(`[${mark}-${name}]`)) node.removeAttribute(`${mark}-${name}`);
  }

  function paint() {
    if (!page()) return;
    unmark("as");
    for (const one of taken.querySelectorAll("[data-taken]")) {
      for (const number of one.dataset.numbers.split(",").filter(Boolean)) {
        const node = page().querySelector(`[${mark}="${number}"]`);
        if (node) node.setAttribute(`${mark}-as`, one.dataset.taken);
      }
    }
  }

  async function ask(number) {
    const query = new URLSearchParams(new FormData(form));
    query.set("number", number);
    taken.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${form.dataset.choose}?${query}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return await answer.json();
    } catch {
      return null;
    } finally {
      taken.removeAttribute("aria-busy");
    }
  }

  function tell(words, isGood) {
    chosen.hidden = false;
    chosen.textContent = words;
    chosen.classList.toggle("desk-done", isGood);
    chosen.classList.toggle("desk-look", !isGood);
  }

  async function choose(number) {
    const what = new FormData(form).get("what");
    const answer = await ask(number);
    if (!answer) {
      tell(form.dataset.failed, false);
      return;
    }
    tell(answer.words, Boolean(answer.selector));
    if (answer.selector) {
      const field = document.getElementById(what);
      field.value = answer.selector;
      field.rows = answer.selector.split("\n").length;
    }
    taken.innerHTML = answer.html;
    paint();
  }

  function listen() {
    if (!page()) return;
    paint();
    page().addEventListener("click", (event) => {
      event.preventDefault();
      const node = numbered(event.target);
      if (node) choose(node.getAttribute(mark));
    }, true);
    page().addEventListener("mouseover", (event) => {
      unmark("at");
      const node = numbered(event.target);
      if (node) node.setAttribute(`${mark}-at`, "");
    });
    page().addEventListener("submit", (event) => event.preventDefault(), true);
  }
  frame.addEventListener("load", listen);
  if (page() && page().readyState === "complete") listen();

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-into], [data-clear]");
    if (!button) return;
    if (button.dataset.into) document.getElementById(button.dataset.into).value = button.dataset.value;
    else document.getElementById(button.dataset.clear).value = "";
    const answer = await ask("");
    if (answer) {
      chosen.hidden = true;
      taken.innerHTML = answer.html;
      paint();
    }
  });
})();
