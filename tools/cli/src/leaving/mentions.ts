// Lists texts of other records that still name an erased person (decisions §19), so that the operator can have them corrected.
import type { Owner } from '@truckroll/contract';
import { ErasureServiceService, type Mention } from '@truckroll/contract/gen/records/v1/erasures';
import { table } from '@truckroll/integrator-cli/terminal/table';
import type { Session } from '../session.ts';
import { askAll } from './services.ts';

/** Mentions that are printed as text. With --json, all that the services list are. */
const MOST_PRINTED = 50;

interface Found extends Mention {
  readonly service: Owner;
}

export interface Mentions {
  readonly mentions: readonly Found[];
  readonly more_mentions: number;
}

export async function findMentions(session: Session, companyId: string, texts: readonly string[]): Promise<Mentions> {
  session.note('Looking for the person in texts of other records.');
  let more = 0;
  const found = await askAll(session, ErasureServiceService, 'find texts', async (service) => {
    const all: Mention[] = [];
    for await (const answer of service.findMentions({ company_id: companyId, texts: [...texts] }, { signal: session.io.signal })) {
      all.push(...answer.mentions);
      more += answer.more;
    }
    return all;
  });
  return { mentions: [...found].flatMap(([service, all]) => all.map((each): Found => ({ service, ...each }))), more_mentions: more };
}

export function listMentions({ mentions, more_mentions: more }: Mentions): string {
  if (mentions.length === 0) return 'No text of another record names the person.';
  const columns = {
    service: (each: Found) => each.service,
    kind: (each: Found) => each.kind,
    id: (each: Found) => each.id,
    field: (each: Found) => each.field,
  };
  const hidden = Math.max(0, mentions.length - MOST_PRINTED) + more;
  const rest = hidden === 0 ? '' : `\nand ${hidden} more: --json lists up to 1,000 of each service.`;
  return `These texts of other records still name the person. Have them corrected where they were written, then import the records:\n${table(mentions.slice(0, MOST_PRINTED), columns, '')}${rest}`;
}
