export function packagesSbom(of: { pnpm: string; source: string; createdAt: string; component: object; member: string }): object;
