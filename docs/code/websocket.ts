import type { Quota } from '@scoregw/quota'
import { quotaExceededBody } from '@scoregw/quota/http'
import type { WebSocket } from 'ws'

/**
 * Charges each message on a connection. A failed message is refunded,
 * and a refused one gets a reply.
 */
export function meterMessages<Operation extends string>(
  socket: WebSocket,
  request: {
    readonly quota: Quota<Operation>
    readonly subject: string
    readonly operation: Operation
  },
  work: (message: string) => Promise<string>,
): void {
  const { quota, subject, operation } = request
  async function answerTo(message: string): Promise<string> {
    try {
      const result = await quota.run({ subject, operation }, () =>
        work(message),
      )
      if (result.allowed) return result.value
      return JSON.stringify(
        result.decision === undefined
          ? {}
          : quotaExceededBody(result.decision),
      )
    } catch {
      return JSON.stringify({ error: 'failed' })
    }
  }
  socket.on(
    'message',
    (data) =>
      void answerTo(data.toString()).then((answer) =>
        socket.send(answer),
      ),
  )
}
