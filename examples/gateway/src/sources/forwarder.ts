import { setTimeout as wait } from 'node:timers/promises'
import type { HttpError } from '../http/http-error.ts'
import { BodyTooLarge, readText } from '../http/read-text.ts'
import { type SourceFaultCode, type SourceName, sourceFault } from './score-source.ts'

export interface ForwarderOptions {
  readonly source: SourceName
  /** The base address of every request, without a slash at the end. */
  readonly baseUrl: string
  /** How long a request may take, including the second attempt and the whole body, in milliseconds. */
  readonly timeoutMs: number
  /**
   * The largest response, in bytes after decompression.
   *
   * @default 4 MiB: twice what a player has who played every chart
   */
  readonly maxBytes?: number | undefined
  /**
   * The longest wait before the second attempt, in milliseconds.
   *
   * @default 250
   */
  readonly retryDelayMs?: number | undefined
  /**
   * A number from 0 to below 1: the part of that wait that is used, so that requests which failed together don't come
   * again together.
   */
  random(): number
}

/** The response of a server, with any status. */
export interface Forwarded {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const MAX_BYTES = 4 * 1_024 * 1_024
const RETRY_DELAY_MS = 250

/** Statuses of a server that is briefly unavailable: a read may be retried once. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/** Sends requests to one external server. It follows no redirect. */
export class Forwarder {
  readonly source: SourceName
  readonly #options: ForwarderOptions

  constructor(options: ForwarderOptions) {
    this.source = options.source
    this.#options = options
  }

  /**
   * Reads a path below the base address. A network failure or a status of 502 to 504 is retried once.
   *
   * @throws {HttpError} `source_timeout`, `source_unreachable`, and `source_bad_response` for a response that isn't
   * HTTP or is too large; the reason of `signal` when that is aborted
   */
  async get(path: `/${string}`, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Forwarded> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(sourceFault(this.source, 'source_timeout')), this.#options.timeoutMs)
    const stop = (): void => limit.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      signal?.throwIfAborted()
      return await this.#getTwice(path, headers, limit.signal)
    } catch (error) {
      // Aborting makes many things fail; report the reason of the abort.
      limit.signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }

  async #getTwice(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Forwarded> {
    try {
      const first = await this.#getOnce(path, headers, signal)
      if (!PASSING_STATUSES.has(first.status)) return first
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw this.#faultOf(error)
    }
    const { random, retryDelayMs = RETRY_DELAY_MS } = this.#options
    await wait(random() * retryDelayMs, undefined, { signal })
    try {
      return await this.#getOnce(path, headers, signal)
    } catch (error) {
      throw this.#faultOf(error)
    }
  }

  async #getOnce(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Forwarded> {
    const { baseUrl, maxBytes = MAX_BYTES } = this.#options
    const response = await fetch(`${baseUrl}${path}`, { headers, signal, redirect: 'manual' })
    const { status, headers: answered } = response
    return { status, headers: answered, text: await readText(response, maxBytes) }
  }

  #faultOf(error: unknown): HttpError {
    const code = isPassing(error) ? 'source_unreachable' : 'source_bad_response'
    return sourceFault(this.source, code, { reason: reasonOf(error) })
  }
}

/** Whether a request failed on the network. A response that cannot be read would be the same again. */
function isPassing(error: unknown): boolean {
  return !(error instanceof BodyTooLarge) && !/^(?:HPE_|Z_|ERR__|UND_ERR_HEADERS_OVERFLOW)/.test(codeOf(error) ?? '')
}

/** A short name of the failure. Messages are left out: they may quote what was sent. */
function reasonOf(error: unknown): string {
  return error instanceof BodyTooLarge ? error.message : (codeOf(error) ?? 'the connection failed')
}

/** The code of an error or of its cause: `ECONNREFUSED`, `UND_ERR_SOCKET`, `HPE_INVALID_CONSTANT`, `Z_DATA_ERROR`. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : codeOf(error.cause)
}

/** Parses JSON; `undefined` for any other text. The parser's error is dropped, because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Limits of a source's `Retry-After`, in seconds: the default, and the largest value. */
const DEFAULT_SECONDS = 60
const MOST_SECONDS = 3_600

/** The seconds of a `Retry-After` field, which may be a number or a date (RFC 9110, 10.2.3): 1 to 3600. */
function retryAfterSeconds(field: string | null, now: number): number {
  const seconds = /^\d+$/.test(field ?? '') ? Number(field) : (Date.parse(field ?? '') - now) / 1_000
  return Number.isNaN(seconds) ? DEFAULT_SECONDS : Math.min(Math.max(Math.ceil(seconds), 1), MOST_SECONDS)
}

/** Meanings of a source's statuses that are about the player. */
export type Meanings = Readonly<Record<number, SourceFaultCode>>

/** The error for a response that isn't a success. `status` is the source's, from the head or the body. */
export function refusal(
  source: SourceName,
  status: number,
  { headers }: Forwarded,
  meanings: Meanings,
  now: number,
): HttpError {
  const upstreamStatus = status
  if (status === 429) {
    const seconds = retryAfterSeconds(headers.get('Retry-After'), now)
    return sourceFault(source, 'source_rate_limited', { upstreamStatus, retryAfterSeconds: seconds })
  }
  if (status >= 500) return sourceFault(source, 'source_error', { upstreamStatus })
  // A page instead of data comes from a firewall in front of the source: it says nothing about the player.
  const isPage = headers.get('Content-Type')?.includes('html') === true
  const code = isPage ? undefined : meanings[status]
  return sourceFault(source, code ?? 'source_bad_response', { upstreamStatus, reason: `status ${status}` })
}
