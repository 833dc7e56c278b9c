import type { Counting, Quota } from '@scoregw/quota'
import type { ManualClock } from '@scoregw/quota-testkit'

/** The engine that the history is played on. Its clock, and its store's, stands still until it is advanced. */
export interface Party {
  readonly quota: Quota<'read' | 'write' | 'export', Counting>
  readonly clock: ManualClock
}

/** The beginning of every history: 20 November 2026, 10:00 UTC. */
export const BEGIN: number = Date.UTC(2026, 10, 20, 10)

const MINUTE_MS = 60_000
const SUBJECTS = ['ann', 'ben', 'dan', 'eve', 'fay', 'gil', 'hal'] as const

/** Tokens of the history's holds, by how the holds end. */
export type HoldTokens = Readonly<Record<string, string>>

/** Plays the history, and leaves its clock 21 minutes after {@link BEGIN}. @returns tokens of its holds */
export async function play({ quota, clock }: Party): Promise<HoldTokens> {
  const tokens: Record<string, string> = {}
  const severalUnits = quota.policy.units !== undefined && quota.policy.units.length > 1
  const amount = (count: number) => (severalUnits ? { tokens: count } : count)

  async function hold(name: string, subject: string, ttlMs: number, operation: 'write' | 'export' = 'export') {
    const held = await quota.reserve({ subject, operation, id: name, ttlMs })
    if (held.status !== 'reserved' || held.token === undefined) throw new Error(`${name}: ${held.status}`)
    tokens[name] = held.token
    return held
  }
  async function reserve(id: string, operation: 'read' | 'write') {
    const made = await quota.reserve({ subject: 'ann', operation, id })
    if (made.status !== 'reserved') throw new Error(`${id}: ${made.status}`)
    return made
  }

  await quota.settings.update({ layers: { site: { multiplier: 2 } } })
  await quota.subjects.set('gil', { overrides: { reads: {}, writes: { hour: 7 } } })

  for (let n = 0; n < 3; n++) await quota.consume({ subject: 'ann', operation: 'write' })
  await quota.consume({ subject: 'gil', operation: 'write' })
  clock.advance(10 * MINUTE_MS)

  await quota.consume({ subject: 'ben', operation: 'read', cost: amount(7) })
  await quota.consume({ subject: 'dan', operation: 'write', cost: amount(100) })
  await quota.consume({ subject: 'eve', operation: 'write' })
  await quota.reset('eve')
  clock.advance(10 * MINUTE_MS)

  await (await reserve('id-committed', 'write')).commit(amount(2))
  await (await reserve('id-cancelled', 'write')).cancel()
  await reserve('id-open', 'read')
  await hold('open', 'fay', 60 * MINUTE_MS)
  await (await hold('grown', 'fay', 30 * MINUTE_MS)).add(amount(4))
  await (await hold('committed', 'fay', 30 * MINUTE_MS, 'write')).commit(amount(3))
  await (await hold('cancelled', 'fay', 30 * MINUTE_MS, 'write')).cancel()
  await hold('expired', 'hal', MINUTE_MS)
  await hold('due', 'hal', 5 * MINUTE_MS)
  clock.advance(MINUTE_MS)
  await quota.holds.sweep()
  return tokens
}

/** An engine's answers on the history's data: plain JSON, by the name of the question. */
export interface Answers {
  /** By counters and settings. */
  readonly rows: Readonly<Record<string, unknown>>
  /** By the records of ids and holds. */
  readonly records: Readonly<Record<string, unknown>>
}

/** Continues the history, and reports each answer. The clock stands where {@link play} left it. */
export async function goOn({ quota, clock }: Party, tokens: HoldTokens): Promise<Answers> {
  const severalUnits = quota.policy.units !== undefined && quota.policy.units.length > 1
  const amount = (count: number) => (severalUnits ? { tokens: count } : count)

  /** The used amount and the end of each of a layer's windows. */
  async function used(subject: string, ofLayer = 'person') {
    const { windows } = await quota.status(subject)
    const limits = Object.entries(windows).flatMap(([category, of]) => of.map((each) => ({ ...each, category })))
    const shown = limits
      .filter(({ layer }) => layer === ofLayer)
      .map(({ category, window, limit, used: count, resetAt }) => {
        const until = typeof resetAt === 'number' ? `, until ${new Date(resetAt).toISOString()}` : ''
        return [`${category} ${window}`, `${count} of ${limit}${until}`]
      })
    return Object.fromEntries(shown) as Record<string, string>
  }
  async function consume(subject: string, operation: 'read' | 'write') {
    const { allowed, binding, retryAfterMs } = (await quota.consume({ subject, operation })) as unknown as {
      readonly allowed: boolean
      readonly binding?: { readonly layer: string; readonly window: string } | undefined
      readonly retryAfterMs?: number | null
    }
    return allowed ? 'admitted' : `refused by ${binding?.layer} ${binding?.window}, again after ${retryAfterMs} ms`
  }
  const reserve = async (id: string, operation: 'read' | 'write', cost?: ReturnType<typeof amount>) =>
    (await quota.reserve({ subject: 'ann', operation, id, cost })).status
  const resume = (name: string) => quota.resume(tokens[name] ?? '')
  const { fay, hal } = { fay: () => used('fay'), hal: () => used('hal') }

  const rows: Record<string, unknown> = {}
  rows['the site has used'] = await used('ann', 'site')
  for (const subject of SUBJECTS) rows[`${subject} has used`] = await used(subject)
  const { version, revision: _revision, ...settings } = await quota.settings.get()
  const { revision: _other, ...ofGil } = await quota.subjects.get('gil')
  rows.settings = { version, layers: settings.layers }
  rows['settings of gil'] = ofGil
  rows['dan writes'] = await consume('dan', 'write')
  rows['gil writes'] = await consume('gil', 'write')
  rows['ann writes'] = await consume('ann', 'write')
  rows['ann has used then'] = await used('ann')

  const records: Record<string, unknown> = {}
  const record = async (name: string, call: () => Promise<unknown>): Promise<void> => {
    records[name] = await call().catch((error: { readonly code?: string }) => ({ error: error.code ?? String(error) }))
  }
  await record('the committed id again', () => reserve('id-committed', 'write'))
  await record('the cancelled id again', () => reserve('id-cancelled', 'write'))
  await record('the open id again', () => reserve('id-open', 'read'))
  await record('the open id for something else', () => reserve('id-open', 'read', amount(2)))
  await record('ann has used', () => used('ann'))
  await record('open holds of fay', async () => (await quota.holds.list('fay')).map(({ ref: _ref, ...each }) => each))
  await record('the committed hold is committed again', async () => (await resume('committed')).commit(amount(5)))
  await record('the cancelled hold is committed', async () => (await resume('cancelled')).commit())
  await record('the expired hold is committed late', async () => (await resume('expired')).commit(amount(4)))
  await record('the grown hold grows', async () => (await (await resume('grown')).add(amount(1))).allowed)
  await record('the grown hold is cancelled', async () => (await resume('grown')).cancel().then(() => 'cancelled'))
  await record('fay has used after it', fay)
  await record('the open hold is extended', async () => (await resume('open')).extend(90 * MINUTE_MS))
  await record('the open hold is committed', async () => (await resume('open')).commit(amount(3)))
  await record('fay has used in the end', fay)
  await record('hal has used', hal)
  clock.advance(5 * MINUTE_MS)
  await record('holds that are open later', async () => (await quota.holds.sweep()).open)
  await record('hal has used after the hold was due', hal)
  await record('the site has used in the end', () => used('ann', 'site'))
  return JSON.parse(JSON.stringify({ rows, records })) as Answers
}
