// One key a decision; keys typed into a field are the field's.
"use strict";
addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, select, textarea, button, a");
  if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) { event.preventDefault(); button.click(); }
});
