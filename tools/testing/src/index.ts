export { freshDatabase, type Schemas, type TestDatabase } from './database.ts';
export { startMailServer, type MailBehaviour, type MailServer } from './mail-server.ts';
export { openProxy, type TcpProxy } from './tcp-proxy.ts';
