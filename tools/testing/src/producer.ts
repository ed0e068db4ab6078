/** A busy machine may leave a new topic without a leader for a while: for about 20 s at most. */
const LEADER_RETRIES = { retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 40 } };

/** A connected producer of a kafkajs client, which waits for the leader of a new topic. */
export async function openProducer<P extends { connect(): Promise<void> }>(kafka: { producer(options: typeof LEADER_RETRIES): P }): Promise<P> {
  const producer = kafka.producer(LEADER_RETRIES);
  await producer.connect();
  return producer;
}
