export { freshDatabase, type Schemas, type TestDatabase } from './database.ts';
export { openProxy, type TcpProxy } from './tcp-proxy.ts';
