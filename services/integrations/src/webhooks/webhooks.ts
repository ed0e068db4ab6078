// Management of endpoints under /api/v1 (decisions §7).
import { randomUUID } from 'node:crypto';
import {
  ApiError,
  TEST_EVENT,
  checkExpiry,
  checkExpiryChange,
  checkWebhookState,
  exampleRecord,
  formatInstant,
  now,
  publicEvents,
  refuseBroken,
  type Shape,
} from '@truckroll/contract';
import { DeliveryStatus, type PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type * as wire from '@truckroll/contract/gen/integrations/v1/webhooks';
import { currentRequest } from '@truckroll/telemetry';
import { requireBudget, spending } from '../budgets.ts';
import { selectCompanies } from '../companies/store.ts';
import type { Context } from '../context.ts';
import { callerOf, checked, companyOf } from '../requests.ts';
import { lockActiveUser } from '../users/store.ts';
import { setAlertUsers } from './health/alerts.ts';
import { auditEndpoint } from './endpoints/audit.ts';
import { NO_HEADERS, sealHeaders } from './endpoints/custom-headers.ts';
import { setExpiry } from './endpoints/expiry.ts';
import { endpointProblems } from './endpoints/problems.ts';
import { dayOf, deliveryId } from './log/delivery-id.ts';
import { notifyDue } from './queue/due-notices.ts';
import { endpointState, wantedState } from './endpoints/state.ts';
import { insertEndpoint, lockEndpoint, markDeleted, replaceSecret, requireRoom, selectEndpoint, selectEndpoints, updateEndpoint } from './endpoints/store.ts';
import { asSandbox } from './events/sandbox.ts';
import { eventTypes } from './events/event-types.ts';
import { insertingBodies, insertingDeliveries } from './queue/insert.ts';
import { previewFilter } from './filter/preview.ts';
import { setFilter } from './filter/store.ts';
import { queueSkipped, recover } from './queue/recover.ts';
import { skipQueued } from './queue/skip.ts';
import { newSecret, secretText } from './endpoints/secrets.ts';

/** Time for which the old secret stays valid after a rotation, in microseconds. */
const OVERLAP = 24 * 3_600_000_000;

async function create(context: Context, request: wire.CreateWebhookRequest): Promise<wire.CreateWebhookResponse> {
  const { database, secrets } = context;
  const { company_id: companyId, user_id: userId } = callerOf(request);
  const { name, url, event_types, max_per_second = null, headers: given, filter, alert_emails, expires_at, ...rest } = checked('CreateWebhookRequest', request);
  const parts = { url, event_types, filter, headers: given?.values, alert_emails: alert_emails?.values };
  const id = randomUUID();
  const secret = newSecret();
  return await database.of(companyId).transaction(async (tx) => {
    if (!(await lockActiveUser(tx, companyId, userId))) throw ApiError.notFound('active user');
    refuseBroken([...checkWebhookState(rest), ...checkExpiry(expires_at, now()), ...(await endpointProblems(context, tx, companyId, parts))]);
    await requireRoom(tx, companyId);
    const headers = sealHeaders(secrets, id, given?.values ?? [], NO_HEADERS);
    const eventTypes = [...new Set(event_types)];
    await insertEndpoint(tx, {
      id,
      companyId,
      userId,
      name,
      url,
      eventTypes,
      state: wantedState(rest) ?? 'ENABLED',
      maxPerSecond: max_per_second,
      headers,
      secret: secrets.seal(id, secret),
    });
    await setFilter(tx, companyId, id, filter);
    await setAlertUsers(tx, companyId, id, alert_emails?.values);
    await setExpiry(tx, companyId, id, expires_at);
    const after = await selectEndpoint(tx, companyId, id);
    await auditEndpoint(tx, secrets, request, id, { action: 'webhook.created', after });
    return { data: { ...after, signing_secret: secretText(secret) } };
  });
}

async function list({ database }: Context, request: wire.ListWebhooksRequest): Promise<wire.ListWebhooksResponse> {
  const companyId = companyOf(request);
  return { data: await selectEndpoints(database.of(companyId), companyId) };
}

async function get({ database }: Context, request: wire.GetWebhookRequest): Promise<wire.GetWebhookResponse> {
  const companyId = companyOf(request);
  return { data: await selectEndpoint(database.of(companyId), companyId, request.key?.id ?? '') };
}

async function update(context: Context, request: wire.UpdateWebhookRequest): Promise<wire.UpdateWebhookResponse> {
  const { database, recoveries, secrets } = context;
  const { company_id: companyId } = callerOf(request);
  const {
    id,
    name = null,
    url = null,
    event_types,
    resume_skipped,
    max_per_second = null,
    headers: given,
    filter,
    alert_emails,
    expires_at,
    ...rest
  } = checked('UpdateWebhookRequest', request);
  const types = event_types == null ? null : [...new Set(event_types.values)];
  const parts = { url, event_types: types, filter, headers: given?.values, alert_emails: alert_emails?.values };
  const data = await database.of(companyId).transaction(
    async (tx) => {
      const held = await lockEndpoint(tx, companyId, id);
      const before = await selectEndpoint(tx, companyId, id);
      refuseBroken([
        ...checkWebhookState(request),
        ...checkExpiryChange(expires_at, now()),
        ...(await endpointProblems(context, tx, companyId, parts, { ...before, ...held })),
      ]);
      await setFilter(tx, companyId, id, filter);
      await setAlertUsers(tx, companyId, id, alert_emails?.values);
      await setExpiry(tx, companyId, id, expires_at);
      const state = wantedState(rest, endpointState(held));
      const headers = given == null ? null : sealHeaders(secrets, id, given.values, held);
      await updateEndpoint(tx, companyId, id, { name, url, eventTypes: types, state, maxPerSecond: max_per_second, headers });
      if (held.enabled && state === 'DISABLED') await skipQueued(tx, companyId, id);
      if (state === 'ENABLED' && resume_skipped === true && held.stopped_at !== null) await queueSkipped(tx, companyId, id, held.stopped_at);
      // Deliveries that were held back because of earlier failures are due now.
      if (state === 'ENABLED' || url !== null) notifyDue(tx, id);
      const after = await selectEndpoint(tx, companyId, id);
      await auditEndpoint(tx, secrets, request, id, { action: 'webhook.updated', before, after });
      return after;
    },
    { retryContention: true },
  );
  if (resume_skipped === true) recoveries.look();
  return { data };
}

async function remove({ database, secrets }: Context, request: wire.DeleteWebhookRequest): Promise<wire.DeleteWebhookResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id } = checked('DeleteWebhookRequest', request);
  return await database.of(companyId).transaction(
    async (tx) => {
      await lockEndpoint(tx, companyId, id);
      const data = await selectEndpoint(tx, companyId, id);
      await markDeleted(tx, companyId, id);
      await auditEndpoint(tx, secrets, request, id, { action: 'webhook.deleted', before: data });
      return { data };
    },
    { retryContention: true },
  );
}

async function test({ database, partitions, secrets }: Context, request: wire.TestWebhookRequest): Promise<wire.TestWebhookResponse> {
  const { company_id } = callerOf(request);
  const { id: endpointId, event_type } = checked('TestWebhookRequest', request);
  const made = testEvent(company_id, endpointId, event_type ?? TEST_EVENT);
  const { id, type, timestamp } = made;
  await partitions.ensure([dayOf(timestamp)]);
  await database.of(company_id).transaction(async (tx) => {
    await lockEndpoint(tx, company_id, endpointId);
    await requireBudget(tx, company_id, 'tests');
    const [company] = await selectCompanies(tx, company_id);
    const event = company?.sandbox === true ? asSandbox(made) : made;
    const spent = spending('tests', new Map([[company_id, event.body.length]]));
    const inserting = [spent, insertingBodies([event]), ...insertingDeliveries([{ event, endpointId, state: 'PENDING', forced: true, test: true }])];
    await Promise.all(inserting.map((statement) => tx.query(statement)));
    notifyDue(tx);
    await auditEndpoint(tx, secrets, request, endpointId, { action: 'webhook.tested', of: { eventId: id, eventType: type } });
  });
  return { data: { id: deliveryId(timestamp, id, endpointId), event_id: id, status: DeliveryStatus.PENDING } };
}

/** An event that never happened, with the example of its type. It is its own subject, so that it does not wait for other events. */
function testEvent(company_id: string, webhook_id: string, type: string): PublicEvent {
  const id = randomUUID();
  const timestamp = now();
  const shape = publicEvents.find((each) => each.type === type)?.body as Shape;
  const example = exampleRecord(shape, 'snake');
  const data =
    type === TEST_EVENT ? { webhook_id, message: 'A test: the endpoint receives what Truckroll sends.' } : { ...(example['data'] as object), test: true };
  const body = Buffer.from(JSON.stringify({ id, type, timestamp: formatInstant(timestamp), company_id, sequence: 1, data }));
  const { requestId: request_id, traceparent } = currentRequest() ?? {};
  return { id, type, company_id, subject: id, sequence: 1, timestamp, body, request_id, traceparent };
}

async function rotateSecret({ database, secrets }: Context, request: wire.RotateWebhookSecretRequest): Promise<wire.RotateWebhookSecretResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id } = checked('RotateWebhookSecretRequest', request);
  const secret = newSecret();
  return await database.of(companyId).transaction(async (tx) => {
    await lockEndpoint(tx, companyId, id);
    const before = await selectEndpoint(tx, companyId, id);
    await replaceSecret(tx, companyId, id, secrets.seal(id, secret), now() + OVERLAP);
    const after = await selectEndpoint(tx, companyId, id);
    await auditEndpoint(tx, secrets, request, id, { action: 'webhook.secret_rotated', before, after });
    return { data: { ...after, signing_secret: secretText(secret) } };
  });
}

async function listEventTypes(_: Context, request: wire.ListWebhookEventTypesRequest): Promise<wire.ListWebhookEventTypesResponse> {
  companyOf(request);
  return { data: [...eventTypes] };
}

/** Finds what creation or a change would refuse. */
async function check(context: Context, request: wire.CheckWebhookRequest): Promise<wire.CheckWebhookResponse> {
  const { company_id: companyId } = callerOf(request);
  const { id, event_types: types, headers, alert_emails: emails, ...rest } = request;
  const parts = { ...rest, event_types: types?.values, headers: headers?.values, alert_emails: emails?.values };
  const problems = await context.database.of(companyId).transaction(async (tx) => {
    const present = id == null ? undefined : { ...(await selectEndpoint(tx, companyId, id)), ...(await lockEndpoint(tx, companyId, id)) };
    return await endpointProblems(context, tx, companyId, parts, present);
  });
  return { problems };
}

export const webhooks = {
  createWebhook: create,
  listWebhooks: list,
  getWebhook: get,
  updateWebhook: update,
  deleteWebhook: remove,
  testWebhook: test,
  rotateWebhookSecret: rotateSecret,
  recoverWebhook: recover,
  previewWebhookFilter: previewFilter,
  listWebhookEventTypes: listEventTypes,
  checkWebhook: check,
};
