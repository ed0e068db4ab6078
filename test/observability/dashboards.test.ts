// Dashboards and alert rules are consistent, and every alert fires. system.test.ts checks that a system provides their metrics.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prometheus, silent } from '@truckroll/local-stack';
import { DASHBOARDS, dashboards, expressions, firing, namesIn, ruleFiles, ruleTests, rules } from './expressions.ts';

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
      templating: { list: [{ name: 'datasource', type: 'datasource' }] },
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
