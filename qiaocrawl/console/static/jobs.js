// Jobs as they go on: fills in what the server tells, and loads the page again when a job comes or goes.
"use strict";
const stream = document.querySelector("[data-events]");

function fill(card, job) {
  for (const field of card.querySelectorAll("[data-field]")) {
    const value = job[field.dataset.field];
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join("\n") || field.dataset.empty : value.toLocaleString();
    if (field.textContent === text) continue;
    const atEnd = field.scrollHeight - field.scrollTop - field.clientHeight < 30;
    field.textContent = text;
    if (atEnd) field.scrollTop = field.scrollHeight;
    if (field.dataset.field === "state_name") field.className = "badge job-" + job.state;
  }
}

// The stages anew, unless somebody is at one of their links; and one sentence for who listens, at
// most every five seconds.
const LISTEN_MS = 5000;
let shown = "", said = -LISTEN_MS;
function progress(job) {
  const place = document.querySelector("[data-progress]"), status = document.querySelector("[data-said]");
  if (place && job.html !== shown && !place.contains(document.activeElement)) {
    place.innerHTML = job.html;
    shown = job.html;
  }
  if (status && (job.is_over || performance.now() - said >= LISTEN_MS) && status.textContent !== job.words) {
    status.textContent = job.words;
    said = performance.now();
  }
}

// What somebody is writing into a form must not be lost. Nobody did anything: the session is not to
// be kept alive by it (see security/gate.py), so it says so in its address, which is put back here.
const here = new URL(location.href);
if (here.searchParams.has("unattended")) {
  here.searchParams.delete("unattended");
  history.replaceState(null, "", here);
}
function reload() {
  const writing = document.activeElement && document.activeElement.closest("form");
  if (writing) return;
  here.searchParams.set("unattended", "1");
  location.replace(here);
}

for (const log of document.querySelectorAll(".console-log")) log.scrollTop = log.scrollHeight;

if (stream) {
  const events = new EventSource(stream.dataset.events);
  events.onmessage = (event) => {
    const data = JSON.parse(event.data);
    if (!data.jobs) {
      fill(stream, data);
      progress(data);
      if (data.is_over) { events.close(); reload(); }
      return;
    }
    for (const job of data.jobs) {
      const card = stream.querySelector(`[data-job="${job.id}"]`);
      if (card) fill(card, job);
    }
    if (data.jobs.map((job) => job.id).join(",") !== stream.dataset.ids) reload();
  };
  // The session is over: the page to log in again is better than jobs that stand still.
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) setTimeout(reload, 5000); };
  addEventListener("pagehide", () => events.close());
}
