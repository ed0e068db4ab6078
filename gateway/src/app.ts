// Assembles the gateway as a service that can be started and stopped, in its own process or in a test.
import { setTimeout as delay } from 'node:timers/promises';
import { operations as all, type Operation } from '@truckroll/contract';
import { IdentityServiceService, type AuthenticateRequest } from '@truckroll/contract/gen/integrations/v1/identity';
import { RequestLogServiceService } from '@truckroll/contract/gen/integrations/v1/requests';
import { createComponent, type Service } from '@truckroll/process';
import { RedisLink } from '@truckroll/redis';
import type { Logger } from '@truckroll/telemetry';
import { Limiter, watchLimiter } from './admission/limiter.ts';
import { createAuthentication } from './auth/authenticate.ts';
import { HeldCallers } from './auth/held-callers.ts';
import { createIdentitySeal } from './auth/identity-seal.ts';
import { subscribeInvalidations, type Invalidation } from './auth/invalidations.ts';
import { KeyUses, type UsesOfKeys } from './auth/key-uses.ts';
import { createLimits } from './auth/limits.ts';
import { Principals } from './auth/principals.ts';
import { Strangers } from './auth/strangers.ts';
import { createTokenVerifier, type TokenVerifier } from './auth/tokens.ts';
import { feedClients } from './changes/feed.ts';
import { HeldPolls } from './changes/held-polls.ts';
import { createPollSlots } from './changes/poll-slots.ts';
import { compileChanges, type ChangesContext } from './changes/operations.ts';
import { findIn } from './auth/cells.ts';
import { acrossCells } from './routes/cells.ts';
import { clientPages, clientWords, installations } from './clients.ts';
import type { GatewayConfig } from './config.ts';
import { consoleSignIn } from './console-sign-in.ts';
import { consolePages } from './console.ts';
import { docsPages, missingPages } from './docs.ts';
import type { TrustsProxy } from './http/addresses.ts';
import type { Draining } from './http/answer.ts';
import { OutputPool } from './http/output-pool.ts';
import { createCors, preflights } from './http/cors.ts';
import { Document } from './http/documents.ts';
import { RequestHistory } from './http/request-history.ts';
import { createRequestLog } from './http/request-log.ts';
import { createHttpServer } from './http/server.ts';
import { UnsentAnswers } from './http/unsent.ts';
import { createMcp } from './mcp.ts';
import { buildDocument } from './openapi/document.ts';
import { createApi } from './routes/api.ts';
import { createCursors } from './routes/cursor.ts';
import { compileOperation, type CompiledOperation } from './routes/operation.ts';
import { catalogPage, publicPages, redirect, textPage } from './routes/public-pages.ts';
import { compileSummary } from './routes/summary.ts';
import { SECURITY_TXT, securityTxt } from './security-txt.ts';
import { connectCells } from './services.ts';

/** Keys spread over 16 slots: if REDIS_URL names one node of a cluster as a single server, that node rejects some of them. */
const ALIVE = Array.from({ length: 16 }, (_, n) => `truckroll:alive:${n}`);
/** Digests that a key or user may ask for in a minute (decisions §14, rule 9). */
const DIGESTS_PER_MINUTE = 10;
/** Every request waits for authentication, so a slower answer is as bad as none. */
const IDENTITY_DEADLINE_MS = 3000;
/** Until integrations answers, the requests are in memory only, and a crash loses them. */
const STORE_DEADLINE_MS = 3000;

/** Longest wait in ms for every service to answer once: more than a new installation needs. After it, the gateway serves without the others. */
const FIRST_ANSWERS_MS = 30_000;

export interface GatewayOptions {
  config: GatewayConfig;
  log?: Logger;
  /** Default: all of the contract. Tests pass others. */
  operations?: readonly Operation[];
  firstAnswersMs?: number;
}

/** Assembles the gateway. Before start it does no I/O except reading the files of /docs, /clients and /console. */
export function createGateway({ config, log: given, operations = all, firstAnswersMs = FIRST_ANSWERS_MS }: GatewayOptions): Service {
  return createComponent({
    name: 'gateway',
    config,
    log: given,
    create({ log, metrics, foundation, background, stopping }) {
      const draining: Draining = { active: false };
      let ready = false;

      const cells = connectCells(config, metrics);
      const identities = mapOf(cells, ({ channels }) => channels.integrations.client(IdentityServiceService));
      const asks = mapOf(identities, (identity) => (request: AuthenticateRequest) => identity.authenticate(request, { deadlineMs: IDENTITY_DEADLINE_MS }));
      const redis = new RedisLink({ servers: config.redis, name: 'truckroll-gateway', log, metrics, keys: ALIVE });
      const invalidations = subscribeInvalidations(config.redis, log, metrics);
      const principals = new Principals({
        ask: findIn(asks),
        serves: (cell) => cells.has(cell),
        redis,
        seal: createIdentitySeal(config.identityKeys),
        invalidations,
      });
      const strangers = new Strangers({ perMinute: config.unknownKeysPerMinute, metrics });
      const authentication = createAuthentication({ principals, verifyToken: tokenVerifier(config), strangers });
      const heldCallers = new HeldCallers(authentication);
      const slots = createPollSlots(redis);
      const feeds = mapOf(cells, (services) => {
        const clients = feedClients(services.channels);
        const polls = new HeldPolls((owner, awaited) => clients.get(owner)!.findChanged({ awaited }), slots);
        stopping.addEventListener('abort', () => polls.release());
        return { services, polls };
      });
      const revocations = {
        onInvalidation(invalidation: Invalidation) {
          principals.forget(invalidation);
          heldCallers.revoked(invalidation);
          if (invalidation.kind === 'company' && cells.size > 1) for (const { polls } of feeds.values()) polls.wake(invalidation.id);
        },
        onGap() {
          principals.forgetAll();
          void heldCallers.checkAll();
        },
      };
      const uses = mapOf(identities, (identity) => new KeyUses((used) => identity.touchKeys({ uses: used }), log));
      const keyUses: UsesOfKeys = { note: (companyId, keyId, cell) => uses.get(cell ?? undefined)?.note(companyId, keyId) };
      const requestLogs = mapOf(cells, ({ channels }) => channels.integrations.client(RequestLogServiceService));
      const history = new RequestHistory(
        async (chunks, cell) => requestLogs.get(cell)?.storeRequests({ chunks }, { deadlineMs: STORE_DEADLINE_MS }),
        log,
        metrics,
      );
      metrics.observedGauge('gateway_redis_up', 'Whether Redis takes the writes of the gateway', () => Number(redis.ready));
      metrics.observedGauge('gateway_revocations_proven', 'Whether kept identities may be believed', () => Number(invalidations.proven()));
      foundation({ name: 'services', start: async () => undefined, stop: async () => cells.forEach((services) => services.close()) });
      foundation({ name: 'Redis', start: async () => redis.start(), stop: async () => redis.stop() });
      foundation({ name: 'invalidations', start: async () => invalidations.start(revocations), stop: async () => invalidations.stop() });
      for (const each of uses.values()) foundation({ name: 'uses of keys', start: async () => each.start(), stop: () => each.stop() });
      foundation({ name: 'history of requests', start: async () => history.start(), stop: () => history.stop() });
      // Ready when every service has answered once, or after firstAnswersMs. A service that goes away later fails only its own requests.
      const answered = async (): Promise<void> => {
        const late = delay(firstAnswersMs, 'late', { signal: stopping, ref: false });
        const first = await Promise.race([Promise.all([...cells.values()].map((services) => services.allServing(log, stopping))), late]).catch(() => undefined);
        if (first === 'late') log.warn({ waitedMs: firstAnswersMs }, 'serves without a service that has not answered yet');
      };
      background({ name: 'first calls to the services', start: answered, stop: async () => undefined });

      const perMinute = {
        reads: config.readsPerMinute,
        reports: config.reportsPerMinute,
        writes: config.writesPerMinute,
        changes: config.changesPerMinute,
        digests: DIGESTS_PER_MINUTE,
      };
      const base = config.publicUrl?.replace(/\/+$/, '') ?? '';
      const words = clientWords(base);
      const description = buildDocument(base === '' ? './' : base, operations);
      const limiter = new Limiter();
      const limits = createLimits({ redis, perMinute, metrics });
      const shared = {
        limits,
        cursors: createCursors(config.cursorKeys),
        outputs: new OutputPool(),
        unsent: new UnsentAnswers(),
        draining,
        base,
        compresses: config.compressData,
      };
      const contexts = mapOf(feeds, (feed): ChangesContext => ({ ...shared, ...feed }));
      const compile = (operation: Operation, context: ChangesContext): CompiledOperation =>
        compileChanges(operation, context) ?? compileSummary(operation, context) ?? compileOperation(operation, context);
      const version = description.info['x-release'];
      const mcp = createMcp({ operations, base, cursors: shared.cursors, writes: config.mcpWrites, issuer: config.tokenIssuer, limits, draining, version });
      const app = createApi({
        authentication,
        heldCallers,
        strangers,
        limits,
        keyUses,
        limiter,
        noteShed: watchLimiter(limiter, log, metrics),
        operations,
        compile: (operation) =>
          acrossCells(
            mapOf(contexts, (context) => compile(operation, context)),
            async (exchange) => void (exchange.principal = await authentication.renew(exchange.req.headers.authorization as string)),
          ),
        cors: createCors(config.corsOrigins),
        preflights: preflights({ perMinute: config.readsPerMinute, draining }),
        publicPages: publicPages({
          pages: {
            '/': redirect(302, 'docs', 'The documentation is at /docs, for programs at /llms.txt and /openapi.json, and the console at /console.'),
            '/openapi.json': new Document('application/json', JSON.stringify(description, null, 2)),
            ...docsPages(words, config.docsDemoKeyFile),
            ...clientPages(words),
            ...consolePages(consoleSignIn(config), installations()),
            '/.well-known/api-catalog': catalogPage(base),
            ...mcp.pages,
            [SECURITY_TXT]: () => textPage(200, securityTxt(config.securityContact, base)),
            '/healthz': textPage(200, 'ok\n'),
            '/readyz': () => (ready ? textPage(200, 'ready\n') : textPage(503, 'not ready\n')),
          },
          missing: missingPages(),
          perMinute: config.pagesPerMinute,
          draining,
        }),
        mcp: mcp.route,
        requestLog: createRequestLog(log, metrics, history),
        draining,
        trustedProxies: config.trustedProxies,
      });
      const trusted = app.get('trust proxy fn') as TrustsProxy;
      const caps = {
        keepAliveMs: config.keepAliveMs,
        total: config.maxConnections,
        perAddress: config.maxConnectionsPerAddress,
        isProxy: (address: string) => trusted(address, 0),
      };
      return {
        ...createHttpServer(app, caps, metrics),
        setServing(serving) {
          ready = serving;
          draining.active = !serving;
        },
      };
    },
  });
}

function mapOf<K, V, W>(map: ReadonlyMap<K, V>, make: (value: V) => W): Map<K, W> {
  return new Map([...map].map(([key, value]) => [key, make(value)]));
}

function tokenVerifier(config: GatewayConfig): TokenVerifier | undefined {
  const { tokenIssuer: issuer, tokenAudience: audience, tokenJwksUrl: url, tokenJwksFile: file } = config;
  const keys = url !== undefined ? { url } : file !== undefined ? { file } : undefined;
  if (keys === undefined || issuer === undefined || audience === undefined) return undefined;
  return createTokenVerifier({ issuer, audience, keys, maxAgeMs: config.tokenMaxAgeMs });
}
