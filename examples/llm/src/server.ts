import type { ChildProcess } from 'node:child_process'
import { createQuota, money } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { quotaExceededBody, quotaHeaders, quotaStatusBody } from '@scoregw/quota/http'
import express, { type Express, type Request } from 'express'
import { speak } from './model.ts'

/** How long what a chat holds stays held after its process fell silent, in milliseconds. */
export const HOLD_MS = 2_000

const usd = money('USD')
/** The price of an answer, at 60 millionths of a dollar a token. */
const priceOf = (tokens: number) => usd.millionths(60 * tokens)
/** The expected length of a chat's answer. The real one is known at the end. */
const ESTIMATE = 75

/** A server that streams what a model says. */
export function chatServer(): { readonly app: Express; readonly models: Set<ChildProcess> } {
  const quota = createQuota({
    limits: {
      requests: { by: 'user', limit: 20, per: '1m' },
      tokens: { by: 'user', limit: 500, of: 'tokens', per: '1m' },
      budget: { by: 'user', limit: usd(0.05), of: usd, every: 'month', timeZone: 'UTC' },
      teamTokens: { by: 'team', limit: 5_000, of: 'tokens', per: '1m' },
      teamBudget: { by: 'team', limit: usd(5), of: usd, every: 'month', timeZone: 'UTC' },
      serviceTokens: { shared: 'service', limit: 50_000, of: 'tokens', per: '1m' },
      serviceBudget: { shared: 'service', limit: usd(500), of: usd, every: 'month', timeZone: 'UTC' },
    },
    operations: {
      chat: {
        cost: { tokens: ESTIMATE, usd: priceOf(ESTIMATE) },
        // The work is done when its cost is known: what it cost beyond the estimate is charged, up to this.
        overrun: 'charge',
        maxOverrun: { requests: 0, tokens: 300, usd: priceOf(300) },
      },
    },
    calendar: luxonCalendar(),
  })
  const subjectOf = (req: Request): { readonly user: string; readonly team: string } => {
    return { user: req.get('x-user') ?? 'nobody', team: req.get('x-team') ?? 'none' }
  }
  /** Models at work. */
  const models = new Set<ChildProcess>()
  /** Holds of answers whose bill is still to come, by the number of the answer. */
  const unbilled = new Map<string, string>()

  const app = express()
  app.post('/chat', async (req, res) => {
    const reservation = await quota.reserve({ subject: subjectOf(req), ttlMs: HOLD_MS })
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
    const { charged, uncharged } = await reservation.commit({ tokens, usd: priceOf(tokens) })
    res.end(`\n${charged.tokens} tokens charged, ${uncharged.tokens} not\n`)
  })
  // The provider's bill, which may come after the hold has ended: it is charged all the same, up to `maxOverrun` above it.
  app.post('/bill/:answer', express.json(), async (req, res) => {
    const token = unbilled.get(req.params.answer)
    if (token === undefined) return void res.sendStatus(404)
    unbilled.delete(req.params.answer)
    const hold = await quota.resume(token)
    const { tokens, microusd } = req.body as { readonly tokens: number; readonly microusd: number }
    res.json(await hold.commit({ tokens, usd: usd.millionths(microusd) }))
  })
  app.get('/me/quota', async (req, res) => void res.json(quotaStatusBody(await quota.status(subjectOf(req)))))
  return { app, models }
}
