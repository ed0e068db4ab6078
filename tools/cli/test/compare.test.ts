import { codec, resource } from '@truckroll/contract';
import type { Channel } from '@truckroll/grpc';
import { compareReadModel } from '../src/verify/compare.ts';

interface Options {
  requestId?: string;
}

/** Compares three pages of jobs with what reporting says about them. Resolves to the result and the request ids of all calls. */
async function compared({ differing = [], copies = [] }: { differing?: string[]; copies?: string[][] } = {}) {
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
        return { differing_ids: differing.splice(0, 1) };
      },
      listCopyIds: async (_: object, options: Options) => {
        seen(options);
        return { ids: copies.shift() ?? [] };
      },
    }),
  };
  const channels = { owner, reporting } as unknown as { owner: Channel; reporting: Channel };
  return { result: await compareReadModel(channels, { id: 'company', timezone: 'America/Chicago' }, 'jobs'), ids };
}

test('compares all pages of a read model under one request id, so that the audit trail gets one entry', async () => {
  const { result, ids } = await compared();
  expect(result).toEqual({ compared: 3, differences: [] });
  expect(ids).toHaveLength(7);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toEqual(expect.any(String));
});

test('lists records that differ on any page, and those of any page of copies that their owner does not have', async () => {
  const copies = [['extra 1', 'job 1'], ['job 2', 'job 3'], ['extra 2']];
  const { result } = await compared({ differing: ['job 1', 'job 2'], copies });
  expect(result.compared).toBe(3);
  expect(result.differences.map(({ company, path, id, reason }) => [company, path, id, reason])).toEqual([
    ['company', 'jobs', 'job 1', 'missing or different'],
    ['company', 'jobs', 'job 2', 'missing or different'],
    ['company', 'jobs', 'extra 1', 'its owner does not have it'],
    ['company', 'jobs', 'extra 2', 'its owner does not have it'],
  ]);
});
