import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status?: { code?: number };
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  links?: { traceId: string }[];
}

export interface Upload {
  path: string;
  headers: IncomingHttpHeaders;
  resource: Record<string, string>;
}

export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const uploads: Upload[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { resource: { attributes: { key: string; value: { stringValue: string } }[] }; scopeSpans: { spans: CollectedSpan[] }[] }[];
      };
      const attributes = body.resourceSpans.flatMap(({ resource }) => resource.attributes);
      const resource = Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
      uploads.push({ path: request.url ?? '', headers: request.headers, resource });
      spans.push(...body.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return { spans, uploads, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
