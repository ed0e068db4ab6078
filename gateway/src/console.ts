// /console: the bundle that scripts/build-console.mjs makes. It is public: data comes from the API, with the token of the user who signs in.
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Installation } from './clients.ts';
import type { ConsoleSignIn } from './console-sign-in.ts';
import { Document, UNCHANGING, pageHeaders } from './http/documents.ts';
import { redirect, type PublicPage } from './routes/public-pages.ts';

const FOLDER = join(import.meta.dirname, '../console/gen');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
/** The bundler names fonts after their content. Scripts have such names too, but are sent compressed, which documents that never change are not. */
const FONT = '.woff2';

/** The page, with what the console needs to know. Elements, because the policy allows no inline script. */
function shell(facts: Record<string, unknown>): string {
  const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  const elements = known.map(([name, value]) => `<meta name="${name}" content="${escaped(JSON.stringify(value))}">\n`);
  return html.replace('</head>', () => `${elements.join('')}</head>`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The console's pages by path, and the icon that browsers request by themselves. Throws if the bundle is missing. */
export function consolePages(signIn: ConsoleSignIn | undefined, clients: readonly Installation[]): Record<string, PublicPage> {
  // Requests go to the gateway and to the issuer at which people sign in.
  const connect = signIn === undefined ? "'self'" : `'self' ${new URL(signIn.issuer).origin}`;
  const headers = [...pageHeaders({ connect, images: "'self' data:", fonts: "'self'" }), 'Cross-Origin-Resource-Policy', 'same-origin'];
  const page = (name: string): Document => {
    const caching = extname(name) === FONT ? UNCHANGING : undefined;
    return new Document(TYPES[extname(name)]!, readFileSync(join(FOLDER, name)), headers, 200, caching);
  };
  return {
    '/console': new Document('text/html; charset=utf-8', shell({ 'sign-in': signIn, clients }), headers),
    // Addresses in the page are relative to /console: with a trailing slash they would be wrong.
    '/console/': redirect(308, '../console', 'The console is at /console.', headers),
    '/favicon.ico': page('icon.svg'),
    ...Object.fromEntries(
      readdirSync(FOLDER)
        .filter((name) => extname(name) in TYPES)
        .map((name) => [`/console/${name}`, page(name)]),
    ),
  };
}
