// The protocol's conformance suite against /mcp, pinned. The suite sends no credential, so a proxy adds one.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request as send, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startGateway, type TestGateway } from './support/gateway.ts';
import type { Era } from './support/mcp.ts';

const SUITE = join(dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js');

/** Scenarios of features that /mcp does not offer, or of tools, prompts and resources that only the suite's own server has. */
const NOT_OFFERED =
  /^(tools-call-(?!error)|resources-|prompts-|completion-|elicitation-|logging-|json-schema-|input-required-|server-sse-polling|http-custom-header-)/;

/** Checks that fail in the other scenarios, and why they may. */
const EXPECTED: Record<string, Era[]> = {
  // Every message needs a credential in Authorization, which browsers never add by themselves, so a rebound name gains nothing.
  'dns-rebinding-protection localhost-host-rebinding-rejected': ['2025-11-25', '2026-07-28'],
  // There are no prompts and no resources to list.
  'caching sep-2549-prompts-list-caching-hints': ['2026-07-28'],
  'caching sep-2549-resources-list-caching-hints': ['2026-07-28'],
  'caching sep-2549-resources-templates-list-caching-hints': ['2026-07-28'],
  // These call a tool of the suite's own server.
  'server-stateless sep-2575-server-rejects-undeclared-capability': ['2026-07-28'],
  'server-stateless sep-2575-missing-capability-http-400': ['2026-07-28'],
  // Subscriptions are refused: tools change with releases only.
  'server-stateless sep-2575-server-sends-subscription-ack': ['2026-07-28'],
  'server-stateless sep-2575-server-tags-subscription-id': ['2026-07-28'],
};

/** Scenarios that must be among those that ran. */
const RAN: Record<Era, string[]> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'tools-call-error'],
  '2026-07-28': ['server-stateless', 'caching', 'http-header-validation', 'tools-list', 'tools-call-error'],
};

let gateway: TestGateway;
let proxy: Server;
let folder: string;

beforeAll(async () => {
  gateway = await startGateway();
  folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${gateway.key}` };
    const through = send(`${gateway.url}${req.url}`, { method: req.method!, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    req.pipe(through);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  rmSync(folder, { recursive: true });
  await gateway.stop();
});

test.each<Era>(['2025-11-25', '2026-07-28'])(
  'passes what the protocol of %s requires of what /mcp offers',
  async (era) => {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    const results = join(folder, era);
    // It exits with 1, because it counts scenarios of what is not offered.
    await new Promise<void>(
      (resolve) => void execFile(process.execPath, [SUITE, 'server', '--url', url, '--suite', 'all', '--spec-version', era, '-o', results], () => resolve()),
    );
    const offered = readdirSync(results).flatMap((name) => {
      const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name;
      return NOT_OFFERED.test(scenario) ? [] : [{ scenario, checks: JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as any[] }];
    });
    expect(offered.map(({ scenario }) => scenario)).toEqual(expect.arrayContaining(RAN[era]));
    const failed = offered.flatMap(({ scenario, checks }) => checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => `${scenario} ${id}`));
    expect(failed.toSorted()).toEqual(
      Object.keys(EXPECTED)
        .filter((check) => EXPECTED[check]!.includes(era))
        .toSorted(),
    );
  },
  60_000,
);
