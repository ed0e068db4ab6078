import { codec, resource } from '@truckroll/contract';
import type { Channel } from '@truckroll/grpc';
import { compareReadModel } from '../src/verify/compare.ts';

interface Options {
  requestId?: string;
}

test('compares all pages of a read model under one request id, so that the audit trail gets one entry', async () => {
  const { list, record } = resource('jobs');
  const shape = codec(record.typeName);
  const pages = [1, 2, 3].map((page) => ({
    data: [{ ...(shape.decode(new Uint8Array()) as object), id: `job ${page}` }],
    next: Buffer.from(page < 3 ? 'more' : ''),
  }));
  const answers = pages.map((page) => Buffer.from(codec(list.response.typeName).encode(page).finish()));
  const ids: (string | undefined)[] = [];
  const seen = ({ requestId }: Options = {}): void => void ids.push(requestId);
  const owner = {
    call: async (_path: string, _request: Buffer, options: Options) => {
      seen(options);
      return answers.shift()!;
    },
  };
  const reporting = {
    client: () => ({
      compareCopies: async (_: object, options: Options) => {
        seen(options);
        return { differing_ids: [] };
      },
      listCopyIds: async (_: object, options: Options) => {
        seen(options);
        return { ids: [] };
      },
    }),
  };
  const channels = { owner, reporting } as unknown as { owner: Channel; reporting: Channel };
  expect(await compareReadModel(channels, { id: 'company', timezone: 'America/Chicago' }, 'jobs')).toEqual({ compared: 3, differences: [] });
  expect(ids).toHaveLength(7);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toEqual(expect.any(String));
});
