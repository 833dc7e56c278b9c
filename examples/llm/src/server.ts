import type { ChildProcess } from 'node:child_process'
import { createQuota, definePolicy, quotaExceededBody, quotaHeaders, quotaStatusBody } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import express, { type Express, type Request } from 'express'
import { speak } from './model.ts'

/** How long what a chat holds stays held after its process fell silent, in milliseconds. */
export const HOLD_MS = 2_000

/** The cost of a token of an answer, in millionths of a dollar. */
const MICROUSD_A_TOKEN = 60
/** The expected length of a chat's answer. The real one is known at the end. */
const ESTIMATE = 75

/** Requests and tokens a minute, dollars a month: for each user, for each team, and for the whole service. */
const policy = definePolicy({
  units: ['requests', 'tokens', { name: 'microusd', format: { currency: 'USD', scale: 6 } }],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1m', per: '1m', unit: 'tokens' },
    { label: 'month', every: 'month', timeZone: 'UTC', unit: 'microusd' },
  ],
  categories: ['chat'],
  layers: [{ name: 'user' }, { name: 'team' }, { name: 'service', shared: true }],
  operations: {
    chat: {
      category: 'chat',
      cost: { requests: 1, tokens: ESTIMATE, microusd: ESTIMATE * MICROUSD_A_TOKEN },
      // The work is done when its cost is known: what it cost beyond the estimate is charged, up to this.
      overrun: 'charge',
      maxOverrun: { requests: 0, tokens: 300, microusd: 300 * MICROUSD_A_TOKEN },
    },
  },
  base: {
    user: { chat: { '1m': 20, 'tokens-1m': 500, month: 50_000 } },
    team: { chat: { '1m': 100, 'tokens-1m': 5_000, month: 5_000_000 } },
    service: { chat: { '1m': 1_000, 'tokens-1m': 50_000, month: 500_000_000 } },
  },
})

/** A server that streams what a model says. */
export function chatServer(): { readonly app: Express; readonly models: Set<ChildProcess> } {
  const quota = createQuota({ policy, calendar: luxonCalendar() })
  const subjectOf = (req: Request): { readonly user: string; readonly team: string } => {
    return { user: req.get('x-user') ?? 'nobody', team: req.get('x-team') ?? 'none' }
  }
  /** Models at work. */
  const models = new Set<ChildProcess>()
  /** Holds of answers whose bill is still to come, by the number of the answer. */
  const unbilled = new Map<string, string>()

  const app = express()
  app.post('/chat', async (req, res) => {
    const reservation = await quota.reserve({ subject: subjectOf(req), operation: 'chat', ttlMs: HOLD_MS })
    if (reservation.status === 'refused') {
      const { decision } = reservation
      res.status(429).set(quotaHeaders(decision)).json(quotaExceededBody(decision))
      return
    }
    // Only a reservation under an id can be a repeat.
    if (reservation.status !== 'reserved') return
    let spokenTokens = 0
    const spoken = speak(Number(req.query.words ?? ESTIMATE), (word) => {
      spokenTokens++
      res.write(`${word} `)
    })
    // Who hangs up stops the model.
    res.once('close', () => spoken.process.kill())
    const stop = reservation.keepAlive()
    models.add(spoken.process)
    const cost = await spoken.cost
    models.delete(spoken.process)
    stop()
    if (cost === undefined && !res.destroyed) {
      // The model died, and nobody knows what it cost: all that is held goes back when the hold ends.
      res.destroy()
      return
    }
    if (req.query.billed === 'later' && reservation.token !== undefined) {
      unbilled.set(String(req.query.answer), reservation.token)
      res.end()
      return
    }
    // Of an answer that was broken off, what was said until then.
    const tokens = cost ?? spokenTokens
    const { charged, uncharged } = await reservation.commit({ tokens, microusd: tokens * MICROUSD_A_TOKEN })
    res.end(`\n${charged.tokens} tokens charged, ${uncharged.tokens} not\n`)
  })
  // The provider's bill, which may come after the hold has ended: it is charged all the same, up to `maxOverrun` above it.
  app.post('/bill/:answer', express.json(), async (req, res) => {
    const token = unbilled.get(req.params.answer)
    if (token === undefined) return void res.sendStatus(404)
    unbilled.delete(req.params.answer)
    const hold = await quota.resume(token)
    res.json(await hold.commit(req.body as { readonly tokens: number; readonly microusd: number }))
  })
  app.get('/me/quota', async (req, res) => void res.json(quotaStatusBody(await quota.status(subjectOf(req)))))
  return { app, models }
}
