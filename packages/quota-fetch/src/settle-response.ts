import { type MeteredRequest, type NamedFields, type RateLimitFields, watchedStream } from '@scoregw/quota/http'

/** What a response is settled by, beside its status. */
export interface Settling {
  /** Of the request: the body of an answer to `HEAD` is never read. */
  readonly method: string
  /** Whether the caller has gone; called for failures only. */
  isHungUp(): boolean
  /**
   * Whether the response that a server makes of it is watched, which sets the fields. The end is settled here all the
   * same: a server ends a response that its handler broke as if it were whole.
   * @default false
   */
  readonly isWatched?: boolean
}

/**
 * Settles a quota by a response before it leaves: its head, and where the end settles, its last byte. Now, where there is
 * nothing to wait for.
 */
export function settleResponse(
  quota: MeteredRequest,
  response: Response,
  settling: Settling,
): Response | Promise<Response> {
  const { pending } = quota
  // The handler's commit may fail: then the outcome decides.
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

/** Settles a hold when its caller goes, as the request's signal reports, unless its handler settles soon after. */
export function settleAtHangUp(quota: MeteredRequest, signal: AbortSignal | null | undefined): void {
  if (signal?.aborted === true) quota.abort()
  else signal?.addEventListener('abort', () => quota.abort(), { once: true })
}

/** A response with fields; those of another quota of the same request stay, in one list with these. */
function withFields(
  response: Response,
  fields: RateLimitFields | undefined,
  legacy: NamedFields | undefined,
): Response {
  // A server's own response, which is made when it is requested more than a status, has the `Headers` of the application
  // until then: fields would be added to those, once more with each request.
  void response.bodyUsed
  try {
    // Fields of the same name are one list, ours the last of it.
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
    // The fields of a response that was fetched, or made by a static method, cannot be changed: its copy's can.
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

/** The same bytes; the end waits until the hold is settled. */
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
    // The handler broke its stream; a caller who leaves cancels it instead.
    fail: () => quota.fail().catch(() => undefined),
    unread: () => quota.end(),
  })
}
