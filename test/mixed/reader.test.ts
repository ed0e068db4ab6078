import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestCompany } from '../support/company.ts';
import { read } from './reader.ts';

test('a refusal is no failure if it may be one and says when to come again', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    const status = { '/v1/company': 429, '/v1/jobs?limit=5': 429, '/v1/accounts?limit=5': 503 }[request.url!] ?? 200;
    response.writeHead(status, request.url === '/v1/jobs?limit=5' ? {} : { 'retry-after': '1' }).end('{"data":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const failures: string[] = [];
  const reading = { rate: 1000, goesOn: () => asked < 17, failed: (what: string) => void failures.push(what), mayRefuse: () => 429 };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { refused } = await read({ ...reading, baseUrl, company: { apiKey: 'k' } as TestCompany });
  server.close();
  expect(refused).toBeGreaterThan(0);
  expect(failures.filter((what) => what.includes('/v1/company'))).toEqual([]);
  expect(failures).toEqual(expect.arrayContaining([expect.stringMatching(/jobs.*: 429 /), expect.stringMatching(/accounts.*: 503 /)]));
});
