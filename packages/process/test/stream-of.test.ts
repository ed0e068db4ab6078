import { streamOf } from '../src/index.ts';

async function read(stream: AsyncIterable<number>, seen: number[]): Promise<void> {
  for await (const item of stream) seen.push(item);
}

test('streams what the work emits, and ends with it', async () => {
  const next = Promise.withResolvers<void>();
  const seen: number[] = [];
  const stream = streamOf<number>(async (emit) => {
    emit(1);
    emit(2);
    await next.promise;
    emit(3);
  });
  for await (const item of stream) if (seen.push(item) === 2) next.resolve();
  expect(seen).toEqual([1, 2, 3]);
});

test('throws the error of the work after everything that it has emitted', async () => {
  const seen: number[] = [];
  const stream = streamOf<number>(async (emit) => {
    emit(1);
    emit(2);
    throw new Error('no more');
  });
  await expect(read(stream, seen)).rejects.toThrow('no more');
  expect(seen).toEqual([1, 2]);
});

test('lets the work go on, and fail, after the reader has left', async () => {
  const left = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  const stream = streamOf<number>(async (emit) => {
    emit(1);
    await left.promise;
    emit(2);
    failed.resolve();
    throw new Error('unread');
  });
  for await (const item of stream) {
    expect(item).toBe(1);
    break;
  }
  left.resolve();
  await failed.promise;
});
