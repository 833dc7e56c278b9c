import { setTimeout as wait } from 'node:timers/promises'
import type { HttpError } from '../http/http-error.ts'
import { BodyTooLarge, readText } from '../http/read-text.ts'
import type { SourceName } from './score-source.ts'
import { sourceFault } from './source-fault.ts'

export interface ForwarderOptions {
  readonly source: SourceName
  /** The only place that requests go to, without a slash at the end. */
  readonly baseUrl: string
  /** How long a request may take with all that belongs to it: the second try, the whole body. */
  readonly timeoutMs: number
  /**
   * Largest answer, in bytes after decompression.
   * @default 4 MiB: twice what a player has who played every chart
   */
  readonly maxBytes?: number | undefined
  /**
   * Longest wait, in milliseconds, before the second try.
   * @default 250
   */
  readonly retryDelayMs?: number | undefined
  /** A number from 0 to below 1: how much of that wait it is, so that many who failed together do not come again together. */
  random(): number
}

/** What a server answered, whatever its status. */
export interface Forwarded {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const MAX_BYTES = 4 * 1_024 * 1_024
const RETRY_DELAY_MS = 250

/** Statuses of a server that is briefly unavailable: reads may be retried once. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/** Sends requests to one outside server, and to no other: it follows no redirect. */
export class Forwarder {
  readonly source: SourceName
  readonly #options: ForwarderOptions

  constructor(options: ForwarderOptions) {
    this.source = options.source
    this.#options = options
  }

  /**
   * Reads a path below the base address. A network failure or a status of 502 to 504 is retried once.
   * @throws {HttpError} `source_timeout`, `source_unreachable`, and `source_bad_response` for an answer that is not
   *   HTTP or too large; the reason of `signal` when that is aborted
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
      // What the abort tore down fails in many ways; the reason is the one that counts.
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

/** Whether a request failed on the network. An answer that came and cannot be read would come again as it is. */
function isPassing(error: unknown): boolean {
  return !(error instanceof BodyTooLarge) && !/^(?:HPE_|Z_|ERR__|UND_ERR_HEADERS_OVERFLOW)/.test(codeOf(error) ?? '')
}

/** A short name of what went wrong. Messages are left out: they may quote what was sent. */
function reasonOf(error: unknown): string {
  return error instanceof BodyTooLarge ? error.message : (codeOf(error) ?? 'the connection failed')
}

/** The code of an error or of what caused it: `ECONNREFUSED`, `UND_ERR_SOCKET`, `HPE_INVALID_CONSTANT`, `Z_DATA_ERROR`. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : codeOf(error.cause)
}
