// Dashboards and alert rules are consistent, and every alert fires. system.test.ts checks that a system provides their metrics.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prometheus, silent } from '@truckroll/local-stack';
import { parse } from 'yaml';
import { DASHBOARDS, dashboards, expressions, firing, namesIn, ruleFiles, ruleTests, rules } from './expressions.ts';

interface RuleTests {
  readonly tests: readonly {
    readonly input_series: readonly { series: string }[];
    readonly alert_rule_test: readonly { readonly exp_alerts: readonly Record<'exp_labels' | 'exp_annotations', Record<string, string>>[] }[];
  }[];
}

let promtool: string;
beforeAll(async () => {
  promtool = await prometheus('promtool', silent);
}, 120_000);

const run = (...args: string[]) => spawnSync(promtool, args, { cwd: DASHBOARDS, encoding: 'utf8' });
const alerts = [...new Set(rules.flatMap(({ alert }) => alert ?? []))];

test.each(ruleFiles)('promtool finds no problem in %s', (name) => {
  const { status, stdout, stderr } = run('check', 'rules', '--lint-fatal', name);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

test.each(ruleTests)('the alerts in %s fire under their conditions, and not before', (name) => {
  const { status, stdout, stderr } = run('test', 'rules', name);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

test('an alert concerns one cell and says which, where the scraper adds that label', () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-cells-'));
  try {
    const { tests, ...all } = parse(readFileSync(join(DASHBOARDS, 'alerts.test.yaml'), 'utf8')) as RuleTests;
    for (const { input_series: series, alert_rule_test: checks } of tests) {
      for (const one of series) one.series = one.series.replace('{', '{cell="west",');
      for (const { exp_labels: labels, exp_annotations: said } of checks.flatMap(({ exp_alerts: expected }) => expected)) {
        labels['cell'] = 'west';
        said['summary'] = `west: ${said['summary']}`;
      }
    }
    const file = join(folder, 'cells.test.yaml');
    writeFileSync(file, JSON.stringify({ ...all, rule_files: [join(DASHBOARDS, 'alerts.yaml')], tests }));
    const { status, stdout, stderr } = run('test', 'rules', file);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every alert fires in a test, has a severity, and has a section in the runbook', () => {
  expect(firing.toSorted()).toEqual(alerts.toSorted());
  const page = readFileSync(join(DASHBOARDS, '../../docs/how-to/runbook.md'), 'utf8');
  const sections = [
    ...page
      .split('## Alerts')[1]!
      .split('\n## ')[0]!
      .matchAll(/^### (\w+)$/gm),
  ].map(([, name]) => name);
  expect(sections).toEqual(alerts);
  for (const { alert, labels, annotations } of rules.filter((rule) => rule.alert !== undefined)) {
    expect(['page', 'ticket']).toContain(labels?.['severity']);
    expect(annotations).toEqual({ summary: expect.any(String), runbook: `docs/how-to/runbook.md#${alert!.toLowerCase()}` });
  }
});

test.each(dashboards)(
  '$name is a valid Grafana dashboard: panels lie within the grid without overlapping, and the data source can be chosen',
  ({ dashboard }) => {
    expect(dashboard).toMatchObject({
      uid: expect.stringMatching(/^truckroll-[a-z]+$/),
      schemaVersion: 39,
      templating: {
        list: [
          { name: 'datasource', type: 'datasource' },
          // Without cells no series has the label, which `.*` matches too.
          { name: 'cell', type: 'query', query: { query: 'label_values(build_info, cell)' }, includeAll: true, allValue: '.*', current: { value: '$__all' } },
        ],
      },
    });
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = new Set<string>();
    for (const {
      type,
      targets = [],
      datasource,
      gridPos: { x, y, w, h },
    } of dashboard.panels) {
      expect(x + w).toBeLessThanOrEqual(24);
      for (let cell = 0; cell < w * h; cell += 1) {
        const place = `${x + (cell % w)},${y + Math.floor(cell / w)}`;
        expect(cells).not.toContain(place);
        cells.add(place);
      }
      if (type === 'row') continue;
      expect(datasource?.uid).toBe('${datasource}');
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  },
);

test.each(dashboards)('$name shows the chosen cell only', ({ dashboard }) => {
  for (const { expr } of dashboard.panels.flatMap(({ targets = [] }) => targets)) {
    const elsewhere = expr.replaceAll(/[a-z_]+\{cell=~"\$cell"[^}]*\}/g, 'vector(0)');
    expect([expr, namesIn(elsewhere).metrics]).toEqual([expr, []]);
  }
});

test('every expression of a dashboard is valid PromQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-promql-'));
  try {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules: expressions.map(({ expr }, index) => ({ record: `expression:${index}`, expr })) }] }));
    const { status, stdout, stderr } = run('check', 'rules', file);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining(`${expressions.length} rules found`)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('finds the metric names in an expression, and nothing else', () => {
  expect(
    namesIn('topk(10, histogram_quantile(0.95, sum by (le, statement) (rate(a_seconds_bucket{kind="x_y"}[5m])))) or on () vector(0) unless b_total offset 5m'),
  ).toEqual({
    metrics: ['a_seconds_bucket', 'b_total'],
    labels: ['kind', 'le', 'statement'],
  });
});
