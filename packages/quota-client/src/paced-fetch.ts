import { isHopeless } from './hopeless.ts'
import { originCredentialAndModel } from './key.ts'
import { onAbort } from './on-abort.ts'
import {
  checkNames,
  type OutgoingRequest,
  type PacedFetchOptions,
  QuotaWaitError,
  systemClock,
  wholeOption,
} from './options.ts'
import { outgoing } from './outgoing.ts'
import { Pace, type Ticket } from './pace.ts'
import { readLimits, readRetryAfter } from './read-limits.ts'

type Fetch = typeof globalThis.fetch

/** A minute's window and the spread, with some room. */
const DEFAULT_WAIT_MS = 90_000
/** Statuses of refusals; all but 429 also have other meanings. */
const MAY_REFUSE = new Set([429, 403, 503])
/** If a refusal names no time, the wait before the first retry. Each further retry waits twice as long. */
const BACKOFF_MS = 1000
/** How long after the exact instant a request can be sent: a tenth of the wait, at most this. */
const MAX_SPREAD_MS = 1000
/** The maximum number of keys. The oldest is dropped first. */
const MAX_KEYS = 1000

/** A request that was answered. */
interface Sent {
  readonly ticket: Ticket
  readonly pace: Pace
  /** How often it was sent before. */
  readonly attempt: number
  /** Whether waiting doesn't help it. */
  readonly isFinal: boolean
}

/**
 * Wraps `fetch`: reads the limits that servers report, and waits instead of being refused.
 *
 * @param fetch sends the requests; the global one by default
 * @throws TypeError naming the invalid option
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its steps share one state
export function pacedFetch(fetch: Fetch = globalThis.fetch, options: PacedFetchOptions = {}): Fetch {
  if (typeof fetch !== 'function') throw new TypeError('pacedFetch: the first argument must be a fetch function')
  checkNames(options)
  const maxWaitMs = wholeOption('maxWaitMs', options.maxWaitMs, DEFAULT_WAIT_MS)
  const retries = wholeOption('retries', options.retries, 2, 10)
  const { key = originCredentialAndModel, onWait, clock = systemClock, random = Math.random } = options
  const paces = new Map<string, Pace>()
  const spread = (ms: number): number => ms + random() * Math.min(MAX_SPREAD_MS, ms / 10)

  return async (input, init) => {
    const deadline = clock.now() + maxWaitMs
    const { request, body, signal, isRepeatable } = outgoing(input, init)
    const text = typeof body === 'object' ? await body : body
    const pace = paceOf(key({ ...request, body: text }))
    for (let attempt = 0; ; attempt++) {
      const ticket = await admitted(pace, request, deadline, signal)
      const response = await fetch(input, init).catch((error: unknown) => {
        pace.fail()
        throw error
      })
      const isFinal = MAY_REFUSE.has(response.status) && (await isHopeless(response))
      const refusedMs = learn(response, { ticket, pace, attempt, isFinal })
      const canWait = refusedMs !== undefined && clock.now() + refusedMs <= deadline
      if (!canWait || !isRepeatable || attempt >= retries || signal?.aborted) return response
      await response.body?.cancel()
    }
  }

  function paceOf(name: string): Pace {
    const known = paces.get(name)
    if (known !== undefined) return known
    const [oldest] = paces.keys()
    if (paces.size >= MAX_KEYS && oldest !== undefined) paces.delete(oldest)
    const pace = new Pace()
    paces.set(name, pace)
    return pace
  }

  /**
   * Learns from a response. Returns how long to wait after a refusal, in milliseconds; `undefined` if the request isn't to
   * be sent again.
   */
  function learn({ headers, status }: Response, { ticket, pace, attempt, isFinal }: Sent): number | undefined {
    const now = clock.now()
    const limits = readLimits(headers).map((limit) => ({ ...limit, resetMs: spread(limit.resetMs) }))
    const retryAfterMs = readRetryAfter(headers)
    const exhausted = limits.filter(({ remaining }) => remaining === 0)
    const isRefusal =
      status === 429 ||
      (MAY_REFUSE.has(status) && retryAfterMs !== undefined) ||
      (status === 403 && exhausted.length > 0)
    const ends = exhausted.map(({ resetMs }) => resetMs)
    const toWait = retryAfterMs === undefined ? Math.max(...ends) : spread(retryAfterMs)
    const waitMs = toWait > Number.NEGATIVE_INFINITY ? toWait : spread(BACKOFF_MS * 2 ** attempt)
    pace.report(ticket, limits, now)
    if (!isRefusal || isFinal) return undefined
    pace.block(now + waitMs)
    return headers.get('x-should-retry') === 'false' ? undefined : waitMs
  }

  /** Waits until a request can be sent, and counts it in the same step. No other request can take its place. */
  async function admitted(
    pace: Pace,
    { url }: Pick<OutgoingRequest, 'url'>,
    deadline: number,
    signal: AbortSignal | undefined,
  ) {
    for (;;) {
      signal?.throwIfAborted()
      const now = clock.now()
      const until = pace.until(now)
      // A response in flight may never arrive, so the wait for it ends at the deadline.
      if (until <= now || (until === Number.POSITIVE_INFINITY && now >= deadline)) return pace.send()
      const isKnown = until < Number.POSITIVE_INFINITY
      if (isKnown && until > deadline) throw new QuotaWaitError(until - now, maxWaitMs)
      onWait?.({ url: url.href, ms: isKnown ? until - now : undefined })
      await pause(pace, Math.min(until, deadline) - now, signal)
    }
  }

  function pause(pace: Pace, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stopTimer()
        stopListening()
        stopWatching?.()
        resolve()
      }
      const stopTimer = clock.timer(end, ms)
      const stopListening = pace.onChange(end)
      const stopWatching = signal && onAbort(signal, end)
    })
  }
}
