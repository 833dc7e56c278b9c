import type { ChildProcess } from 'node:child_process'
import { createQuota, definePolicy, quotaExceededBody, quotaHeaders, quotaStatusBody } from '@scoregw/quota'
import express, { type Express, type Request } from 'express'
import { speak } from './model.ts'

/** How long tokens stay held after whoever held them fell silent, in milliseconds. */
export const HOLD_MS = 2_000

/** What a chat is expected to cost in tokens; the truth is known when it is over. */
const ESTIMATE = 75

/** A server that streams what a model says, 500 tokens an hour for each user. */
export function chatServer(): { readonly app: Express; readonly models: Set<ChildProcess> } {
  const quota = createQuota({
    policy: definePolicy({
      windows: [{ label: '1h', lengthMs: 3_600_000 }],
      categories: ['chat'],
      layers: [{ name: 'user' }],
      // The work is done when its cost is known: what it cost beyond the estimate is charged, up to 300 tokens.
      operations: { chat: { category: 'chat', cost: ESTIMATE, overrun: 'charge', maxOverrun: 300 } },
      base: { user: { chat: { '1h': 500 } } },
    }),
  })
  const userOf = (req: Request): string => req.get('x-user') ?? 'nobody'
  /** Models at work. */
  const models = new Set<ChildProcess>()

  const app = express()
  app.post('/chat', async (req, res) => {
    const reservation = await quota.reserve({ subject: userOf(req), operation: 'chat', ttlMs: HOLD_MS })
    if (reservation.status === 'refused') {
      const { decision } = reservation
      res.status(429).set(quotaHeaders(decision)).json(quotaExceededBody(decision))
      return
    }
    // Only a reservation under an id can be a repeat.
    if (reservation.status !== 'reserved') return
    const spoken = speak(Number(req.query.words ?? ESTIMATE), (word) => res.write(`${word} `))
    const stop = reservation.keepAlive()
    models.add(spoken.process)
    const cost = await spoken.cost
    models.delete(spoken.process)
    stop()
    if (cost === undefined) {
      // Nobody knows what it cost: its tokens go back when the hold ends.
      res.destroy()
      return
    }
    const { charged, uncharged } = await reservation.commit(cost)
    res.end(`\n${charged} tokens charged, ${uncharged} not\n`)
  })
  app.get('/me/quota', async (req, res) => void res.json(quotaStatusBody(await quota.status(userOf(req)))))
  return { app, models }
}
