import { definePolicy, type Quota } from '@scoregw/quota'
import {
  quotaErrorHandler,
  quotaMiddleware,
} from '@scoregw/quota-express'
import express, { type Express } from 'express'

/** Streams a model's answer, word by word, until it is stopped. */
export type Model = (signal: AbortSignal) => AsyncIterable<string>

export const policy = definePolicy({
  unit: 'tokens',
  limits: { perHour: { by: 'user', limit: 20_000, per: '1h' } },
  operations: {
    // 1,000 tokens are held; what a chat costs beyond is charged too.
    chat: { cost: 1_000, overrun: 'charge', maxOverrun: 4_000 },
  },
})

export function chatServer(
  quota: Quota<'chat'>,
  model: Model,
): Express {
  const metered = quotaMiddleware({
    quota,
    subject: (req) => req.get('x-user'),
    settle: 'end',
  })
  const app = express()
  app.post('/chat', metered.operation('chat'), async (req, res) => {
    const hangUp = new AbortController()
    res.once('close', () => hangUp.abort())
    let tokens = 0
    try {
      for await (const word of model(hangUp.signal)) {
        tokens++
        res.write(`${word} `)
      }
    } catch (error) {
      // The model was stopped because the caller has disconnected.
      if (!hangUp.signal.aborted) throw error
    }
    // Commit before the end, even if the response closed early.
    await metered.of(req)?.commit(tokens)
    res.end()
  })
  app.use(quotaErrorHandler())
  return app
}
