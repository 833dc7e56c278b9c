import type { Clock } from '@scoregw/quota'
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { JwtConfig } from '../config/config.ts'
import { HttpError } from '../http/http-error.ts'
import type { StoredUser } from '../http/request-context.ts'
import { TOKEN_PREFIX } from '../users/tokens.ts'
import { userIdSchema } from '../users/user.ts'
import type { UserRepository } from '../users/user-repository.ts'
import { KeysUnavailable, type RemoteKeysOptions, remoteKeys } from './remote-keys.ts'

/**
 * Finds the user of a bearer credential: a gateway token, by its prefix, or else a JWT. A valid JWT creates its user on
 * first use. The role is always the stored one: claims are ignored.
 */
export function userIdentifier(
  users: UserRepository,
  verifyJwt: VerifyJwt,
): (credential: string) => Promise<StoredUser | undefined> {
  return async (credential) => {
    if (credential.startsWith(TOKEN_PREFIX)) return users.byToken(credential)
    const id = await verifyJwt(credential)
    return id === undefined ? undefined : users.findOrCreate(id)
  }
}

/** How far the issuer's clock may be from ours, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5
/** When a client may retry if the keys cannot be fetched, in seconds. */
const RETRY_SECONDS = 5

/** Algorithms with public keys. The keys behind an address never include a secret, so HS256 is left out. */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/**
 * The `sub` of a valid JWT; `undefined` if it isn't valid.
 *
 * @throws {HttpError} 503 if the keys cannot be read
 */
type VerifyJwt = (token: string) => Promise<string | undefined>

/** Verifies JWTs as configured. Without a secret or an address none is valid. */
export function jwtVerifier(config: JwtConfig, clock: Clock, options?: RemoteKeysOptions): VerifyJwt {
  const { secret, jwksUrl, issuer, audience } = config
  const subjectOf = async (token: string, key: JWTVerifyGetKey, algorithms: string[]): Promise<string | undefined> => {
    const { payload } = await jwtVerify(token, key, {
      algorithms,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(clock.now()),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    })
    return userIdSchema.safeParse(payload.sub).data
  }
  // One kind of key with its algorithms, never both: otherwise a public key could be used as a secret.
  if (secret !== undefined) {
    const key = new TextEncoder().encode(secret)
    return (token) => subjectOf(token, async () => key, ['HS256']).catch(unidentified)
  }
  if (jwksUrl === undefined) return async () => undefined
  const keys = remoteKeys(jwksUrl, clock, options)
  return async (token) => {
    try {
      return await subjectOf(token, keys.get, ASYMMETRIC)
    } catch (error) {
      const isKeyMissing = error instanceof errors.JWKSNoMatchingKey
      if (error instanceof KeysUnavailable || (isKeyMissing && keys.isFailing())) throw cannotBeChecked(error)
      return unidentified(error)
    }
  }
}

function unidentified(error: unknown): undefined {
  if (!(error instanceof errors.JOSEError)) throw error
}

/** It isn't the caller's fault, so it isn't a 401: clients discard their tokens then. */
function cannotBeChecked(cause: unknown): HttpError {
  const msg = "The credential can't be checked right now. Try again."
  return new HttpError('quota_unavailable', msg, { retryAfterSeconds: RETRY_SECONDS, cause })
}
