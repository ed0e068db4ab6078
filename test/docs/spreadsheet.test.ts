// The guide's Python program, with an API of two pages.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guideCode } from './guide-code.ts';
import { runSample } from './run-sample.ts';

test('the program of the spreadsheet guide writes all pages to one file, with a byte order mark and the column names once', async () => {
  const server = createServer((request, response) => {
    const last = request.url?.includes('cursor=') === true;
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8', ...(!last && { link: '</v1/reports/collections?cursor=a>; rel="next"' }) });
    response.end(`period_start,name\r\n${last ? '2026-01-02,"Zoë\nand sons"' : '2026-01-01,Łukasz'}\r\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-spreadsheet-'));
  try {
    const sample = guideCode(join(import.meta.dirname, '../..')).find(({ name, language }) => name.includes('spreadsheet') && language === 'python');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ran = await runSample(sample?.code ?? '', 'python', { url, key: 'trk_', token: '' }, { folder });
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(folder, 'collections.csv'), 'utf8')).toBe('\ufeffperiod_start,name\r\n2026-01-01,Łukasz\r\n2026-01-02,"Zoë\nand sons"\r\n');
  } finally {
    rmSync(folder, { recursive: true });
    server.close();
  }
});
