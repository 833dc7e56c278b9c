import { randomUUID } from 'node:crypto'
import { createQuota } from '@scoregw/quota'
import { redisRestStore } from '@scoregw/quota-redis/rest'
import { CliError, EXIT, usageError } from '../cli-error.ts'
import { plain } from '../text.ts'
import { fault, ok, type ServerFinding, warning } from './finding.ts'
import { clock, latency } from './measures.ts'
import { parseInfo } from './redis-server.ts'

const PINGS = 10
/** A third of the default deadline of the HTTP store. */
const SLOW_MS = 333
/** The largest script to try, in bytes. The store's own script is smaller. */
const SCRIPT_BYTES = 48 * 1024

/** A database that is called over HTTP. */
export interface HttpAddress {
  readonly url: string
  readonly token: string
}

/** @throws {CliError} `usage`, without any part of an invalid address */
export function httpAddress(text: string, env: Readonly<Record<string, string | undefined>>): HttpAddress {
  const token = env.UPSTASH_REDIS_REST_TOKEN
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || `${url.username}${url.password}${url.search}` !== '') {
    const fix = 'write https://host; the token goes into UPSTASH_REDIS_REST_TOKEN'
    throw usageError('not the address of a database by HTTP', fix)
  }
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
    const fix = 'set UPSTASH_REDIS_REST_TOKEN to the token of the database'
    throw usageError('the token is missing or invalid', fix)
  }
  return { url: text, token }
}

/**
 * Tries a database: its Lua library and script size. Then makes decisions under a separate prefix.
 *
 * @throws {CliError} `server` if it does not answer, or rejects the token
 */
export async function examineHttp(address: HttpAddress, patienceMs: number): Promise<ServerFinding[]> {
  const send = sender(address, patienceMs)
  const first = await send('EVAL', 'return 1', 0)
  if ('error' in first) throw serverError(address, first.error)
  return [
    await library(send),
    await scriptSize(send),
    await decisions(address, patienceMs, send),
    await eviction(send),
    await clock(async () => {
      const answer = await send('TIME')
      return 'result' in answer ? (answer.result as unknown[]) : []
    }),
    await latency(() => send('PING'), PINGS, SLOW_MS),
  ]
}

type Answer = { readonly result: unknown } | { readonly error: string }
type Send = (...words: readonly (string | number)[]) => Promise<Answer>

function sender(address: HttpAddress, patienceMs: number): Send {
  const { url, token } = address
  return async (...words) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(words),
        redirect: 'manual',
        signal: AbortSignal.timeout(patienceMs),
      })
      const answer = Object((await response.json()) as unknown) as { result?: unknown; error?: unknown }
      if (typeof answer.error === 'string') return { error: answer.error.replaceAll(token, '[token]') }
      if ('result' in answer) return { result: answer.result }
      throw new Error(`HTTP ${response.status}, and no answer of Redis`)
    } catch (error) {
      throw serverError(address, error)
    }
  }
}

function serverError({ url, token }: HttpAddress, error: unknown): CliError {
  const { cause, message } = Object(error) as { readonly cause?: { readonly code?: string }; readonly message?: string }
  const text = String(cause?.code ?? message ?? error).replaceAll(token, '[token]')
  const remedy = /WRONGPASS|Unauthorized|NOPERM/i.test(text)
    ? 'set UPSTASH_REDIS_REST_TOKEN to a token of this database that may write'
    : 'check the address; it has to speak the REST protocol of Upstash'
  return new CliError(`${new URL(url).origin}: ${plain(text, 120)}`, { exitCode: EXIT.server, remedy })
}

async function library(send: Send): Promise<ServerFinding> {
  const answer = await send('EVAL', 'return type(struct)', 0)
  return 'result' in answer && answer.result === 'table'
    ? ok('lua', 'struct is there')
    : fault('lua', 'struct is missing: no decision can be made', 'use another database; the store needs this library')
}

async function scriptSize(send: Send): Promise<ServerFinding> {
  const answer = await send('EVAL', `return 1 --${'-'.repeat(SCRIPT_BYTES)}`, 0)
  const size = `${SCRIPT_BYTES / 1024} KiB`
  return 'result' in answer
    ? ok('scripts', `of ${size} are accepted`)
    : fault('scripts', `of ${size} are refused: ${answer.error}`, 'use a database that takes larger requests')
}

/** Tries one admitted decision, one refused decision, and a write and read of settings. */
async function decisions({ url, token }: HttpAddress, deadlineMs: number, send: Send): Promise<ServerFinding> {
  const prefix = `quota-doctor-${randomUUID()}`
  const store = redisRestStore({ url, token, prefix, deadlineMs: Math.min(10_000, deadlineMs) })
  const quota = createQuota({
    limits: { own: { by: 'user', limit: 1, per: '1h' }, everybody: { shared: 'service', limit: 1, per: '1d' } },
    store,
    settingsStore: store.settings,
    logger: false,
  })
  try {
    const request = { subject: 'doctor' }
    const [first, second] = [await quota.consume(request), await quota.consume(request)]
    const { settings } = await quota.settings.update({ mode: 'lenient' })
    if (first.allowed && !second.allowed && settings.mode === 'lenient')
      return ok('decisions', 'made and refused; settings kept')
    return fault('decisions', 'a limit of 1 is not kept', 'use another database')
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown }
    const why = plain(String((cause as Error | undefined)?.message ?? error), 200)
    return fault('decisions', `cannot be made: ${why}`, 'see what is said above of Lua and scripts')
  } finally {
    await quota.close()
    // The rows expire by themselves.
    await send('DEL', ...[':settings', ':settings:changes', ':limits'].map((key) => `{${prefix}}${key}`))
  }
}

async function eviction(send: Send): Promise<ServerFinding> {
  const answer = await send('INFO')
  const policy = 'result' in answer ? parseInfo(String(answer.result)).maxmemory_policy : undefined
  if (policy === 'noeviction') return ok('eviction', 'noeviction')
  return policy === undefined
    ? warning('eviction', 'cannot be seen by HTTP', "turn it off in the provider's console")
    : fault('eviction', `${policy}: counters may be dropped, and limits exceeded`, 'turn it off')
}
