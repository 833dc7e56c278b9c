import type { MeteredRequest } from '@scoregw/quota/http'

/**
 * Settles a quota by a response before it leaves: its head, and where the end settles, its last byte.
 *
 * @param isHungUp whether the caller has gone; asked for failures alone
 */
export async function settleResponse(
  quota: MeteredRequest,
  response: Response,
  isHungUp: () => boolean,
): Promise<Response> {
  const { status } = response
  const hasGone = status >= 400 && isHungUp()
  const fields = quota.fields(status, hasGone)
  quota.judge(status, hasGone)
  if (quota.pending !== undefined) await quota.pending
  const told = fields === undefined ? response : withFields(response, fields)
  return quota.settlesAtEnd ? settledAtEnd(quota, told) : told
}

/** A response with fields; those of another quota of the same request stay, in one list with these. */
function withFields(response: Response, fields: Readonly<Record<string, string>>): Response {
  try {
    for (const [name, text] of Object.entries(fields)) {
      const others = response.headers.get(name)
      response.headers.set(name, others === null ? text : `${others}, ${text}`)
    }
    return response
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // The fields of a response that was fetched, or made by a static method, cannot be changed: its copy's can.
    return withFields(new Response(response.body, response), fields)
  }
}

async function settledAtEnd(quota: MeteredRequest, response: Response): Promise<Response> {
  if (response.body !== null) return new Response(watched(quota, response.body), response)
  quota.end()
  await quota.pending
  return response
}

/** The same bytes; the end waits until what it settles is settled. */
function watched(quota: MeteredRequest, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read()
        if (!done) {
          controller.enqueue(value)
          return
        }
      } catch (error) {
        // The handler broke its stream; a caller who leaves cancels it instead.
        await quota.cancel().catch(() => undefined)
        controller.error(error)
        return
      }
      quota.end()
      await quota.pending
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
