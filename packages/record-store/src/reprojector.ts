// Reprojects rows that older rules wrote: at start, while an older replica may be writing, and when an operator requests it.
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@truckroll/contract';
import type { ProjectionServiceService, RefusedRecord, ReprojectResponse } from '@truckroll/contract/gen/records/v1/projections';
import type { Handlers } from '@truckroll/grpc';
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause, streamOf, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { behind, countBehind, laterRelease, mayProject, type Projected } from './projection.ts';

export interface ReprojectOptions {
  readonly signal: AbortSignal;
  renewed(rows: number): void;
  /** Called for a row that the current rules cannot project: it stays unchanged, and gates that depend on it stay closed. */
  refused(row: RefusedRecord): void;
  /** In the background, pauses for as long as the given work took, to leave CPU and database to other work. */
  rest(milliseconds: number): Promise<void>;
}

export interface Projection extends Projected {
  /** Skips rows that are up to date. Can be aborted and restarted at any time. */
  renew(work: ReprojectOptions): Promise<void>;
}

export interface ReprojectorOptions {
  database: Database;
  projections: readonly Projection[];
  log: Logger;
  metrics: Metrics;
  /** Called after rows were renewed: the outbox relay's poke. */
  poke?: () => void;
}

interface RenewOptions {
  readonly signal: AbortSignal;
  readonly rests: boolean;
  readonly progress?: (step: ReprojectResponse) => void;
}

const EVERY_MS = 5000;
/** Rest after a search, in multiples of its duration: with very many companies, searching takes at most 1 % of the time. */
const LOOK_SHARE = 100;
const MOST_COUNTED = 10_000_000;
/** Most refused records that a response names. */
const MOST_REFUSED = 100;

export class Reprojector implements BackgroundPart {
  readonly name = 'projections';
  readonly #options: ReprojectorOptions;
  readonly #stopping = new AbortController();
  readonly #looks = new PeriodicTask(
    EVERY_MS,
    (signal) => this.#look(signal),
    (error, failures) => logOutage(this.#options.log, 'records written by older rules cannot be reprojected', failures, error),
  );
  readonly #behind;
  readonly #renewed;
  readonly #refused;

  constructor(options: ReprojectorOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#behind = metrics.gauge('projection_rows_behind', 'Rows that an older version of their rules wrote', ['path']);
    this.#renewed = metrics.counter('projection_rows_renewed_total', 'Rows that were projected anew', ['path']);
    this.#refused = metrics.counter('projection_rows_refused_total', 'Rows that could not be projected anew', ['path']);
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service is stopping'));
    await this.#looks.stop();
  }

  handlers(): Handlers<typeof ProjectionServiceService> {
    return { reproject: ({ path }, { signal }) => streamOf((emit) => this.run(path, signal, emit)) };
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { database, projections } = this.#options;
    const lookedAt = performance.now();
    if ((await mayProject(database, projections)) !== 'yes') return;
    const older = await behind(database, projections);
    for (const projection of projections) if (!older.includes(projection)) this.#behind.set({ path: projection.path }, 0);
    const tookMs = performance.now() - lookedAt;
    if (older.length > 0) await this.#renewAll(older, signal);
    await pause(tookMs * LOOK_SHARE, signal);
  }

  /** Returns at once if another replica is working. */
  async #renewAll(older: readonly Projection[], signal: AbortSignal): Promise<void> {
    const { database, log } = this.#options;
    const session = await database.session();
    try {
      const { rows } = await session.query<{ mine: boolean }>({
        text: `select pg_try_advisory_lock(hashtextextended('projections of ' || current_schema(), 0)) as mine`,
      });
      if (rows[0]?.mine !== true) return;
      for (const projection of older) {
        const { renewed, refused } = await this.#renew(projection, { signal, rests: true });
        if (renewed > 0) log.info({ path: projection.path, version: projection.version, rows: renewed }, 'reprojected records that older rules had written');
        if (refused.length > 0)
          log.warn({ path: projection.path, count: refused.length, first: refused[0] }, 'some records cannot be projected by the current rules');
      }
    } finally {
      await session.close();
    }
  }

  /**
   * Reprojects outdated rows of one path, or of all if it is empty, at full speed, until the signal aborts. Errors: 400 for a path that this
   * service does not have, 503 while a later release is active or this one has just begun.
   */
  async run(path: string, signal: AbortSignal, progress: (step: ReprojectResponse) => void): Promise<void> {
    const { database, projections } = this.#options;
    const chosen = projections.filter((projection) => path === '' || projection.path === path);
    if (chosen.length === 0) {
      const message = `This service projects ${projections.map((projection) => projection.path).join(', ')}.`;
      throw ApiError.invalid([{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message }]);
    }
    const may = await mayProject(database, projections);
    if (may === 'older') throw laterRelease();
    if (may === 'soon') {
      const message = 'This release has just begun: try again in a moment.';
      throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 5 });
    }
    const both = AbortSignal.any([signal, this.#stopping.signal]);
    for (const projection of chosen) {
      const step = await this.#renew(projection, { signal: both, rests: false, progress });
      progress({ ...step, refused: step.refused.slice(0, MOST_REFUSED), done: true });
    }
  }

  async #renew(projection: Projection, { signal, rests, progress }: RenewOptions): Promise<ReprojectResponse> {
    const { database, poke } = this.#options;
    const { path } = projection;
    const step: ReprojectResponse = { path, renewed: 0, behind: await countBehind(database, projection, undefined, MOST_COUNTED), refused: [], done: false };
    this.#behind.set({ path }, step.behind);
    if (step.behind === 0) return step;
    await projection.renew({
      signal,
      renewed: (rows) => {
        step.renewed += rows;
        step.behind = Math.max(step.refused.length, step.behind - rows);
        this.#renewed.inc({ path }, rows);
        this.#behind.set({ path }, step.behind);
        if (rows > 0) poke?.();
        progress?.({ ...step, refused: [] });
      },
      refused: (row) => {
        step.refused.push(row);
        this.#refused.inc({ path });
      },
      rest: async (milliseconds) => {
        if (rests) await delay(milliseconds, undefined, { signal });
      },
    });
    step.behind = await countBehind(database, projection, undefined, MOST_COUNTED);
    this.#behind.set({ path }, step.behind);
    return step;
  }
}
