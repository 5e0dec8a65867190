// Plots the panels of examples/grafana/strata.json with the data of a Prometheus, and takes a picture of the page:
//   node plot.mjs http://localhost:9090 picture.png [MINUTES]
// This is not Grafana: the same queries, the same layout, another program that draws.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const here = new URL('.', import.meta.url).pathname;
const [prometheus, picture, minutes = '30'] = process.argv.slice(2);
const dashboard = JSON.parse(readFileSync(`${here}../../examples/grafana/strata.json`, 'utf8'));
const end = Math.floor(Date.now() / 1000);
const start = end - Number(minutes) * 60;
const step = Math.max(5, Math.round((end - start) / 240));

async function ask(path, parameters) {
  const answer = await (await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(parameters)}`)).json();
  if (answer.status !== 'success') {
    throw new Error(`${parameters.query}: ${JSON.stringify(answer)}`);
  }
  return answer.data.result;
}

const expression = (target) => target.expr.replaceAll('$job', '.*').replaceAll('$instance', '.*')
  .replaceAll('$__rate_interval', `${Math.max(20, 4 * step)}s`);
const label = (target, metric) => target.legendFormat.replaceAll(/\{\{(\w+)}}/g, (_, name) => metric[name] ?? '').trim();

const panels = [];
for (const panel of dashboard.panels) {
  const drawn = { title: panel.title, type: panel.type, at: panel.gridPos, series: [] };
  const defaults = panel.fieldConfig?.defaults ?? {};
  drawn.unit = defaults.unit;
  drawn.stacked = defaults.custom?.stacking?.mode === 'normal';
  drawn.mappings = defaults.mappings?.[0]?.options ?? {};
  drawn.steps = defaults.thresholds?.steps ?? [];
  for (const target of panel.targets ?? []) {
    const query = expression(target);
    const found = panel.type === 'stat'
      ? (await ask('query', { query })).map((s) => ({ metric: s.metric, values: [s.value] }))
      : await ask('query_range', { query, start, end, step });
    for (const series of found) {
      drawn.series.push({ label: label(target, series.metric), values: series.values.map(([t, v]) => [t, Number(v)]) });
    }
  }
  panels.push(drawn);
}

const page = `<!doctype html><meta charset="utf-8"><style>${readFileSync(`${here}node_modules/uplot/dist/uPlot.min.css`)}
body { margin: 8px; background: #111217; color: #ccccdc; font: 12px sans-serif; width: 1584px; }
#grid { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 26px; gap: 6px; }
.panel { background: #181b1f; border: 1px solid #2c3035; border-radius: 3px; padding: 5px 8px; overflow: hidden; }
.row { font-size: 14px; padding: 6px 0 0; } .title { font-weight: 600; }
.value { font-size: 24px; font-weight: 600; text-align: center; padding-top: 14px; color: #fff; }
.names { font-size: 10px; line-height: 13px; } .names i { display: inline-block; width: 9px; height: 3px; margin: 0 4px 3px 8px; }
</style><div id="grid"></div><script>${readFileSync(`${here}node_modules/uplot/dist/uPlot.iife.min.js`)}</script><script>
const panels = ${JSON.stringify(panels, (_, v) => (Number.isNaN(v) ? null : v))};
const colors = ['#73bf69', '#f2cc0c', '#5794f2', '#ff9830', '#f2495c', '#b877d9', '#8ab8ff', '#ffb357', '#96d98d', '#ca95e5'];
const named = { green: '#37872d', orange: '#d9630f', red: '#c4162a' };
function text(v, unit) {
  if (v == null) return '';
  const binary = (n) => { let i = 0; while (Math.abs(n) >= 1024 && i < 5) { n /= 1024; i++; }
    return +n.toPrecision(3) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][i]; };
  if (unit === 'bytes') return binary(v);
  if (unit === 'Bps') return binary(v) + '/s';
  if (unit === 'percentunit') return +(v * 100).toPrecision(3) + ' %';
  if (unit === 's') return v === 0 ? '0 s' : v < 1e-3 ? +(v * 1e6).toPrecision(3) + ' µs' : v < 1 ? +(v * 1e3).toPrecision(3) + ' ms'
    : v < 120 ? +v.toPrecision(3) + ' s' : +(v / 60).toPrecision(3) + ' min';
  return String(+v.toPrecision(3));
}
for (const p of panels) {
  const box = document.createElement('div');
  box.style.gridArea = (p.at.y + 1) + ' / ' + (p.at.x + 1) + ' / span ' + p.at.h + ' / span ' + p.at.w;
  document.getElementById('grid').append(box);
  box.className = p.type === 'row' ? 'row' : 'panel';
  box.innerHTML = '<div class="title"></div>';
  box.firstChild.textContent = p.title;
  if (p.type === 'row') continue;
  if (p.type === 'stat') {
    const v = p.series[0]?.values[0][1];
    const step = p.steps.filter((s) => s.value == null || v >= s.value).at(-1);
    const shown = document.createElement('div');
    shown.className = 'value';
    shown.textContent = p.mappings[v]?.text ?? text(v, p.unit);
    box.append(shown);
    box.style.background = named[p.mappings[v]?.color ?? step?.color] ?? '';
    continue;
  }
  const times = []; for (let t = ${start}; t <= ${end}; t += ${step}) times.push(t);
  const rows = p.series.map((s) => { const at = new Map(s.values); return times.map((t) => at.get(t) ?? null); });
  if (p.stacked) rows.forEach((r, i) => i && r.forEach((v, t) => { r[t] = (v ?? 0) + (rows[i - 1][t] ?? 0); }));
  const order = p.stacked ? [...rows.keys()].reverse() : [...rows.keys()];
  const names = document.createElement('div');
  names.className = 'names';
  p.series.slice(0, 8).forEach((s, i) => { const c = document.createElement('i'); c.style.background = colors[i % 10];
    names.append(c, s.label || 'value'); });
  const width = box.clientWidth - 16;
  new uPlot({ width, height: 26 * p.at.h + 6 * (p.at.h - 1) - 62, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: true }, y: { range: (u, lo, hi) => [Math.min(0, lo ?? 0), (hi || 1) * 1.08] } },
    axes: [{ stroke: '#9fa7b3', grid: { stroke: '#24272c' }, ticks: { show: false }, size: 26,
      values: (u, vs) => vs.map((v) => new Date(v * 1000).toTimeString().slice(0, 5)) },
      { stroke: '#9fa7b3', grid: { stroke: '#24272c' }, ticks: { show: false }, size: 68, values: (u, vs) => vs.map((v) => text(v, p.unit)) }],
    series: [{}, ...order.map((i) => ({ stroke: colors[i % 10], width: 1.3, fill: colors[i % 10] + (p.stacked ? '66' : '14'), points: { show: false } }))],
  }, [times, ...order.map((i) => rows[i])], box);
  box.append(names);
}
</script>`;
mkdirSync(`${here}target`, { recursive: true });
writeFileSync(`${here}target/dashboard.html`, page);
const height = 30 + 32 * Math.max(...panels.map((p) => p.at.y + p.at.h));
execFileSync('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--virtual-time-budget=10000',
  `--window-size=1600,${height}`, `--screenshot=${picture}`, `${here}target/dashboard.html`], { stdio: 'ignore' });
console.log(`${picture}: ${panels.filter((p) => p.type !== 'row').length} panels; without data: `
  + `${panels.filter((p) => p.type !== 'row' && p.series.length === 0).map((p) => p.title).join(', ') || 'no panel'}`);
