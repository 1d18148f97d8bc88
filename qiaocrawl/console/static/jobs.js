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

// What somebody is writing into a form must not be lost.
function reload() {
  const writing = document.activeElement && document.activeElement.closest("form");
  if (!writing) location.reload();
}

for (const log of document.querySelectorAll(".console-log")) log.scrollTop = log.scrollHeight;

if (stream) {
  const events = new EventSource(stream.dataset.events);
  events.onmessage = (event) => {
    const data = JSON.parse(event.data);
    if (!data.jobs) {
      fill(stream, data);
      if (data.is_over) { events.close(); reload(); }
      return;
    }
    for (const job of data.jobs) {
      const card = stream.querySelector(`[data-job="${job.id}"]`);
      if (card) fill(card, job);
    }
    if (data.jobs.map((job) => job.id).join(",") !== stream.dataset.ids) reload();
  };
  addEventListener("pagehide", () => events.close());
}
