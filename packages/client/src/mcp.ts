#!/usr/bin/env node
import { serveStdio } from './stdio.ts';

/** What this module uses of Node. The package is compiled without its types. */
declare const process: { env: Record<string, string | undefined>; exitCode?: number; stderr: { write(text: string): void } };

const { TRUCKROLL_URL, TRUCKROLL_API_KEY } = process.env;
if (TRUCKROLL_URL === undefined || TRUCKROLL_API_KEY === undefined) {
  process.stderr.write('truckroll-mcp: set TRUCKROLL_URL to the address of the gateway and TRUCKROLL_API_KEY to an API key or user token.\n');
  process.exitCode = 1;
} else void serveStdio(TRUCKROLL_URL, TRUCKROLL_API_KEY);
