import { callerSettings, cellSetting, checkTls, grpcSettings } from '@truckroll/grpc';
import { checkMail, mailSettings, type MailConfig } from '@truckroll/mail';
import { checkKafka, kafkaSettings } from '@truckroll/outbox';
import { databaseSettings } from '@truckroll/postgres';
import { baseSettings, env, readConfig, type Config } from '@truckroll/process';
import { redisSetting } from '@truckroll/redis';
import { checkAllowedTargets, parseDeniedTargets } from '@truckroll/webhook-targets';

const own = {
  ...baseSettings(50054),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
  /** Redis of the gateways and integrations, for limits, cached identities and revocations: one server, a cluster or Sentinels. */
  redis: redisSetting('REDIS_URL'),
  ...kafkaSettings(),
  /** Name of this cell, where several cells share their gateways ([Growing](../how-to/growing.md)); the same for integrations and, for the cell of its addresses, the gateway. */
  cell: cellSetting('CELL'),
  /** Keys of webhook signing secrets at rest: the first encrypts them, all decrypt them. */
  webhookSecretKeys: env.keyRing('WEBHOOK_SECRET_KEYS'),
  /** Exact `address:port` pairs that may receive webhooks although they are private, and over http. The same for both components. */
  webhookAllowedTargets: env.list('WEBHOOK_ALLOWED_TARGETS', []),
  /** Addresses and CIDR ranges that receive no webhooks, even if they are allowed targets. The same for both components. */
  webhookDeniedTargets: env.list('WEBHOOK_DENIED_TARGETS', []),
  /** Whether webhooks may go to public hosts over http. The same for both components. */
  webhookAllowHttp: env.boolean('WEBHOOK_ALLOW_HTTP', false),
};

/** @public The generator of docs/reference/configuration.md reads it. */
export const settings = { ...own, ...mailSettings };

export type IntegrationsConfig = Config<typeof own> & MailConfig;

/** Throws a ConfigError that lists the missing and invalid settings. */
export function integrationsConfig(environment: Readonly<Record<string, string | undefined>>): IntegrationsConfig {
  return readConfig(settings, environment, [
    checkTls,
    checkKafka,
    checkMail,
    ({ webhookAllowedTargets = [] }) => checkAllowedTargets(webhookAllowedTargets),
    ({ webhookDeniedTargets = [] }) => parseDeniedTargets(webhookDeniedTargets),
  ]);
}
