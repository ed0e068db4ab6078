import { createClient } from '@redis/client';
import type { Login, RedisNode } from './servers.ts';

export const CONNECT_MS = 2000;

export type RedisClient = ReturnType<typeof newClient>;

type Server = { readonly url: string } | { readonly node: RedisNode; readonly login: Login };

export function newClient(server: Server, name: string, keyPrefix?: string) {
  const socket = { connectTimeout: CONNECT_MS, reconnectStrategy: false } as const;
  return createClient({
    ...('url' in server ? { url: server.url, socket } : optionsOf(server.node, server.login, socket)),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    name,
    disableOfflineQueue: true,
    // The link's probes detect a hanging server. The library's timeout creates a signal and a timer per command and keeps both for seconds.
    commandOptions: { timeout: 0 },
    // Asking Redis Enterprise for notices of maintenance begins with a look-up of the host, which fails for an IPv6 address in a URL.
    maintNotifications: 'disabled',
  });
}

function optionsOf(node: RedisNode, { tls, ...credentials }: Login, socket: object) {
  return { ...credentials, socket: tls ? { ...socket, ...node, tls } : { ...socket, ...node } };
}
