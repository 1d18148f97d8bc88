// What a form would give, shown anew by itself a moment after a field was changed.
"use strict";
(() => {
  const WAIT_MS = 800;
  for (const form of document.querySelectorAll("form[data-preview]")) {
    const place = document.getElementById(form.dataset.into);
    let timer = 0, asked = null;
    const show = async () => {
      if (asked) asked.abort();
      asked = new AbortController();
      place.setAttribute("aria-busy", "true");
      const sent = new URLSearchParams(new FormData(form));
      const isPost = form.method === "post";
      const address = isPost ? form.dataset.preview : `${form.dataset.preview}?${sent}`;
      try {
        const answer = await fetch(address, { method: isPost ? "POST" : "GET", body: isPost ? sent : null, signal: asked.signal });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const made = page.getElementById(form.dataset.into);
        // What is wrong with a field is told when the form is sent; half written it is no fault.
        if (answer.ok && made) place.replaceChildren(...made.childNodes);
        place.removeAttribute("aria-busy");
      } catch (error) {
        if (error.name !== "AbortError") place.removeAttribute("aria-busy");
      }
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, WAIT_MS);
    });
  }
})();
