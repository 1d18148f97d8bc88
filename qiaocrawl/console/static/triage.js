// Keys and buttons for lists of articles, and for one article: sent as a form would be.
"use strict";
(() => {
  const rows = [...document.querySelectorAll(".console-row")];
  const keys = document.getElementById("keys"), ask = document.getElementById("ask");
  const said = document.getElementById("said"), token = document.getElementById("token");
  const list = document.getElementById("articles"), chosen = document.getElementById("judged-topic");
  const inList = Boolean(list && list.classList.contains("console-list"));
  const titles = list ? JSON.parse(list.dataset.titles) : {};
  let at = inList ? -1 : 0;

  const here = (to) => {
    if (at >= 0) rows[at].classList.remove("console-here");
    at = Math.min(Math.max(to, 0), rows.length - 1);
    rows[at].classList.add("console-here");
  };
  const go = (to) => {
    if (!rows.length) return;
    here(to);
    rows[at].focus({preventScroll: true});
    rows[at].scrollIntoView({block: "nearest"});
  };
  // Behind the last of a page comes the next page, and behind an article the next one of its list.
  const step = (by) => {
    const isEnd = !inList || at === (by > 0 ? rows.length - 1 : 0);
    const link = isEnd && document.querySelector(`[data-step="${by}"]`);
    if (link) window.location.href = link.href + (link.dataset.at || "");
    else if (inList) go(at + by);
  };
  const topicOf = (row) => (row.querySelector("select[name=topic]") || chosen || {}).value || row.dataset.topic;
  const judged = (row) => JSON.parse(row.dataset.judged);
  // What a button does is what the same key does: a mark that is there is taken back.
  const isOn = (row, act) => act === "star" ? Boolean(row.dataset.starred) : judged(row)[topicOf(row)] === (act === "relevant");
  const press = (row) => {
    for (const button of row.querySelectorAll("[data-act]")) {
      const on = isOn(row, button.dataset.act);
      button.value = on ? button.dataset.undo : button.dataset.act;
      button.setAttribute("aria-pressed", on);
    }
  };
  const show = (row, marks) => {
    const shown = (name) => row.querySelector(`[data-shown=${name}]`);
    for (const [name, is] of [["relevant", true], ["irrelevant", false]]) {
      const topics = Object.keys(marks.judged).filter((topic) => marks.judged[topic] === is);
      shown(name).classList.toggle("d-none", !topics.length);
      shown(name).querySelector("[data-topics]").textContent = topics.map((topic) => titles[topic] || topic).join(", ");
    }
    shown("star").classList.toggle("d-none", !marks.starred);
    shown("note").textContent = marks.note;
    shown("tags").replaceChildren(...marks.tags.flatMap((text) => {
      const tag = document.createElement("span");
      tag.className = "badge console-tag";
      tag.textContent = text;
      return [tag, " "];
    }));
    Object.assign(row.dataset, {
      starred: marks.starred ? "yes" : "", note: marks.note, tags: marks.tags.join(", "), judged: JSON.stringify(marks.judged),
    });
    press(row);
    said.textContent = [...row.querySelectorAll("[data-marks] > :not(.d-none)")].map((mark) => mark.textContent.trim()).filter(Boolean).join(" ");
  };
  // One after the other: of two answers under way at once, the older could be shown last.
  let sent = Promise.resolve();
  const send = (row, action, value = "yes") => { sent = sent.then(() => post(row, action, value)); };
  const post = async (row, wanted, value) => {
    const button = row.querySelector(`[data-act="${wanted}"]`);
    const action = button && isOn(row, wanted) ? button.dataset.undo : wanted;
    const body = new URLSearchParams({action, value, topic: topicOf(row), copies: row.dataset.copies || ""});
    const headers = {"X-CSRF-Token": token.value, Accept: "application/json"};
    try {
      const answer = await fetch(row.dataset.mark, {method: "POST", body, headers});
      if (!answer.ok) throw new Error(answer.status);
      const marks = await answer.json();
      show(row, marks);
      said.textContent = `${said.textContent} ${marks.said}`.trim();
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
  // Never a link of the row: in an article that would be one of the captured page.
  const open = (address) => { if (address) window.location.href = address; };
  const marking = {
    r: (row) => send(row, "relevant"), x: (row) => send(row, "irrelevant"), s: (row) => send(row, "star"),
    n: (row) => write(row, "note"), t: (row) => write(row, "tags"),
  };
  const opens = (event) => event.key === "o" || (event.key === "Enter" && !event.target.closest("a, button, summary"));
  document.addEventListener("keydown", (event) => {
    const into = event.target.closest("input, textarea, select, dialog[open]");
    if (into || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key, row = rows[at];
    if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "?") keys.showModal();
    else if (key === "/" && document.getElementById("search")) document.getElementById("search").focus();
    else if (row && opens(event)) open(row.dataset.open);
    else if (row && key === "e") open(row.dataset.evidence);
    else if (row && key in marking && row.dataset.mark) marking[key](row);
    else return;
    event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    const row = event.target.closest(".console-row"), button = event.submitter;
    if (!row || !button || !button.dataset.act) return;
    event.preventDefault();
    if (inList) here(rows.indexOf(row));
    send(row, button.dataset.act);
  });
  document.addEventListener("change", (event) => {
    if (event.target === chosen) rows.forEach(press);
    else if (event.target.matches("select[name=topic]") && rows[0]) rows.filter((row) => row.contains(event.target)).forEach(press);
  });
  for (const button of document.querySelectorAll("[data-keys]")) button.addEventListener("click", () => keys.showModal());
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => write(rows[0], button.dataset.do));
  const arrived = {"#first": 0, "#last": rows.length - 1}[window.location.hash] ?? rows.findIndex((row) => row.id && `#${row.id}` === window.location.hash);
  if (inList && arrived >= 0) go(arrived);
})();
