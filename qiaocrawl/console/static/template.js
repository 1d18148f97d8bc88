// Proposed places go into the field they are for.
"use strict";
for (const button of document.querySelectorAll("[data-into]")) {
  button.addEventListener("click", () => {
    document.getElementById(button.dataset.into).value = button.dataset.value;
  });
}
