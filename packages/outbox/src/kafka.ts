import { createSecureContext } from 'node:tls';
import { ConfigError, env, type Config } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { logLevel, type Kafka, type KafkaConfig } from 'kafkajs';
import { createClient } from './driver/kafka-client.ts';
import { repairKafkajs } from './driver/kafkajs-repairs.ts';

/** Connection settings of Kafka. Spread them into a service's settings. */
export function kafkaSettings() {
  return {
    /** Brokers of Kafka, as `host:port` without a scheme; the others are discovered. */
    kafkaBrokers: env.addresses('KAFKA_BROKERS'),
    /** Whether to connect to the brokers by TLS. */
    kafkaTls: env.boolean('KAFKA_TLS', false),
    /** PEM certificate by which the component authenticates to the brokers, with `KAFKA_TLS`. Read at start. */
    kafkaCertificate: env.optionalSecret('KAFKA_TLS_CERTIFICATE'),
    /** PEM private key of that certificate. Read at start. */
    kafkaKey: env.optionalSecret('KAFKA_TLS_KEY'),
    /** How to authenticate to the brokers by user and password. */
    kafkaMechanism: env.oneOf('KAFKA_SASL_MECHANISM', ['none', 'plain', 'scram-sha-256', 'scram-sha-512'], 'none'),
    /** User for SASL. */
    kafkaUsername: env.string('KAFKA_USERNAME', ''),
    /** Password for SASL. */
    kafkaPassword: env.secret('KAFKA_PASSWORD', ''),
    /** Prefix of topic and group names, for installations that share a cluster. */
    kafkaPrefix: env.string('KAFKA_PREFIX', ''),
  };
}

type KafkaConfiguration = Config<ReturnType<typeof kafkaSettings>>;
export type KafkaOptions = Pick<KafkaConfiguration, 'kafkaBrokers'> & Partial<KafkaConfiguration>;

/** Reports at start what would otherwise only show as failing connections. Throws ConfigError. */
export function checkKafka({ kafkaTls, kafkaCertificate: cert, kafkaKey: key }: Partial<KafkaConfiguration>): void {
  if ((cert === undefined) !== (key === undefined)) throw new ConfigError('KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY go together: set both or none');
  if (cert === undefined || key === undefined) return;
  if (kafkaTls === false) throw new ConfigError('KAFKA_TLS_CERTIFICATE needs a connection by TLS: set KAFKA_TLS to true');
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(`KAFKA_TLS_CERTIFICATE or KAFKA_TLS_KEY cannot be used: ${(error as Error).message}`);
  }
}

/** Creates clients that share settings but no connection. A client that has disconnected cannot connect again. */
export type KafkaClient = Pick<Kafka, 'admin' | 'consumer' | 'producer'> & {
  /** Prefix of topic and group names in Kafka. Names in code and tables do not have it. */
  readonly prefix: string;
};

/** Opens no connection. Callers must retry: kafkajs gives up after about a second. */
export function createKafka(name: string, options: KafkaOptions, log: Logger): KafkaClient {
  repairKafkajs();
  const { kafkaCertificate: cert, kafkaKey: key } = options;
  const { kafkaMechanism: mechanism = 'none', kafkaUsername: username = '', kafkaPassword: password = '' } = options;
  const config: KafkaConfig & { brokers: string[] } = {
    clientId: `truckroll-${name}`,
    brokers: [...options.kafkaBrokers],
    ssl: cert !== undefined && key !== undefined ? { cert, key } : (options.kafkaTls ?? false),
    connectionTimeout: 3000,
    requestTimeout: 20_000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 3 },
    logLevel: logLevel.WARN,
    // At debug level, because kafkajs logs every retry as an error. Callers log the failures that matter.
    logCreator:
      () =>
      ({ namespace, level, log: { message, error } }) => {
        log.debug({ kafka: namespace, level, reason: error as unknown }, message);
      },
  };
  if (mechanism !== 'none') config.sasl = { mechanism, username, password } as NonNullable<KafkaConfig['sasl']>;
  return {
    prefix: options.kafkaPrefix ?? '',
    admin: (of) => createClient(config, (kafka) => kafka.admin(of)),
    consumer: (of) => createClient(config, (kafka) => kafka.consumer(of)),
    producer: (of) => createClient(config, (kafka) => kafka.producer(of)),
  };
}
