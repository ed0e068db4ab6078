/** A busy machine may leave a new topic without a leader for a while: for about 20 s at most. */
const PATIENT = { retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 40 } };

/** A connected producer of a kafkajs client, which waits for the leader of a new topic. */
export async function openProducer<P extends { connect(): Promise<void> }>(kafka: { producer(options: typeof PATIENT): P }): Promise<P> {
  const producer = kafka.producer(PATIENT);
  await producer.connect();
  return producer;
}
