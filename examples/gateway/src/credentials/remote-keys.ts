import type { Clock } from '@scoregw/quota'
import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { readText } from '../http/read-text.ts'

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
export class KeysUnavailable extends Error {
  override readonly name: string = 'KeysUnavailable'
}

/** Public keys behind an address, fetched on demand. */
export interface RemoteKeys {
  /** @throws {KeysUnavailable} and jose's errors */
  readonly get: JWTVerifyGetKey
  /** Whether the last fetch failed: an unknown key may then be a new one. */
  isFailing(): boolean
}

export interface RemoteKeysOptions {
  readonly timeoutMs?: number | undefined
  readonly cooldownMs?: number | undefined
}

export function remoteKeys(
  address: string,
  clock: Clock,
  { timeoutMs = TIMEOUT_MS, cooldownMs = COOLDOWN_MS }: RemoteKeysOptions = {},
): RemoteKeys {
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
