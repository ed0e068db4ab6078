// TLS between components, for installations whose network is not to be trusted. Files are read again every minute, so
// that certificates can be renewed without a restart: connections that are made later have the new ones.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ServerCredentials, credentials, experimental, type ChannelCredentials } from '@grpc/grpc-js';
import { CertificateWatcher } from './certificate-files.ts';
import { ConfigError, env, type Config } from './config.ts';

export const tlsSettings = {
  /** Certificate chain of this component in PEM: what it shows to its callers, and to those that it calls. */
  tlsCertFile: env.optional('GRPC_TLS_CERT_FILE'),
  tlsKeyFile: env.optional('GRPC_TLS_KEY_FILE'),
  /** By whose certificates peers are known; with it everything that this component calls must speak TLS. */
  tlsCaFile: env.optional('GRPC_TLS_CA_FILE'),
  /** Whether callers must show a certificate of that authority, beside their credential. */
  tlsClientCertificates: env.boolean('GRPC_TLS_CLIENT_CERTIFICATES', false),
};

/** `tlsRefreshMs`: how often files are read again, for tests. */
export type TlsConfig = Partial<Config<typeof tlsSettings>> & { readonly tlsRefreshMs?: number };

/** What a server shows and asks for; without a certificate of its own it speaks plain HTTP/2. Throws ConfigError. */
export function serverCredentials(config: TlsConfig): ServerCredentials {
  const {
    tlsCertFile: certificateFile,
    tlsKeyFile: privateKeyFile,
    tlsCaFile: caCertificateFile,
    tlsClientCertificates: required = false,
    tlsRefreshMs,
  } = config;
  check(config);
  if (certificateFile === undefined) return ServerCredentials.createInsecure();
  const own = new CertificateWatcher({ certificateFile, privateKeyFile }, tlsRefreshMs);
  if (!required) return experimental.createCertificateProviderServerCredentials(own, null, false);
  if (caCertificateFile === undefined)
    throw new ConfigError('GRPC_TLS_CA_FILE is missing: GRPC_TLS_CLIENT_CERTIFICATES=true needs to know whose certificates are right');
  return experimental.createCertificateProviderServerCredentials(own, new CertificateWatcher({ caCertificateFile }, tlsRefreshMs), true);
}

/** How a component speaks to those that it calls: by TLS where it knows an authority. Throws ConfigError. */
export function channelCredentials(config: TlsConfig): ChannelCredentials {
  const { tlsCaFile: caCertificateFile, tlsCertFile: certificateFile, tlsKeyFile: privateKeyFile, tlsRefreshMs } = config;
  check(config);
  if (caCertificateFile === undefined) return credentials.createInsecure();
  const own = certificateFile === undefined ? null : new CertificateWatcher({ certificateFile, privateKeyFile }, tlsRefreshMs);
  return experimental.createCertificateProviderChannelCredentials(new CertificateWatcher({ caCertificateFile }, tlsRefreshMs), own);
}

/** Says at the start what would otherwise show as connections that fail. */
function check({ tlsCertFile, tlsKeyFile, tlsCaFile }: TlsConfig): void {
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined))
    throw new ConfigError('GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE go together: set both or none');
  try {
    createSecureContext({
      ...(tlsCertFile && { cert: readFileSync(tlsCertFile) }),
      ...(tlsKeyFile && { key: readFileSync(tlsKeyFile) }),
      ...(tlsCaFile && { ca: readFileSync(tlsCaFile) }),
    });
  } catch (error) {
    throw new ConfigError(`GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE or GRPC_TLS_CA_FILE cannot be used: ${(error as Error).message}`);
  }
}
