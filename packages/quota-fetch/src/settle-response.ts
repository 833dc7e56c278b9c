import type { RateLimitFields } from '@scoregw/quota/http'
import { type MeteredRequest, type NamedFields, watchedStream } from '@scoregw/quota/internal'

/** What determines a settlement, apart from the status. */
export interface Settling {
  /** The request's method. The body of a response to `HEAD` is never read. */
  readonly method: string
  /** Whether the client has disconnected. Only called for failures. */
  isHungUp(): boolean
  /**
   * Whether another adapter watches the server's response, and sets the fields. The end of the body is settled here
   * anyway, because a server ends the response of a failed handler as if it were complete.
   *
   * @default false
   */
  readonly isWatched?: boolean
}

/**
 * Settles a quota before the head is sent, or before the last byte if the end settles it. Returns synchronously if
 * there is nothing to await.
 */
export function settleResponse(
  quota: MeteredRequest,
  response: Response,
  settling: Settling,
): Response | Promise<Response> {
  const { pending } = quota
  // If the handler's commit fails, the status decides.
  if (pending !== undefined) return pending.then(() => settledByStatus(quota, response, settling))
  return settledByStatus(quota, response, settling)
}

function settledByStatus(quota: MeteredRequest, response: Response, settling: Settling): Response | Promise<Response> {
  const { status } = response
  const { settlesAtEnd } = quota
  const hasGone = status >= 400 && settling.isHungUp()
  const isOurs = settling.isWatched !== true
  const fields = isOurs ? quota.fields(status, hasGone) : undefined
  const legacy = isOurs ? quota.legacyFields(status, hasGone) : undefined
  quota.settleByStatus(status, hasGone)
  const { pending } = quota
  const send = (): Response | Promise<Response> => {
    const sent = fields === undefined && legacy === undefined ? response : withFields(response, fields, legacy)
    return settlesAtEnd ? settledAtEnd(quota, sent, settling.method === 'HEAD') : sent
  }
  return pending === undefined ? send() : pending.then(send)
}

/** Settles a hold when the client disconnects, unless the handler settles during the grace period. */
export function settleAtHangUp(quota: MeteredRequest, signal: AbortSignal | null | undefined): void {
  if (signal?.aborted === true) quota.abort()
  else signal?.addEventListener('abort', () => quota.abort(), { once: true })
}

/** Adds fields to a response. Fields of other quotas of the request stay, in the same list. */
function withFields(
  response: Response,
  fields: RateLimitFields | undefined,
  legacy: NamedFields | undefined,
): Response {
  // Reading any property but the status makes the server create its own response. Before that, its `Headers` are the
  // application's, and would collect the fields of every request.
  void response.bodyUsed
  try {
    // Fields of one name form a list. Ours come last.
    if (fields !== undefined) {
      response.headers.append('RateLimit-Policy', fields.policy)
      response.headers.append('RateLimit', fields.limit)
    }
    if (legacy !== undefined && !response.headers.has('X-RateLimit-Limit')) {
      for (const [name, value] of Object.entries(legacy)) response.headers.set(name, value)
    }
    return response
  } catch (error) {
    if ((error as Partial<Error> | undefined)?.name !== 'TypeError') throw error
    // A fetched response, or one from a static method, has immutable headers. A copy doesn't.
    return withFields(new Response(response.body, response), fields, legacy)
  }
}

/** @param isOver whether the body will never be read */
async function settledAtEnd(quota: MeteredRequest, response: Response, isOver: boolean): Promise<Response> {
  if (response.body !== null && !isOver) return new Response(watched(quota, response.body), response)
  quota.end()
  await quota.pending
  return response
}

/** Returns a stream of the same bytes, whose end waits for the settlement of the hold. */
function watched(quota: MeteredRequest, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return watchedStream(body, {
    end() {
      quota.end()
      return quota.pending
    },
    cancel() {
      quota.abort()
      return undefined
    },
    // The handler's stream failed. If the client disconnects, it is cancelled instead.
    fail: () => quota.fail().catch(() => undefined),
    unread: () => quota.end(),
  })
}
