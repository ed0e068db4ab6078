// Two companies and their integrators' endpoints: fast ones, a slow one, and one that sometimes refuses.
import type { TestCompany } from '../../support/company.ts';
import type { Running } from '../system/prepared.ts';
import type { Endpoint } from './check.ts';
import type { Manner, Receiver } from './receiver.ts';

const TYPES = ['service_request.created', 'service_request.status_changed', 'service_request.booked', 'interaction.completed'] as const;
const [CREATED, CHANGED, BOOKED] = TYPES;

const prompt: Manner = () => ({ status: 204, afterMs: 0 });
const slow: Manner = (eventId) => ({ status: 204, afterMs: 20 + (number(eventId) % 100) });
/** Rare enough that the circuit stays closed. Refuses an event only once, because the second retry comes minutes later. */
const refusing: Manner = (eventId, time) => ({ status: time === 1 && number(eventId) % 25 === 0 ? 500 : 200, afterMs: 0 });

const number = (eventId: string): number => parseInt(eventId.slice(0, 6), 16);

const KINDS: readonly { readonly name: string; readonly company: 0 | 1; readonly eventTypes: readonly string[]; readonly manner: Manner }[] = [
  { name: 'prompt', company: 0, eventTypes: TYPES, manner: prompt },
  { name: 'slow', company: 0, eventTypes: [CREATED, BOOKED], manner: slow },
  { name: 'also-prompt', company: 1, eventTypes: TYPES, manner: prompt },
  { name: 'refusing', company: 1, eventTypes: [CHANGED, BOOKED], manner: refusing },
];

/** Deliveries per story of six events, averaged: eight at the first company's endpoints and ten at the second's. */
export const DELIVERIES_OF_STORY = 9;

export async function makeEndpoints(
  { baseUrl, issuer }: Running,
  companies: readonly [TestCompany, TestCompany],
  receiver: Receiver,
  run: string,
): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const { name: kind, company: of, eventTypes, manner } of KINDS) {
    const company = companies[of];
    const name = `${run}-${kind}`;
    const response = await fetch(`${baseUrl}/api/v1/integrations/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${issuer.token(company)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, url: receiver.url(name), eventTypes }),
    });
    if (!response.ok) throw new Error(`an endpoint was refused: ${await response.text()}`);
    const { data } = (await response.json()) as { data: { signingSecret: string } };
    receiver.expect(name, data.signingSecret, manner);
    endpoints.push({ name, companyId: company.id, eventTypes });
  }
  return endpoints;
}
