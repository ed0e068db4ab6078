// The paths that need no credential (decisions §9).
import { ApiError } from '@truckroll/contract';
import { send, type Draining, type Headers } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';

export interface Page {
  status: number;
  type: string;
  body: Buffer;
  headers?: Headers;
}

export interface PublicPages {
  /** Answers a request for a public page; false where the path is none. Throws ApiError 405 on other verbs than GET, HEAD. */
  serve(exchange: Exchange, extra: Headers): boolean;
}

/** Pages by path; a function is asked at every request. */
export function publicPages(pages: Readonly<Record<string, Page | (() => Page)>>, draining: Draining): PublicPages {
  const byPath = new Map(Object.entries(pages));
  return {
    serve(exchange, extra) {
      const found = byPath.get(exchange.path);
      if (found === undefined) return false;
      if (exchange.req.method !== 'GET' && exchange.req.method !== 'HEAD') {
        extra.push('Allow', 'GET, HEAD');
        throw new ApiError('METHOD_NOT_ALLOWED', 'This path answers GET and HEAD only.');
      }
      const { status, type, body, headers = [] } = typeof found === 'function' ? found() : found;
      send(exchange, status, body, type, headers, draining);
      return true;
    },
  };
}

export function textPage(status: number, text: string): Page {
  return { status, type: 'text/plain; charset=utf-8', body: Buffer.from(text) };
}

/** RFC 9727: where machines find our API. A HEAD request gets the Link header and no more. */
export function catalogPage(base: string): Page {
  const self = `${base}/.well-known/api-catalog`;
  const linkset = [
    {
      anchor: self,
      item: [{ href: `${base}/v1` }],
    },
    {
      anchor: `${base}/v1`,
      'service-desc': [{ href: `${base}/openapi.json`, type: 'application/vnd.oai.openapi+json;version=3.1' }],
      'service-doc': [{ href: `${base}/docs`, type: 'text/html' }],
      status: [{ href: `${base}/healthz`, type: 'text/plain' }],
    },
  ];
  return {
    status: 200,
    type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    body: Buffer.from(`${JSON.stringify({ linkset }, null, 2)}\n`),
    headers: ['Link', `<${self}>; rel="api-catalog"`],
  };
}
