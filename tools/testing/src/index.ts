export { freshDatabase, openFreshDatabase, type TestDatabase } from './database.ts';
export { startMailServer, type MailServer } from './mail-server.ts';
export { openProxy, type TcpProxy } from './tcp-proxy.ts';
