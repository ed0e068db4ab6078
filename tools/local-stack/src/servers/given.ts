import { connect } from 'node:net';
import { parseAddress } from '@truckroll/process/addresses';
import { Problem } from '../problem.ts';
import type { ServerName } from './server.ts';

const TIMEOUT_MS = 3000;
const SENTINEL_PORT = 26379;
const VARIABLES = { postgres: ['DATABASE_URL', 5432], redis: ['REDIS_URL', 6379], kafka: ['KAFKA_BROKERS', 9092] } as const;
const SCHEMES = { postgres: ['postgres', 'postgresql'], redis: ['redis', 'rediss', 'redis+cluster', 'rediss+cluster', 'redis+sentinel', 'rediss+sentinel'] };

/** Throws a Problem when the address that an environment variable names has a wrong form, or nothing listens there. */
export async function requireAnswer(name: ServerName, text: string): Promise<void> {
  const [variable, defaultPort] = VARIABLES[name];
  if (name !== 'kafka') requireScheme(name, text);
  const addresses = addressesIn(name, text);
  const tried: string[] = [];
  for (const address of addresses) {
    if (!URL.canParse(address) || (name === 'kafka' && parseAddress(address.slice('kafka://'.length)) === undefined))
      throw new Problem(`${variable} is not an address: set it to ${example(name)}, or leave it out.`);
    const { hostname, port } = new URL(address);
    // A path instead of a host name is a socket file; the client checks it.
    if (hostname === '') return;
    tried.push(`${hostname}:${port || defaultPort}`);
    if (await answers(hostname.replace(/^\[|\]$/g, ''), Number(port || defaultPort))) return;
  }
  throw new Problem(`Nothing answers at ${tried.join(', ')}, which ${variable} names: start that server, or leave ${variable} out to have one started here.`);
}

function requireScheme(name: 'postgres' | 'redis', text: string): void {
  const [variable] = VARIABLES[name];
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  if (scheme !== undefined && SCHEMES[name].includes(scheme)) return;
  const fault = scheme === undefined ? 'is not an address' : `begins with ${scheme}:// instead of ${SCHEMES[name][0]}://`;
  throw new Problem(`${variable} ${fault}: set it to ${example(name)}, or leave it out.`);
}

/** One answering address is enough: it knows the others. */
function addressesIn(name: ServerName, text: string): string[] {
  if (name === 'kafka') return text.split(',').map((broker) => `kafka://${broker.trim()}`);
  const [, kind, hosts] = /^rediss?\+(cluster|sentinel):\/\/(?:[^@/]*@)?([^/?]+)/.exec(text) ?? [];
  if (hosts === undefined) return [text];
  return hosts.split(',').map((host) => `redis://${/:\d+$/.test(host) || kind === 'cluster' ? host : `${host}:${SENTINEL_PORT}`}`);
}

function example(name: ServerName): string {
  if (name === 'kafka') return 'host:port,host:port';
  return name === 'redis' ? 'redis://host:port' : 'postgres://user:password@host:port/database';
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
}
