// Keys for lists of articles, and for one article: what a key does is sent as a form would be.
"use strict";
(() => {
  const rows = [...document.querySelectorAll(".console-row")];
  const keys = document.getElementById("keys"), ask = document.getElementById("ask");
  const said = document.getElementById("said"), token = document.getElementById("token");
  const list = document.getElementById("articles");
  let at = rows.length === 1 ? 0 : -1;

  const go = (to) => {
    if (!rows.length) return;
    if (at >= 0) rows[at].classList.remove("console-here");
    at = Math.min(Math.max(to, 0), rows.length - 1);
    rows[at].classList.add("console-here");
    rows[at].focus({preventScroll: true});
    rows[at].scrollIntoView({block: "nearest"});
  };
  const show = (row, marks) => {
    const judged = Object.values(marks.judged);
    const toggle = (name, is) => row.querySelector(`[data-shown=${name}]`).classList.toggle("d-none", !is);
    toggle("relevant", judged.includes(true));
    toggle("irrelevant", judged.includes(false));
    toggle("star", marks.starred);
    row.querySelector("[data-shown=note]").textContent = marks.note;
    const tags = row.querySelector("[data-shown=tags]");
    tags.replaceChildren(...marks.tags.flatMap((text) => {
      const tag = document.createElement("span");
      tag.className = "badge console-tag";
      tag.textContent = text;
      return [tag, " "];
    }));
    Object.assign(row.dataset, {starred: marks.starred ? "yes" : "", note: marks.note, tags: marks.tags.join(", ")});
    said.textContent = row.querySelector("[data-marks]").textContent.trim();
  };
  const send = async (row, action, value = "") => {
    const body = new URLSearchParams({action, value, topic: list.dataset.topic || ""});
    const headers = {"X-CSRF-Token": token.value, Accept: "application/json"};
    try {
      const answer = await fetch(row.dataset.mark, {method: "POST", body, headers});
      if (!answer.ok) throw new Error(answer.status);
      show(row, await answer.json());
    } catch {
      const text = document.getElementById("failed").content.textContent;
      said.textContent = text;
      window.alert(text);
    }
  };
  const write = (row, action) => {
    const label = ask.querySelector("label"), field = document.getElementById("ask-value");
    label.textContent = label.dataset[action];
    field.value = row.dataset[action];
    ask.returnValue = "";
    ask.onclose = () => { if (ask.returnValue === "save") send(row, action, field.value); };
    ask.showModal();
    field.focus();
  };
  const open = (row, path) => {
    const link = row.querySelector("a[href]");
    if (path) window.location.href = row.dataset.mark ? row.dataset.mark.replace(/mark$/, path) : link.href;
    else if (link && !document.getElementById("evidence")) window.location.href = link.href;
  };
  const marking = {
    r: (row) => send(row, "relevant"), x: (row) => send(row, "irrelevant"),
    s: (row) => send(row, "star", row.dataset.starred ? "" : "yes"),
    n: (row) => write(row, "note"), t: (row) => write(row, "tags"),
  };
  document.addEventListener("keydown", (event) => {
    const into = event.target.closest("input, textarea, select, dialog[open]");
    if (into || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key;
    if (key === "j") go(at + 1);
    else if (key === "k") go(at - 1);
    else if (key === "?") keys.showModal();
    else if (key === "/" && document.getElementById("search")) document.getElementById("search").focus();
    else if (at >= 0 && (key === "o" || key === "Enter") && event.target.tagName !== "BUTTON" && event.target.tagName !== "A" && event.target.tagName !== "SUMMARY") open(rows[at], "");
    else if (at >= 0 && key === "e") open(rows[at], "evidence");
    else if (at >= 0 && key in marking && rows[at].dataset.mark) marking[key](rows[at]);
    else return;
    event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-keys]")) button.addEventListener("click", () => keys.showModal());
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => write(rows[0], button.dataset.do));
})();
