import type { Quota } from '@scoregw/quota'
import { quotaFetch, quotaOf } from '@scoregw/quota-fetch'
import type { Model } from './stream-express.ts'

export function chatHandler(quota: Quota<'chat'>, model: Model) {
  const metered = quotaFetch({
    quota,
    subject: (request) => request.headers.get('x-user'),
    settle: 'end',
  })
  return metered.operation('chat')(async (request: Request) => {
    const quotaOfChat = quotaOf(request)
    const hangUp = new AbortController()
    const words = model(hangUp.signal)[Symbol.asyncIterator]()
    const encoder = new TextEncoder()
    let tokens = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await words.next()
        if (done) {
          // Commit before the end: the last byte waits for it.
          await quotaOfChat?.commit(tokens)
          controller.close()
          return
        }
        tokens++
        controller.enqueue(encoder.encode(`${value} `))
      },
      async cancel() {
        // The caller hung up: charge what was produced.
        hangUp.abort()
        await quotaOfChat?.commit(tokens)
      },
    })
    return new Response(body)
  })
}
