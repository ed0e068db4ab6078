// Headless Chromium for console tests. Records everything that the console must not do.
import { chromium, say } from '@truckroll/local-stack';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

export const DESKTOP = { width: 1280, height: 860 };
/** The width of a narrow phone. Not emulated as a mobile device, because the browser would reload the page for that. */
export const PHONE = { width: 360, height: 740, deviceScaleFactor: 2 };

export interface Tab {
  readonly page: Page;
  /** Requests to other origins, console errors, policy violations and exceptions. */
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function startBrowser(): Promise<Browser> {
  // Chromium's sandbox refuses to run as root, and shared memory is small in containers.
  return await puppeteer.launch({ executablePath: await chromium(say), headless: 'shell', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/**
 * An isolated tab. API errors and outages are not recorded, because the console shows them to the user. `issuer` is the only other origin that
 * may be requested.
 */
export async function openTab(browser: Browser, origin: string, issuer?: string): Promise<Tab> {
  const context = await browser.createBrowserContext();
  await context.overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  await page.setViewport(DESKTOP);
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.evaluateOnNewDocument(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
  });
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warn') return;
    const { url = '' } = message.location();
    const expected = url.includes('/v1/') || (issuer !== undefined && url.startsWith(issuer));
    if (expected && /Failed to load resource.*( status of (4\d\d|503)|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED)/.test(message.text())) return;
    complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${String(error)}`));
  page.on('request', (request) => {
    if (![origin, issuer].includes(new URL(request.url()).origin) && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`);
  });
  return { page, complaints, close: () => context.close() };
}
