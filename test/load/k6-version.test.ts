// One version of k6: the one that is compiled, the one whose types are checked, and the one that runs on clusters.
import { readFileSync } from 'node:fs';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

test('the image of the TestRun is the k6 that runs compile', () => {
  const compiled = /go\.k6\.io\/k6 v(\d+\.\d+\.\d+)/.exec(read('loadtest/k6/go.mod'))?.[1];
  expect(compiled).toBeDefined();
  expect(/image: grafana\/k6:(.+)/.exec(read('deploy/k6/testrun.yaml'))?.[1]).toBe(compiled);
});
