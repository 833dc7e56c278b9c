import type { Clock } from '@scoregw/quota'
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Config } from '../config/config.ts'
import { HttpError } from '../http/http-error.ts'
import { readText } from '../http/read-text.ts'
import type { StoredUser } from '../http/request-context.ts'
import { type UserRepository, userIdSchema } from '../users/user-repository.ts'
import { isGatewayToken, type Tokens } from './tokens.ts'

/**
 * Finds the user of a bearer credential: a gateway token, by its prefix, or else a JWT. A valid JWT creates its user on
 * first use. The role is always the stored one: claims are ignored.
 */
export function userIdentifier(
  users: UserRepository,
  tokens: Tokens,
  verifyJwt: VerifyJwt,
): (credential: string) => Promise<StoredUser | undefined> {
  return async (credential) => {
    if (isGatewayToken(credential)) return tokens.user(credential)
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

/** How to verify JWTs. Without secret and URL, none are accepted. */
export type JwtConfig = Pick<Config, 'JWT_SECRET' | 'JWKS_URL' | 'JWT_ISSUER' | 'JWT_AUDIENCE'>

/** Verifies JWTs as configured. Without a secret or an address none is valid. */
export function jwtVerifier(config: JwtConfig, clock: Clock, options?: RemoteKeysOptions): VerifyJwt {
  const { JWT_SECRET: secret, JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = config
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

/** How long the keys' server may take for its whole response, in milliseconds. */
const TIMEOUT_MS = 2_000
/** The largest set of keys, in bytes. */
const MAX_BYTES = 262_144
/** How long keys are cached. Also the minimum time between two fetches for an unknown key. */
const MAX_AGE_MS = 600_000
const COOLDOWN_MS = 10_000
/** How long to wait before calling a failed server again. Anyone can send a token that triggers a call. */
const PAUSE_MS = 1_000
/** How long cached keys are used while their server fails. */
const KEPT_MS = 3_600_000

/** The keys cannot be fetched, so tokens cannot be verified. */
class KeysUnavailable extends Error {
  override readonly name: string = 'KeysUnavailable'
}

interface RemoteKeysOptions {
  readonly timeoutMs?: number | undefined
  readonly cooldownMs?: number | undefined
}

/**
 * Public keys behind an address, fetched on demand. `get` throws {@link KeysUnavailable} and jose's errors. `isFailing`:
 * whether the last fetch failed; an unknown key may then be a new one.
 */
function remoteKeys(
  address: string,
  clock: Clock,
  { timeoutMs = TIMEOUT_MS, cooldownMs = COOLDOWN_MS }: RemoteKeysOptions = {},
) {
  let kept: { readonly text: string; readonly at: number } | undefined
  let failure: { readonly error: unknown; readonly at: number } | undefined

  const fetchKeys = async (url: string, init: RequestInit): Promise<string> => {
    if (failure !== undefined && clock.now() - failure.at < PAUSE_MS) throw failure.error
    try {
      const text = await keysText(await fetch(url, init))
      kept = { text, at: clock.now() }
      failure = undefined
      return text
    } catch (error) {
      failure = { error, at: clock.now() }
      throw error
    }
  }

  const get = createRemoteJWKSet(new URL(address), {
    timeoutDuration: timeoutMs,
    cooldownDuration: cooldownMs,
    cacheMaxAge: MAX_AGE_MS,
    async [customFetch](url, init) {
      try {
        return new Response(await fetchKeys(url, init))
      } catch (error) {
        if (kept !== undefined && clock.now() - kept.at < KEPT_MS) return new Response(kept.text)
        throw new KeysUnavailable('the keys for JWTs cannot be fetched', { cause: error })
      }
    },
  })
  return { get, isFailing: () => failure !== undefined }
}

/** @throws if the response isn't a set of keys */
async function keysText(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the server of the keys answered ${response.status}`)
  }
  const text = await readText(response, MAX_BYTES)
  try {
    createLocalJWKSet(JSON.parse(text))
  } catch (error) {
    throw new Error('the server of the keys answered with something else', { cause: error })
  }
  return text
}
