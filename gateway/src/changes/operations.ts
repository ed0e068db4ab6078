// The operations of the change feed, which the gateway composes itself: list, with polls that wait, and digest (decisions §14).
import { ApiError, JsonWriter, changeKinds, formatInstant, type ErrorDetail, type JsonBuffer, type Operation } from '@truckroll/contract';
import { LRUCache } from 'lru-cache';
import { Baseline } from '../admission/limiter.ts';
import { sendSmall } from '../http/data.ts';
import { JSON_TYPE, send, type Headers } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { LimitClass } from '../auth/limits.ts';
import { inputsOf } from '../routes/inputs.ts';
import type { CompiledOperation, Held, OperationContext } from '../routes/operation.ts';
import { compileQuery, type Query } from '../routes/query.ts';
import { decodeProgress, encodeProgress } from './feed-state.ts';
import { MOST_BYTES, byOwner, cutPage, feedClients, nextEmptyPage, readDigest, readPage, type FeedClients, type FeedPage } from './feed.ts';
import type { HeldPolls } from './held-polls.ts';

/** Maximum empty pages to remember, and for how long in ms: a client repeats its poll at once, and needs no read for it. */
const EMPTY_PAGES = 10_000;
const EMPTY_PAGE_MS = 5000;
const NOW = 'now';
/** Both operations take the same cursors. */
const SCOPE = 'ListChanges';
const BUCKETS = [1, 256];
const ALL_KINDS: ReadonlySet<string> = new Set(changeKinds.map(({ kind }) => kind));
const SHAPES = new Map(changeKinds.map(({ kind, record }) => [kind, record]));

const LIMIT_CLASSES: Readonly<Record<string, LimitClass>> = { ListChanges: 'changes', GetChangesDigest: 'digests' };

export interface ChangesContext extends OperationContext {
  polls: HeldPolls;
}

/** The handler of an operation of the feed; undefined for other operations. */
export function compileChanges(operation: Operation, context: ChangesContext): CompiledOperation | undefined {
  const limitClass = LIMIT_CLASSES[operation.name];
  if (limitClass === undefined) return undefined;
  const parse = compileQuery(inputsOf(operation));
  const clients = feedClients(context.services.channels);
  const fixed: Headers = context.compresses ? ['Vary', 'Accept-Encoding'] : [];
  const read = operation.name === 'ListChanges' ? list(operation, context, clients, fixed) : digest(operation, context, clients, fixed);
  return {
    operation,
    limitClass,
    baseline: new Baseline(),
    headers: fixed,
    checkAccess: () => undefined,
    handle: (exchange) => read(exchange, parse(exchange.query)),
  };
}

type Read = (exchange: Exchange, query: Query) => Promise<Held | void>;

interface Asked {
  kinds: ReadonlySet<string>;
  cursor: string | undefined;
  values: ReadonlyMap<string, unknown>;
}

function valuesOf({ values }: Query): Asked {
  const named = new Map<string, unknown>([...values].map(([{ name }, value]) => [name, value]));
  const kinds = named.get('kinds') as string[] | undefined;
  return { kinds: kinds === undefined ? ALL_KINDS : new Set(kinds), cursor: named.get('cursor') as string | undefined, values: named };
}

/** Decodes a cursor. Errors: 400 that names the cursor and everything else that is wrong. */
function open(context: OperationContext, { principal }: Exchange, cursor: string | undefined, problems: ErrorDetail[]) {
  const scope = { companyId: principal!.company_id, operation: SCOPE, filters: '' };
  const position = cursor === undefined || cursor === NOW ? new Uint8Array() : context.cursors.open(scope, cursor);
  if (position === undefined) {
    const message = 'Give nextCursor of an earlier answer of this company unchanged, or leave it out to begin anew.';
    if (problems.length === 0) throw new ApiError('INVALID_CURSOR', `The cursor is not one of this feed. ${message}`);
    problems.push({ location: 'query', field: 'cursor', code: 'INVALID_CURSOR', message });
  }
  if (problems.length > 0) throw ApiError.invalid(problems);
  return decodeProgress(position as Uint8Array);
}

function list(_: Operation, context: ChangesContext, clients: FeedClients, fixed: Headers): Read {
  const emptyPages = new LRUCache<string, FeedPage>({ max: EMPTY_PAGES, ttl: EMPTY_PAGE_MS });
  return async (exchange, query) => {
    const { kinds, cursor, values } = valuesOf(query);
    const progress = open(context, exchange, cursor, query.problems);
    const limit = values.get('limit') as number;
    // From the arrival of the request, so that one that begins again in another cell waits no longer.
    const until = exchange.startedAt + (values.get('wait') as number) * 1000;
    const principal = exchange.principal!;
    context.unsent.check(principal.company_id);
    const gone = new AbortController();
    // Without a reason, each request would make an error with a stack.
    exchange.res.once('close', () => gone.abort('closed'));
    const reply = async (read: FeedPage): Promise<void> => {
      context.unsent.check(principal.company_id);
      const out = context.outputs.take();
      const page = writeChanges(read, out);
      const nextCursor = sealed(context, exchange, page);
      if (page.changes.length === 0 && !page.more) emptyPages.set(keyOf(kinds, nextCursor), page);
      out.ascii(`],"nextCursor":"${nextCursor}","hasMore":${page.more},"asOf":"${formatInstant(page.asOf)}"}`);
      exchange.res.once('finish', () => context.outputs.giveBack(out));
      await (context.compresses ? sendSmall : send)(exchange, 200, out.view(), JSON_TYPE, fixed, context.draining);
      context.unsent.note(exchange);
    };
    const hold = async (page: FeedPage): Promise<Held | undefined> => {
      const awaited = [...byOwner(kinds)].map(([owner, own]) => {
        const positions = page.progress.get(owner)!.positions;
        return { owner, kinds: own, version: Math.min(...own.map((kind) => positions.get(kind)!.version)) };
      });
      const held = await context.polls.hold(principal.company_id, awaited, until - performance.now(), gone.signal);
      const over = held?.over.then((unchanged) => unchanged && (() => reply(nextEmptyPage(page, kinds, unchanged))));
      return over && { over, again: () => read(page.progress, false) };
    };
    const read = async (from: typeof progress, skip: boolean): Promise<Held | void> => {
      const page = await readPage({ clients, principal, kinds, progress: from }, limit, skip);
      // A client that has left gets no answer, and its poll no slot.
      if (gone.signal.aborted) return;
      return (page.changes.length === 0 && !page.more && (await hold(page))) || reply(page);
    };
    // The services report changes after this page while the poll is held, so it need not be read again.
    const page = cursor === undefined ? undefined : emptyPages.get(keyOf(kinds, cursor));
    return (page && (await hold(page))) ?? read(progress, cursor === NOW);
  };
}

const writer = new JsonWriter('snake');

const keyOf = (kinds: ReadonlySet<string>, cursor: string): string => [...kinds, cursor].join(' ');

function sealed({ cursors }: OperationContext, { principal }: Exchange, { progress }: FeedPage): string {
  return cursors.seal({ companyId: principal!.company_id, operation: SCOPE, filters: '' }, encodeProgress(progress));
}

/** Writes the changes up to the byte limit. Returns the page of these changes. */
function writeChanges(page: FeedPage, out: JsonBuffer): FeedPage {
  out.ascii('{"data":[');
  for (const [index, { kind, id, version, changed_at, record }] of page.changes.entries()) {
    const end = out.length;
    const change = record == null ? 'DELETED' : 'UPSERTED';
    out.ascii(
      `${index === 0 ? '' : ','}{"kind":"${kind}","id":"${id}","change":"${change}","changedAt":"${formatInstant(changed_at)}","version":"${version}","record":`,
    );
    if (record == null) out.ascii('null');
    else writer.write(SHAPES.get(kind)!, record, 0, record.length, out);
    out.ascii('}');
    if (out.length <= MOST_BYTES || index === 0) continue;
    const cut = cutPage(page, index);
    if (cut === undefined) continue;
    out.length = end;
    return cut;
  }
  return page;
}

function digest(_: Operation, context: ChangesContext, clients: FeedClients, fixed: Headers): Read {
  return async (exchange, query) => {
    const { kinds, cursor, values } = valuesOf(query);
    const buckets = values.get('buckets') as number;
    if (!BUCKETS.includes(buckets)) query.problems.push({ location: 'query', field: 'buckets', code: 'OUT_OF_RANGE', message: 'Give 1 or 256.' });
    const progress = open(context, exchange, cursor, query.problems);
    const { digests, asOf } = await readDigest({ clients, principal: exchange.principal!, kinds, progress }, buckets === 256);
    const data = digests.map(({ kind, bucket, count, digest: sum, changed_since: changedSince }) => ({ kind, bucket, count, digest: sum, changedSince }));
    const body = Buffer.from(JSON.stringify({ data, asOf: formatInstant(asOf) }));
    await (context.compresses ? sendSmall : send)(exchange, 200, body, JSON_TYPE, fixed, context.draining);
  };
}
