// The form of identities in Redis: anyone who can read Redis can read them, but they are trusted only with a gateway's MAC.
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { KeyRing } from '@truckroll/process';

/** Seconds for which an identity in Redis is trusted. Limits how long an old one that is put back there can live. */
export const SHARED_SECONDS = 900;

export interface IdentitySeal {
  /** `<epoch> <message in base64> <seconds since 1970, with a fraction> <id of the key> <MAC in base64>` */
  seal(cacheKey: string, epoch: string, principal: Principal): string;
  /** The identity, or undefined if `seal` did not make the text for this key and epoch within SHARED_SECONDS. */
  open(cacheKey: string, epoch: string, text: string): Principal | undefined;
  /** Makes `open` refuse everything that was sealed before this moment. */
  refuseEarlier(): void;
}

/** Seals with the first key of IDENTITY_KEYS and opens with each, so that keys can be exchanged while gateways run. */
export function createIdentitySeal(ring: KeyRing, nowMs: () => number = Date.now): IdentitySeal {
  const macOf = (key: KeyObject, cacheKey: string, signed: string): Buffer => createHmac('sha256', key).update(`${cacheKey}\0${signed}`).digest();

  let refusedBeforeMs = 0;

  return {
    seal(cacheKey, epoch, principal) {
      const message = Buffer.from(Principal.encode(principal).finish()).toString('base64');
      const signed = [epoch, message, nowMs() / 1000, ring.firstId].join(' ');
      return `${signed} ${macOf(ring.first, cacheKey, signed).toString('base64')}`;
    },
    open(cacheKey, epoch, text) {
      const [entryEpoch, message = '', at, id = '', mac = ''] = text.split(' ');
      const key = ring.get(id);
      if (key === undefined || entryEpoch !== epoch) return undefined;
      const expected = macOf(key, cacheKey, [entryEpoch, message, at, id].join(' '));
      const given = Buffer.from(mac, 'base64');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const sealedMs = Math.round(Number(at) * 1000);
      if (sealedMs < refusedBeforeMs || nowMs() - sealedMs > SHARED_SECONDS * 1000) return undefined;
      return Principal.decode(Buffer.from(message, 'base64'));
    },
    refuseEarlier() {
      refusedBeforeMs = nowMs();
    },
  };
}
