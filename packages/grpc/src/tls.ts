// TLS between components. Files are read again every minute, so that certificates are renewed without a restart.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ServerCredentials, credentials, experimental, type ChannelCredentials } from '@grpc/grpc-js';
import { ConfigError, env, type Config } from '@truckroll/process';
import { CertificateWatcher } from './driver/certificate-files.ts';

export const tlsSettings = {
  /** PEM file of this component's certificate chain. With it a service accepts TLS only, and a caller presents it. Read again every minute. */
  tlsCertFile: env.optional('GRPC_TLS_CERT_FILE'),
  /** PEM file of the certificate's private key. Read again every minute. */
  tlsKeyFile: env.optional('GRPC_TLS_KEY_FILE'),
  /** PEM file of the authority that signs certificates of components. With it a component calls by TLS only. */
  tlsCaFile: env.optional('GRPC_TLS_CA_FILE'),
  /** `true`: a service accepts only connections with a certificate of that authority, in addition to the credential. */
  tlsClientCertificates: env.boolean('GRPC_TLS_CLIENT_CERTIFICATES', false),
};

/** `tlsRefreshMs`: interval at which files are read again, for tests. */
export type TlsConfig = Partial<Config<typeof tlsSettings>> & { readonly tlsRefreshMs?: number };

/** TLS settings of a server; plain HTTP/2 without a certificate. Throws ConfigError. */
export function serverCredentials(config: TlsConfig): ServerCredentials {
  const {
    tlsCertFile: certificateFile,
    tlsKeyFile: privateKeyFile,
    tlsCaFile: caCertificateFile,
    tlsClientCertificates: required = false,
    tlsRefreshMs,
  } = config;
  checkTls(config);
  if (certificateFile === undefined) return ServerCredentials.createInsecure();
  const own = new CertificateWatcher({ certificateFile, privateKeyFile }, tlsRefreshMs);
  const authority = required ? new CertificateWatcher({ caCertificateFile }, tlsRefreshMs) : null;
  return experimental.createCertificateProviderServerCredentials(own, authority, required);
}

/** TLS settings for calls to other components; plain HTTP/2 without a CA. Throws ConfigError. */
export function channelCredentials(config: TlsConfig): ChannelCredentials {
  const { tlsCaFile: caCertificateFile, tlsCertFile: certificateFile, tlsKeyFile: privateKeyFile, tlsRefreshMs } = config;
  checkTls(config);
  if (caCertificateFile === undefined) return credentials.createInsecure();
  const own = certificateFile === undefined ? null : new CertificateWatcher({ certificateFile, privateKeyFile }, tlsRefreshMs);
  return experimental.createCertificateProviderChannelCredentials(new CertificateWatcher({ caCertificateFile }, tlsRefreshMs), own);
}

/** Reports at start what would otherwise only show as failing connections. Throws ConfigError. */
export function checkTls({ tlsCertFile, tlsKeyFile, tlsCaFile, tlsClientCertificates }: TlsConfig): void {
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined))
    throw new ConfigError('GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE go together: set both or none');
  if (tlsCertFile !== undefined && tlsClientCertificates && tlsCaFile === undefined)
    throw new ConfigError('GRPC_TLS_CA_FILE is missing: set it to the CA that signs clients’ certificates, since GRPC_TLS_CLIENT_CERTIFICATES is true');
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
