'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const page = document.getElementById('page');
const colors = ['#1f6feb', '#d9630f', '#2f8f46', '#a33cc4', '#c4162a', '#0b8a8f', '#8a6d00', '#5c6773'];

function add(parent, tag, text, className) {
  const element = document.createElement(tag);
  if (text != null) element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

function table(parent, head, rows) {
  const element = add(parent, 'table');
  const first = add(element, 'tr');
  head.forEach((text) => add(first, 'th', text));
  rows.forEach((row) => {
    const line = add(element, 'tr');
    row.forEach((text) => add(line, 'td', text));
  });
}

function number(value) {
  if (value == null) return '';
  const size = Math.abs(value);
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const bytes = (value) => number(value / 2 ** 30) + ' GiB';

function summary() {
  const results = data.results;
  add(page, 'h1', [...new Set(results.map((r) => r.name))].join(', '));
  const first = results[0];
  add(page, 'div', `${results.map((r) => r.label).filter((l, i, all) => all.indexOf(l) === i).join(', ')}: `
    + `${results.length} result${results.length > 1 ? 's' : ''}, the first of ${first.started}; strata-bench ${first.tool}`, 'dim');
  if (first.scenario.source) add(page, 'div', first.scenario.source, 'dim');
  results.forEach((r) => r.failures.forEach((f) => add(page, 'div', `FAILED: ${r.label}: ${f}`, 'failed')));
}

function ratios() {
  const { labels, lines } = data.comparison;
  if (labels.length < 2) return;
  add(page, 'h2', 'Comparison');
  const head = ['', 'figure', `${labels[0]}, median`];
  labels.slice(1).forEach((label) => head.push(`${label}, median`, `${label} / ${labels[0]}`, 'range', 'pairs', '95 % interval'));
  table(page, head, lines.map((line) => {
    const row = [line.what, line.metric, number(line.spreads[0].median)];
    line.ratios.forEach((ratio, i) => row.push(number(line.spreads[i + 1].median), number(ratio.median),
      `${number(ratio.least)} to ${number(ratio.most)}`,
      ratio.pairs || 'none',
      ratio.interval.length ? `${number(ratio.interval[0])} to ${number(ratio.interval[1])}` : 'none'));
    return row;
  }));
  add(page, 'div', 'A pair is the good results of one round of strata-bench paired, divided. '
    + 'Without pairs a ratio is against the median of the first; without six pairs there is no interval.', 'dim');
}

function figures() {
  add(page, 'h2', 'Figures');
  const rows = [];
  data.results.forEach((result) => result.phases.forEach((phase) => {
    phase.groups.forEach((g) => rows.push([`${result.label}: ${phase.name} ${g.name}`, g.clients, number(g.seconds),
      number(g.recordsPerSecond), number(g.megabytesPerSecond), g.errors, ...[g.latency.p50, g.latency.p90, g.latency.p99,
        g.latency.p999, g.latency.p9999, g.latency.max].map(number)]));
  }));
  table(page, ['', 'clients', 'seconds', 'records/s', 'MB/s', 'errors', 'p50 ms', 'p90', 'p99', 'p99.9', 'p99.99', 'max'], rows);
  const brokers = [];
  data.results.forEach((result) => result.phases.forEach((phase) => Object.entries(phase.brokers)
    .forEach(([name, value]) => brokers.push([`${result.label}: ${phase.name}`, name.replaceAll('-', ' '), number(value)]))));
  if (brokers.length) table(page, ['brokers', '', ''], brokers);
}

function draw(parent, chart) {
  const box = add(parent, 'div');
  add(box, 'h3', chart.title);
  const joined = uPlot.join(chart.lines.map((line) => [line.points.map((p) => p[0]), line.points.map((p) => p[1])]));
  let values = joined.slice(1);
  if (chart.stacked) {
    values = values.map((row, i) => row.map((_, t) => values.slice(0, i + 1).reduce((sum, r) => sum + (r[t] ?? 0), 0)));
  }
  const order = chart.stacked ? [...values.keys()].reverse() : [...values.keys()];
  const nines = ['0 %', '90 %', '99 %', '99.9 %', '99.99 %', '99.999 %'];
  const quantile = chart.kind === 'quantile';
  new uPlot({
    width: box.clientWidth, height: 260, padding: [8, 32, 0, 0],
    scales: {
      x: { time: false },
      y: chart.logarithmic ? { distr: 3 } : { range: (u, least, most) => [0, (most || 1) * 1.05] },
    },
    axes: [
      { values: (u, splits) => splits.map((v) => (quantile ? (Number.isInteger(v) ? nines[v] : '') : `${+v.toFixed(1)} s`)),
        splits: quantile ? () => [0, 1, 2, 3, 4, 5] : undefined },
      { size: 64, values: (u, splits) => splits.map((v) => (v == null ? '' : number(v))) },
    ],
    series: [
      { label: quantile ? 'percentile' : 'time',
        value: (u, v) => (v == null ? '' : quantile ? `${+(100 * (1 - 10 ** -v)).toPrecision(6)} %` : `${v.toFixed(1)} s`) },
      ...order.map((i) => ({ label: chart.lines[i].label, stroke: colors[i % colors.length], width: 1.5, spanGaps: true,
        fill: chart.stacked ? `${colors[i % colors.length]}55` : undefined, points: { show: joined[0].length < 3 },
        value: (u, v) => number(v) })),
    ],
  }, [joined[0], ...order.map((i) => values[i])], box);
}

function charts() {
  Object.entries(data.charts).forEach(([phase, all]) => {
    add(page, 'h2', `Phase ${phase}`);
    const grid = add(page, 'div', null, 'charts');
    all.forEach((chart) => draw(grid, chart));
  });
}

function configuration() {
  add(page, 'h2', 'Configuration');
  const shown = new Set();
  data.results.filter((r) => !shown.has(r.label) && shown.add(r.label)).forEach((result) => {
    add(page, 'h3', result.label);
    table(page, ['host of clients', 'system', 'processor', 'cores', 'memory', 'Java'], result.hosts.map((h) =>
      [h.name, h.system, h.processor, h.cores, bytes(h.memoryBytes), h.java]));
    table(page, ['cluster', ''], Object.entries(result.cluster));
    const details = add(page, 'details');
    add(details, 'summary', 'all keys of the scenario');
    add(details, 'pre', JSON.stringify(result.scenario, null, 2));
  });
}

summary();
ratios();
figures();
charts();
configuration();
