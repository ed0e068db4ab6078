import type { Resource } from '@truckroll/contract';
import type { Company } from '../company.ts';
import { hash, stream } from '../random/keyed.ts';
import type { DemoRecord, Records } from '../records.ts';
import { recordedFields } from './kinds.ts';
import { recordMaker } from './maker.ts';
import { Subject } from './subject.ts';

const NOTHING = (_: Subject): object => ({});
const AGES = stream('ages of records');

const RUN = 4;

/**
 * One record for every four jobs, about the first of them with all required references; none if no job has those. `factsOf` sets
 * fields that must agree in ways the shape does not express.
 */
export function unplanned({ path, record: shape }: Pick<Resource, 'path' | 'record'>, factsOf = NOTHING): Records {
  const make = recordMaker(path, shape);
  const required = recordedFields(shape)
    .filter(({ nullable }) => !nullable)
    .map(({ name }) => name);

  function recordOf(company: Company, n: number): readonly [job: number, DemoRecord] | undefined {
    for (let number = n * RUN; number < Math.min((n + 1) * RUN, company.size.jobs); number++) {
      const job = company.jobAt(number);
      const createdAt = job.bookedAt + share(company, n, 0, company.until - job.bookedAt);
      const updatedAt = createdAt + share(company, n, 1, company.until - createdAt);
      const subject = new Subject(company, n, createdAt, updatedAt, job);
      const record = make(subject, factsOf(subject));
      if (required.every((name) => record[name] !== null)) return [number, record];
    }
    return undefined;
  }

  return {
    *all(company) {
      for (let n = 0; n * RUN < company.size.jobs; n++) {
        const made = recordOf(company, n);
        if (made) yield made[1];
      }
    },
    *about(company, job) {
      const made = recordOf(company, Math.floor(job.n / RUN));
      if (made?.[0] === job.n) yield made[1];
    },
  };
}

/** At most a tenth of the span, because most records are created and edited soon. */
function share({ seed }: Company, n: number, which: number, span: number): number {
  return Math.floor((hash(seed, AGES, n, which) / 0x1_0000_0000) * (span / 10));
}
