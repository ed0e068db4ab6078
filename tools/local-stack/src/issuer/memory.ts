import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Stored items at most; the oldest is dropped first. A developer needs a handful. */
const MOST = 1000;

/** Keeps sign-ins in memory: a restart of `npm start` signs everybody out of the issuer. */
export class Memory {
  readonly #items = new Map<string, { payload: AdapterPayload; endsAt: number }>();

  adapter(kind: string): Adapter {
    const keyOf = (id: string): string => `${kind} ${id}`;
    const live = (key: string): AdapterPayload | undefined => {
      const item = this.#items.get(key);
      return item !== undefined && item.endsAt > Date.now() ? item.payload : undefined;
    };
    const findBy = (name: 'uid' | 'userCode', wanted: string): AdapterPayload | undefined => {
      const key = this.#keys(kind).find((each) => live(each)?.[name] === wanted);
      return key === undefined ? undefined : live(key);
    };
    return {
      upsert: async (id, payload, expiresIn = Infinity) => {
        this.#items.delete(keyOf(id));
        this.#items.set(keyOf(id), { payload, endsAt: Date.now() + expiresIn * 1000 });
        for (const oldest of [...this.#items.keys()].slice(0, Math.max(0, this.#items.size - MOST))) this.#items.delete(oldest);
      },
      find: async (id) => live(keyOf(id)),
      findByUid: async (uid) => findBy('uid', uid),
      findByUserCode: async (code) => findBy('userCode', code),
      consume: async (id) => {
        const payload = live(keyOf(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void this.#items.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const key of this.#keys(kind)) if (live(key)?.grantId === grantId) this.#items.delete(key);
      },
    };
  }

  #keys(kind: string): string[] {
    return [...this.#items.keys()].filter((key) => key.startsWith(`${kind} `));
  }
}
