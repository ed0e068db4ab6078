// Content of a cursor of the feed: what its reader has read of each service.
import type { Owner } from '@truckroll/contract';
import { FeedState, type ChangePosition, type KindsState } from '@truckroll/contract/gen/records/v1/changes';

export interface OwnerProgress {
  readonly epoch: number;
  /** By kind. */
  readonly positions: ReadonlyMap<string, ChangePosition>;
}

export type FeedProgress = ReadonlyMap<Owner, OwnerProgress>;

export function decodeProgress(bytes: Uint8Array): Map<Owner, OwnerProgress> {
  return new Map(
    FeedState.decode(bytes).owners.map(({ owner, epoch, groups }) => {
      const positions = groups.flatMap(({ kinds, ...position }) => kinds.map((kind): [string, ChangePosition] => [kind, { ...position, kind }]));
      return [owner as Owner, { epoch, positions: new Map(positions) }];
    }),
  );
}

export function encodeProgress(progress: FeedProgress): Uint8Array {
  const owners = [...progress].map(([owner, { epoch, positions }]) => {
    const groups = new Map<string, KindsState>();
    for (const { kind, ...position } of positions.values()) {
      const same = JSON.stringify(position);
      const group = groups.get(same);
      if (group === undefined) groups.set(same, { ...position, kinds: [kind] });
      else group.kinds.push(kind);
    }
    return { owner, epoch, groups: [...groups.values()] };
  });
  return FeedState.encode({ owners }).finish();
}
