export { RedisLink } from './redis-link.ts';
export { parseRedisUrl, redisSetting, type RedisServers } from './servers.ts';
