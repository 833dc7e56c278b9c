import { type MeteredRequest, type NamedFields, type RateLimitFields, watchedStream } from '@scoregw/quota/http'

/** What settles a response, in addition to its status. */
export interface Settling {
  /** The request's method: the body of a response to `HEAD` is never read. */
  readonly method: string
  /** Whether the caller has disconnected. Called for failures only. */
  isHungUp(): boolean
  /**
   * Whether something watches the server's response, and sets the fields. The end is settled here in any case: a server
   * ends a response whose handler failed as if it were complete.
   *
   * @default false
   */
  readonly isWatched?: boolean
}

/**
 * Settles a quota by a response before its head leaves or, if the end settles, before its last byte. Synchronous if
 * there is nothing to await.
 */
export function settleResponse(
  quota: MeteredRequest,
  response: Response,
  settling: Settling,
): Response | Promise<Response> {
  const { pending } = quota
  // If the handler's commit fails, the outcome decides.
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

/**
 * Settles a hold when its caller disconnects, as the request's signal reports, unless the handler settles soon after.
 */
export function settleAtHangUp(quota: MeteredRequest, signal: AbortSignal | null | undefined): void {
  if (signal?.aborted === true) quota.abort()
  else signal?.addEventListener('abort', () => quota.abort(), { once: true })
}

/** Adds fields to a response. Fields of another quota of the same request are kept, in one list with these. */
function withFields(
  response: Response,
  fields: RateLimitFields | undefined,
  legacy: NamedFields | undefined,
): Response {
  // A server's own response is created when more than its status is read. Until then its `Headers` are the
  // application's: fields would be added to those again with each request.
  void response.bodyUsed
  try {
    // Fields of the same name form one list, with ours last.
    if (fields !== undefined) {
      response.headers.append('RateLimit-Policy', fields.policy)
      response.headers.append('RateLimit', fields.limit)
    }
    if (legacy !== undefined && !response.headers.has('X-RateLimit-Limit')) {
      for (const [name, value] of Object.entries(legacy)) response.headers.set(name, value)
    }
    return response
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // The fields of a response that was fetched, or made by a static method, are immutable; those of a copy aren't.
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

/** The same bytes. The end waits until the hold is settled. */
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
    // The handler broke its stream; a caller who disconnects cancels it instead.
    fail: () => quota.fail().catch(() => undefined),
    unread: () => quota.end(),
  })
}
