// Imports lines on a schedule while k6 runs, and times the acknowledgement of each batch.
import { setTimeout as delay } from 'node:timers/promises';
import { resource } from '@truckroll/contract';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import { generateCompany, type DemoRecord } from '@truckroll/demo-company';
import { batches } from '../data/baseline.ts';
import type { Channels } from '../data/import.ts';

const BATCH = 50;
const PER_SECOND = 200;

export interface Imported {
  /** Records a second. */
  readonly asked: number;
  readonly reached: number;
  /** Milliseconds from when a batch was due to its acknowledgement. */
  readonly p50: number;
  readonly p99: number;
}

/** Starts at once. `stop` resolves when everything sent is acknowledged. Each run imports new records. */
export function startImports(channels: Channels, companyId: string): { stop(): Promise<Imported> } {
  const startedAt = performance.now();
  const waits: number[] = [];
  const due: number[] = [];
  let sent = 0;
  let stopped = false;
  let lines = 0;

  async function* paced(path: string, records: Iterable<DemoRecord>) {
    let first = 1;
    for (const batch of batches(records, BATCH)) {
      const dueAt = startedAt + (sent++ * BATCH * 1000) / PER_SECOND;
      await delay(Math.max(0, dueAt - performance.now()));
      if (stopped) return;
      due.push(dueAt);
      yield { company_id: companyId, path, lines: batch.map((record) => Buffer.from(JSON.stringify(record))), first_line: first };
      first += batch.length;
    }
  }

  async function run(): Promise<void> {
    for (let seed = Math.floor(Date.now() / 1000) >>> 0; !stopped; seed++) {
      for (const { path, records } of generateCompany({ seed, size: 'small', timezone: 'America/Chicago', until: '2026-06-30T18:00:00Z' })) {
        const channel = channels[resource(path).owner];
        if (stopped || channel === undefined || resource(path).owner === 'integrations') continue;
        for await (const answer of channel.client(ImportServiceService).import(paced(path, records))) {
          const [problem] = answer.problems;
          if (problem !== undefined) throw new Error(`${path}.ndjson:${problem.line} ${problem.field}: ${problem.message}`);
          lines += answer.lines;
          waits.push(performance.now() - (due.shift() ?? NaN));
        }
      }
    }
  }

  const running = run();
  running.catch(() => undefined);
  return {
    async stop() {
      stopped = true;
      await running;
      const seconds = (performance.now() - startedAt) / 1000;
      const sorted = waits.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
      return { asked: PER_SECOND, reached: lines / seconds, p50: at(0.5), p99: at(0.99) };
    },
  };
}
