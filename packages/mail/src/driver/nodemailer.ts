// Fault: nodemailer offers an address with letters outside ASCII to every server, also to one without SMTPUTF8, and keeps the list of
// a server's extensions to itself. Its connection does not read the URL that its transport takes.
// Upstream: no upstream issue known.
// Ends: when a connection has a list of the extensions of its server, and nodemailer exports its parser of URLs.
import type SMTPConnection from 'nodemailer/lib/smtp-connection';

export { parseConnectionUrl } from 'nodemailer/lib/shared';

/** Whether the server that the connection is connected to takes SMTPUTF8 (RFC 6531). */
export function takesUtf8(connection: SMTPConnection): boolean {
  return (connection as unknown as { _supportedExtensions: readonly string[] })._supportedExtensions.includes('SMTPUTF8');
}
