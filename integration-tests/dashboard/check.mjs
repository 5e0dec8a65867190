// Checks examples/grafana/strata.json against the types of dashboards, panels and their options that Grafana publishes:
// writes the parts as literals of these types, and compiles them.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const here = new URL('.', import.meta.url).pathname;
const types = `${here}node_modules/@grafana/schema/dist/types`;
const { panels, ...dashboard } = JSON.parse(readFileSync(`${here}../../examples/grafana/strata.json`, 'utf8'));

// An enum of the types is its values in JSON.
const lines = [
  `import { Dashboard, Panel, RowPanel } from '${types}/raw/dashboard/x/types.gen';`,
  `import * as timeseries from '${types}/raw/composable/timeseries/panelcfg/x/types.gen';`,
  `import * as stat from '${types}/raw/composable/stat/panelcfg/x/types.gen';`,
  `import { GraphFieldConfig } from '${types}/common/common.gen';`,
  "type Json<T> = T extends string | number ? (`${T}` extends `${infer N extends number}` ? N | T : `${T}`)",
  '  : T extends Array<infer U> ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T;',
  `const dashboard: Json<Omit<Dashboard, 'panels'>> = ${JSON.stringify(dashboard)};`,
];
for (const panel of panels) {
  const type = panel.type === 'row' ? 'RowPanel' : 'Panel';
  lines.push(`const panel${panel.id}: Json<${type}> = ${JSON.stringify(panel)};`);
  if (type === 'Panel') {
    lines.push(`const options${panel.id}: Json<${panel.type}.Options> = ${JSON.stringify(panel.options)};`);
    const custom = panel.fieldConfig.defaults.custom;
    if (custom) {
      lines.push(`const custom${panel.id}: Json<GraphFieldConfig> = ${JSON.stringify(custom)};`);
    }
  }
}
mkdirSync(`${here}target`, { recursive: true });
writeFileSync(`${here}target/check.ts`, `${lines.join('\n')}\n`);
execFileSync(process.execPath, [
  `${here}node_modules/typescript/bin/tsc`, '--noEmit', '--strict', '--skipLibCheck', '--moduleResolution', 'bundler',
  '--module', 'esnext', '--target', 'es2022', `${here}target/check.ts`,
], { stdio: 'inherit' });
console.log(`strata.json: ${panels.length} panels and rows are of Grafana's types`);
