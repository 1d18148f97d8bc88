// A log-in as it goes on: shows the QR code, anew when the site renews it, until all is over.
"use strict";
const card = document.querySelector("[data-login]");
const picture = card.querySelector("img"), words = card.querySelector("[data-words]");
let shown = 0;

async function look() {
  try {
    const answer = await fetch(card.dataset.login, {headers: {Accept: "application/json"}});
    if (!answer.ok) throw new Error(answer.status);
    const login = await answer.json();
    if (login.is_over) { location.reload(); return; }
    words.textContent = login.words;
    if (login.code !== shown) {
      shown = login.code;
      picture.classList.toggle("d-none", !shown);
      if (shown) picture.src = `${card.dataset.code}?${shown}`;
    }
  } catch {
    // The next look may succeed.
  }
  setTimeout(look, 1500);
}
look();
