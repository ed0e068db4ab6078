// /console: the bundle that scripts/build-console.mjs makes. It is public: data comes from /api/v1, with a token kept in the page's memory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Headers } from './http/answer.ts';
import { Document } from './http/documents.ts';
import { redirect, type PublicPage } from './routes/public-pages.ts';

const FOLDER = join(import.meta.dirname, '../console/gen');

const TYPES = {
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

/** The console shows answers of webhook endpoints. If one ever became markup, this policy would keep it from loading or running anything. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Headers = [
  'Content-Security-Policy',
  POLICY,
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];

/** The console's pages by path, and the icon that browsers request by themselves. Throws if the bundle is missing. */
export function consolePages(): Record<string, PublicPage> {
  const page = (name: string, type: string): Document => new Document(type, readFileSync(join(FOLDER, name)), HEADERS);
  return {
    '/console': page('index.html', 'text/html; charset=utf-8'),
    // Addresses in the page are relative to /console: with a trailing slash they would be wrong.
    '/console/': redirect(308, '../console', 'The console is at /console.', HEADERS),
    '/favicon.ico': page('icon.svg', TYPES['icon.svg']),
    ...Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [`/console/${name}`, page(name, type)])),
  };
}
