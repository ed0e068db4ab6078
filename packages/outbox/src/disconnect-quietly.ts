/** Disconnects a Kafka client; clients of createKafka take at most 5 s. Never rejects. */
export async function disconnectQuietly(client: { disconnect(): Promise<void> } | undefined): Promise<void> {
  await client?.disconnect().catch(() => undefined);
}
