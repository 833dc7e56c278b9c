import { originAndCredential } from './key.ts'
import { type OutgoingRequest, type PacedFetchOptions, QuotaWaitError, systemClock, wholeOption } from './options.ts'
import { Pace, type Ticket } from './pace.ts'
import { readLimits, readRetryAfter } from './read-limits.ts'

type Fetch = typeof globalThis.fetch

const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const DEFAULT_WAIT_MS = 60_000
/** If a refusal names no time, the wait before the first retry. Each further retry waits twice as long. */
const BACKOFF_MS = 1000
/** How long after the exact instant a request can be sent: a tenth of the wait, at most this. */
const MAX_SPREAD_MS = 1000
/** The maximum number of keys. The oldest is dropped first. */
const MAX_KEYS = 1000

/**
 * Wraps `fetch`: reads the limits that servers report, and waits instead of being refused.
 *
 * @param fetch sends the requests; the global one by default
 * @throws TypeError naming the invalid option
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its steps share one state
export function pacedFetch(fetch: Fetch = globalThis.fetch, options: PacedFetchOptions = {}): Fetch {
  if (typeof fetch !== 'function') throw new TypeError('pacedFetch: the first argument must be a fetch function')
  const maxWaitMs = wholeOption('maxWaitMs', options.maxWaitMs, DEFAULT_WAIT_MS)
  const retries = wholeOption('retries', options.retries, 2, 10)
  const { key = originAndCredential, onWait, clock = systemClock, random = Math.random } = options
  const paces = new Map<string, Pace>()
  const spread = (ms: number): number => ms + random() * Math.min(MAX_SPREAD_MS, ms / 10)

  return async (input, init) => {
    const request = outgoing(input, init)
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    const pace = paceOf(key(request))
    const deadline = clock.now() + maxWaitMs
    const isRepeatable = canRepeat(request, input, init)
    for (let attempt = 0; ; attempt++) {
      const ticket = await admitted(pace, request, deadline, signal)
      const response = await fetch(input, init).catch((error: unknown) => {
        pace.fail()
        throw error
      })
      const refusedMs = learn(response, ticket, pace, attempt)
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

  /** Learns from a response. Returns how long to wait after a refusal, in milliseconds. */
  function learn({ headers, status }: Response, ticket: Ticket, pace: Pace, attempt: number) {
    const now = clock.now()
    const limits = readLimits(headers).map((limit) => ({ ...limit, resetMs: spread(limit.resetMs) }))
    const retryAfterMs = readRetryAfter(headers)
    const exhausted = limits.filter(({ remaining }) => remaining === 0)
    const mayRefuse = status === 503 || status === 403
    const isRefusal =
      status === 429 || (mayRefuse && retryAfterMs !== undefined) || (status === 403 && exhausted.length > 0)
    const ends = exhausted.map(({ resetMs }) => resetMs)
    const toWait = retryAfterMs === undefined ? Math.max(...ends) : spread(retryAfterMs)
    const waitMs = toWait > Number.NEGATIVE_INFINITY ? toWait : spread(BACKOFF_MS * 2 ** attempt)
    pace.report(ticket, limits, now)
    if (!isRefusal) return undefined
    pace.block(now + waitMs)
    return waitMs
  }

  /** Waits until a request can be sent, and counts it in the same step. No other request can take its place. */
  async function admitted(pace: Pace, { url }: OutgoingRequest, deadline: number, signal?: AbortSignal | null) {
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

  function pause(pace: Pace, ms: number, signal?: AbortSignal | null): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stopTimer()
        stopListening()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const stopTimer = clock.timer(end, ms)
      const stopListening = pace.onChange(end)
      signal?.addEventListener('abort', end)
    })
  }
}

function outgoing(input: Parameters<Fetch>[0], init: RequestInit | undefined): OutgoingRequest {
  const given = input instanceof Request ? input : undefined
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  return {
    url: new URL(given?.url ?? String(input), location?.href),
    method: (init?.method ?? given?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? given?.headers),
  }
}

/** Whether a request can be sent again: it must be idempotent by method or key, and its body readable again. */
function canRepeat(request: OutgoingRequest, input: Parameters<Fetch>[0], init: RequestInit | undefined): boolean {
  const isSafe = SAFE_TO_REPEAT.has(request.method) || request.headers.has('idempotency-key')
  const isStream = init?.body instanceof ReadableStream || (input instanceof Request && input.body !== null)
  return isSafe && !isStream
}
