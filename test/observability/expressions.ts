import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const DASHBOARDS = join(import.meta.dirname, '..', '..', 'deploy', 'dashboards');

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const files = (ending: string): string[] => readdirSync(DASHBOARDS).filter((name) => name.endsWith(ending));
const text = (name: string): string => readFileSync(join(DASHBOARDS, name), 'utf8');

export const dashboards = files('.json').map((name) => ({ name, dashboard: JSON.parse(text(name)) as Dashboard }));
export const ruleTests = files('.test.yaml');
export const ruleFiles = files('.yaml').filter((name) => !ruleTests.includes(name));
export const rules = ruleFiles.flatMap((name) => (parse(text(name)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules));
export const firing = ruleTests.flatMap((name) =>
  (parse(text(name)) as { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] }).tests.flatMap((test) =>
    test.alert_rule_test.filter(({ exp_alerts: all }) => all.length > 0).map(({ alertname }) => alertname),
  ),
);

/** Every expression and where it is used. Grafana's variables are replaced by sample values. */
export const expressions: readonly { where: string; expr: string }[] = [
  ...rules.map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr })),
  ...dashboards.flatMap(({ name, dashboard }) =>
    dashboard.panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ where: `${name}: ${panel.title}`, expr: expr.replaceAll('$__rate_interval', '1m') })),
    ),
  ),
];

const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'on', 'ignoring', 'group_left', 'group_right']);

/** Metrics and labels that an expression names. This is not a parser and relies on promtool having accepted the expression. */
export function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const labels: string[] = [];
  const note = (all: string | undefined): string => {
    labels.push(...(all?.match(/[a-z_]+/g) ?? []));
    return ' ';
  };
  const rest = expr
    .replaceAll(/"(\\.|[^"\\])*"/g, '""')
    .replaceAll(/\{([^}]*)\}/g, (_, inner: string) => note(inner))
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, inner: string) => note(inner))
    .replaceAll(/\[[^\]]*\]/g, ' ');
  const metrics = [...rest.matchAll(/(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\()(?![\w:])/g)].map(([name]) => name).filter((name) => !KEYWORDS.has(name));
  return { metrics: [...new Set(metrics)], labels: [...new Set(labels)] };
}
