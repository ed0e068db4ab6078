import { readFileSync } from 'node:fs';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

test('the TestRun’s image is the k6 version that runs compile', () => {
  const compiled = /go\.k6\.io\/k6 v(\d+\.\d+\.\d+)/.exec(read('loadtest/k6/go.mod'))?.[1];
  expect(compiled).toBeDefined();
  expect(/image: grafana\/k6:(.+)/.exec(read('deploy/k6/testrun.yaml'))?.[1]).toBe(compiled);
});
