// /mcp, for assistants (decisions §18): the endpoint, and the document by which hosts find the issuer of user tokens.
import type { Operation } from '@truckroll/contract';
import { Document } from './http/documents.ts';
import { catalogOf } from './mcp/catalog.ts';
import { createEndpoint, type EndpointParts } from './mcp/endpoint.ts';
import { createInnerRequests } from './mcp/inner-requests.ts';
import { scheduleTool } from './mcp/schedule.ts';
import { readingTools } from './mcp/tools.ts';
import type { McpRoute } from './routes/api.ts';
import type { Cursors } from './routes/cursor.ts';
import type { PublicPage } from './routes/public-pages.ts';

const PATH = '/mcp';
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

export interface McpOptions extends Omit<EndpointParts, 'tools'> {
  operations: readonly Operation[];
  cursors: Cursors;
  /** Whether there is a tool that changes something. */
  writes: boolean;
  /** The gateway's public address; empty if unknown. */
  base: string;
  /** Undefined if there are no user tokens. */
  issuer: string | undefined;
}

export function createMcp({ operations, cursors, writes, base, issuer, ...parts }: McpOptions): { route: McpRoute; pages: Record<string, PublicPage> } {
  const tools = [...readingTools(catalogOf(operations), base), ...(writes ? [scheduleTool(cursors)] : [])];
  const route = { path: PATH, challenge: 'Bearer', serve: (app) => createEndpoint({ ...parts, tools }, createInnerRequests(app)) } satisfies McpRoute;
  if (issuer === undefined || base === '') return { route, pages: {} };
  const metadata = { resource: base + PATH, authorization_servers: [issuer], bearer_methods_supported: ['header'], resource_name: 'Truckroll' };
  const page = new Document('application/json', JSON.stringify(metadata, null, 2));
  return {
    route: { ...route, challenge: `Bearer resource_metadata="${base}${RESOURCE_METADATA}"` },
    // RFC 9728 puts the resource's path behind; older hosts ask without it.
    pages: { [RESOURCE_METADATA]: page, [RESOURCE_METADATA + PATH]: page },
  };
}
