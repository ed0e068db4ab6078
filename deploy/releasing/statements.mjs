// Signed in-toto statements, in the bundles that cosign 3 attaches to images and verifies (cosign's BUNDLE_SPEC). They are made by Node, because
// cosign signs only what a registry already has, and is several times as large as all the other tools together.
import { createHash, createPublicKey, sign, verify } from 'node:crypto';

export const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const PAYLOAD = 'application/vnd.in-toto+json';
/** Types of statements. A signature says nothing more than its subject. */
export const SIGNATURE = 'https://sigstore.dev/cosign/sign/v1';
export const SBOM = 'https://cyclonedx.org/bom';
export const PROVENANCE = 'https://slsa.dev/provenance/v1';

/** What DSSE signs: type and body with their lengths. */
const encoded = (body) => Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD.length} ${PAYLOAD} ${body.length} `), body]);

/** Signs a statement about what has the name and the digest. Returns the bundle. */
export function signStatement(key, name, digest, predicateType, predicate) {
  const subject = [{ name, digest: { sha256: digest.replace('sha256:', '') } }];
  const body = Buffer.from(JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }));
  const hint = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('base64');
  return Buffer.from(
    JSON.stringify({
      mediaType: BUNDLE,
      verificationMaterial: { publicKey: { hint } },
      dsseEnvelope: {
        payload: body.toString('base64'),
        payloadType: PAYLOAD,
        signatures: [{ sig: sign('sha256', encoded(body), key).toString('base64') }],
      },
    }),
  );
}

/** Whether the key has signed a bundle with a statement of this type about what has the name and the digest. */
export function isStated(publicKey, bundle, name, digest, predicateType) {
  const { payload, payloadType, signatures } = JSON.parse(bundle).dsseEnvelope;
  const body = Buffer.from(payload, 'base64');
  if (payloadType !== PAYLOAD || !verify('sha256', encoded(body), publicKey, Buffer.from(signatures[0].sig, 'base64'))) return false;
  const { subject, predicateType: type } = JSON.parse(body);
  return type === predicateType && subject[0].name === name && `sha256:${subject[0].digest.sha256}` === digest;
}
