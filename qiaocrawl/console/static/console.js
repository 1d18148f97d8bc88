// What all pages share.
"use strict";
// A table that is wider than its place is moved by the arrow keys, so it must be reached by them.
for (const place of document.querySelectorAll(".table-responsive")) {
  if (place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight) place.tabIndex = 0;
}
