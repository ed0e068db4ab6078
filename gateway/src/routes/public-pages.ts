// Public pages, which need no credential (decisions §9), and the browsers' 404 page.
import type { NextFunction, Request, RequestHandler } from 'express';
import { ApiError } from '@truckroll/contract';
import { send, type Draining, type Headers } from '../http/answer.ts';
import { AddressCounts, networkOf } from '../http/addresses.ts';
import { Document } from '../http/documents.ts';
import { rootFrom, type Exchange } from '../http/exchange.ts';
import { preferredType } from '../http/negotiation.ts';
import { HEALTH } from '../http/request-log.ts';

/** A page that may change from request to request. */
export interface Page {
  status: number;
  type: string;
  body: Buffer;
  headers?: Headers;
}

/** The content of a path. Several documents are alternatives: Accept chooses, the first is the default. */
export type PublicPage = Page | ((exchange: Exchange) => Page) | Document | readonly [Document, ...Document[]];

/** Maximum length of a path in characters, and in segments. Beyond it a path gets the JSON 404. */
const LONGEST_PATH = 2048;
const DEEPEST_PATH = 10;

/** Below it nothing needs a credential, so a path without a page is a 404 for programs too. */
const DOCS = '/docs/';

/** Roots of the API. People look for documentation here; programs find operations below. */
const ROOTS: ReadonlySet<string> = new Set(['/v1', '/v1/', '/api/v1', '/api/v1/']);

export interface PublicPageOptions {
  /** Pages by path; a function is called for every request. `/clients/*` is for every other path below /clients. */
  pages: Readonly<Record<string, PublicPage>>;
  /** The 404 page for browsers, at every unknown path outside the API. */
  missing(path: string): Document;
  perMinute: number;
  draining: Draining;
}

/**
 * Middleware that answers requests for a public page. Throws ApiError 405 for verbs other than GET and HEAD, 404 for unknown paths of the
 * documentation, and 429 if the address has requested too many pages. Rejects only if a document cannot be compressed.
 */
export function publicPages({ pages, missing, perMinute, draining }: PublicPageOptions): RequestHandler {
  const counts = new AddressCounts();
  const byPath = new Map(Object.entries(pages));

  function sendPage({ status, type, body, headers = [] }: Page, exchange: Exchange): void {
    send(exchange, status, body, type, headers, draining);
  }

  /** Throws ApiError 429 if the address has requested too many pages. */
  function count({ peer = '' }: Exchange): void {
    const { count: pagesServed, resetSeconds } = counts.add(networkOf(peer));
    if (pagesServed <= perMinute) return;
    throw new ApiError('RATE_LIMITED', `More than ${perMinute} public pages in a minute were sent to this address. Go on after the time in Retry-After.`, {
      retryAfterSeconds: resetSeconds,
    });
  }

  function serveOther(exchange: Exchange, next: NextFunction): Promise<void> | void {
    const { path, req } = exchange;
    const root = ROOTS.has(path);
    const documentation = path.startsWith(DOCS);
    if ((!root && /^\/(api\/)?v1\//.test(path)) || isTooLong(path) || !reads(req) || !(documentation || mentionsText(req))) return next();
    count(exchange);
    if (!prefersHtml(req)) {
      if (documentation) throw new ApiError('NOT_FOUND', 'Nothing is at this path. The documentation begins at /docs, and /llms.txt lists its pages.');
      return next();
    }
    if (root) return sendPage(redirect(302, `${rootFrom(path)}docs`, 'The reference is at /docs.', ['Vary', 'Accept']), exchange);
    return missing(path).send(exchange, draining, ['Accept']);
  }

  return (req, res, next) => {
    const { exchange } = res.locals;
    const found = byPath.get(exchange.path) ?? (exchange.path.startsWith('/clients/') ? byPath.get('/clients/*') : undefined);
    if (found === undefined) return serveOther(exchange, next);
    if (!HEALTH.has(exchange.path)) count(exchange);
    if (!reads(req)) {
      exchange.errorHeaders.push('Allow', 'GET, HEAD');
      throw new ApiError('METHOD_NOT_ALLOWED', 'This path answers GET and HEAD only.');
    }
    if (found instanceof Document) return found.send(exchange, draining);
    if (typeof found === 'function') return sendPage(found(exchange), exchange);
    if ('status' in found) return sendPage(found, exchange);
    const wanted = preferredType(
      req,
      found.map(({ type }) => type.replace(/;.*/, '')),
    );
    return (found.find(({ type }) => type.startsWith(String(wanted))) ?? found[0]).send(exchange, draining, ['Accept']);
  };
}

function isTooLong(path: string): boolean {
  return path.length > LONGEST_PATH || path.split('/').length - 1 > DEEPEST_PATH;
}

export function textPage(status: number, text: string): Page {
  return { status, type: 'text/plain; charset=utf-8', body: Buffer.from(text) };
}

/** `to` is relative, because a proxy may add a path prefix. */
export function redirect(status: number, to: string, text: string, headers: Headers = []): Page {
  return { ...textPage(status, `${text}\n`), headers: ['Location', to, ...headers] };
}

function reads({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether the client may prefer HTML, without parsing its Accept. */
function mentionsText({ headers: { accept = '' } }: Request): boolean {
  return /text\//i.test(accept);
}

/** True for browsers. Programs that accept anything get JSON. */
function prefersHtml(req: Request): boolean {
  return preferredType(req, ['application/json', 'text/html']) === 'text/html';
}

/**
 * Where machines find the API (RFC 9727). A HEAD request gets the Link header only. `address` is the gateway's public address. If that is
 * unknown, links are relative, as RFC 9264 allows.
 */
export function catalogPage(address: string): Document {
  const base = address === '' ? '..' : address;
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
  return new Document('application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"', `${JSON.stringify({ linkset }, null, 2)}\n`, [
    'Link',
    `<${self}>; rel="api-catalog"`,
  ]);
}
