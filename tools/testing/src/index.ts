export { startCollector, type CollectedSpan } from './collector.ts';
export { testCaller, testCallers, testConfig } from './config.ts';
export { freshDatabase, openFreshDatabase, type TestDatabase } from './database.ts';
export { holdingLocks, mustWait, whileOpen, type LockHolder } from './locks.ts';
export { startMailServer, type MailServer } from './mail-server.ts';
export { laterNames } from './names.ts';
export { pinClock, type PinnedClock } from './pinned-clock.ts';
export { StartedRedisServers, redisCli, type RedisServer } from './redis-servers.ts';
export { openProxy, type TcpProxy } from './tcp-proxy.ts';
