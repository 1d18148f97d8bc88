// Draws what stands in a table as a curve or as bars; the table stays, folded. A point leads to the
// articles it counts. Drawn anew in the colours of another theme.
"use strict";
(() => {
  const own = document.currentScript.dataset;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shared = () => ({
    fontFamily: "inherit", nonce: own.nonce, toolbar: { show: false }, zoom: { enabled: false },
    animations: { enabled: false }, accessibility: { enabled: false }, background: "transparent",
    foreColor: colour("--tblr-secondary"),
  });
  const axes = () => ({
    theme: { mode: document.documentElement.dataset.bsTheme },
    grid: { borderColor: colour("--desk-line") },
    legend: { position: "top", horizontalAlign: "right", onItemClick: { toggleDataSeries: false } },
    tooltip: { shared: true, intersect: false },
    dataLabels: { enabled: false },
  });
  const follow = (shown) => (_event, _chart, { dataPointIndex: at }) => {
    if (at >= 0 && shown.queries) location.href = `${own.articles}?${shown.queries[at]}`;
  };
  // As many names of days as have room.
  const written = (shown, width) => {
    const step = Math.ceil(shown.labels.length / Math.max(2, Math.floor(width / 90)));
    return new Set(shown.labels.filter((_label, at) => at % step === 0));
  };
  const curve = (shown, width) => {
    const names = written(shown, width);
    const colours = [colour("--desk-bar"), colour("--desk-amber")];
    const lines = shown.lines.map((line) => ({ name: line.name, type: "line", data: shown.labels.map((x, at) => ({ x, y: line.values[at] })) }));
    const band = shown.band ? [{ name: shown.band.name, type: "rangeArea", data: shown.labels.map((x, at) => ({ x, y: shown.band.values[at] })) }] : [];
    return {
      ...axes(),
      chart: { ...shared(), type: "rangeArea", height: 280, events: { click: follow(shown), markerClick: follow(shown) } },
      series: [...band, ...lines],
      colors: [...band.map(() => colour("--tblr-secondary")), ...colours],
      fill: { opacity: [...band.map(() => 0.15), ...lines.map(() => 1)] },
      stroke: { curve: "straight", width: [...band.map(() => 0), ...lines.map(() => 2)], dashArray: [...band.map(() => 0), 0, 6] },
      markers: { size: [...band.map(() => 0), ...lines.map(() => (shown.labels.length > 40 ? 0 : 3))], hover: { size: 6 } },
      xaxis: { type: "category", axisTicks: { show: false }, labels: { rotate: 0, hideOverlappingLabels: false, formatter: (label) => (names.has(label) ? label : "") }, tooltip: { enabled: false } },
      tooltip: { shared: true, intersect: false, x: { formatter: (_label, { dataPointIndex: at }) => shown.labels[at] } },
      yaxis: { min: 0, forceNiceScale: true, decimalsInFloat: 0 },
      annotations: { points: shown.peaks.map((peak) => ({ x: shown.labels[peak.at], y: shown.lines[0].values[peak.at], marker: { size: 4 }, label: { text: peak.text, borderWidth: 0, style: { background: "transparent", color: colour("--tblr-body-color"), fontWeight: 700 } } })) },
    };
  };
  const bars = (shown) => ({
    ...axes(),
    chart: { ...shared(), type: "bar", height: 90 + 44 * shown.labels.length },
    plotOptions: { bar: { horizontal: true, barHeight: "70%" } },
    series: shown.lines.map((line) => ({ name: line.name, data: line.values })),
    colors: [colour("--desk-bar"), colour("--desk-amber")],
    xaxis: { categories: shown.labels, labels: { formatter: (value) => (Number.isInteger(Number(value)) ? value : "") } },
    yaxis: { labels: { maxWidth: 140 } },
  });
  const kinds = { curve, bars };
  const drawn = [];
  const draw = () => {
    for (const chart of drawn.splice(0)) chart.destroy();
    for (const place of document.querySelectorAll("[data-chart]")) {
      const shown = JSON.parse(place.dataset.chart);
      place.hidden = false;
      const chart = new ApexCharts(place, kinds[shown.kind](shown, place.clientWidth));
      drawn.push(chart);
      chart.render();
    }
  };
  if (window.ApexCharts && document.querySelector("[data-chart]")) {
    draw();
    for (const table of document.querySelectorAll(".trend-table")) table.open = false;
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
    addEventListener("beforeprint", () => { for (const table of document.querySelectorAll(".trend-table")) table.open = true; });
  }
  for (const place of document.querySelectorAll("[data-load]")) {
    // A page of our own, escaped where it was made; until it is there, and without it, there are links.
    fetch(place.dataset.load).then((answer) => (answer.ok ? answer.text() : "")).then((text) => { if (text) place.innerHTML = text; }, () => {});
  }
  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  }
})();
