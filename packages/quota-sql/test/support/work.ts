import { createQuota, definePolicy, type Quota } from '@scoregw/quota'
import type { UnitsOf } from '@scoregw/quota/internal'
import type { QuotaStore } from '@scoregw/quota/store'
import * as fc from 'fast-check'
import type { Kysely } from 'kysely'
import type { PostgresStore, SqliteStore } from '../../src/index.ts'

/** The work that tokens pay for. */
export interface Worked {
  readonly work: { readonly subject: string; readonly cost: number }
}

export const WORK_TABLE = 'create table work (subject text not null, cost integer not null)'
const SUBJECTS: readonly string[] = ['a', 'b', 'c']

interface Piece {
  readonly subject: string
  readonly cost: number
  readonly fails: 'never' | 'before' | 'after' | 'sql'
}

/** A piece of work: charged, done, and lost with its transaction where that fails before or after the charge. */
const PIECE: fc.Arbitrary<Piece> = fc.record({
  subject: fc.constantFrom(...SUBJECTS),
  cost: fc.integer({ min: 2, max: 4 }),
  fails: fc.constantFrom<Piece['fails'][]>('never', 'never', 'before', 'after', 'sql'),
})

export function piecesOf(seed: number, count: number): Piece[] {
  return fc.sample(PIECE, { numRuns: count, seed })
}

class Failed extends Error {}

/** Requests, tokens and money of work. */
export type WorkQuota = Quota<'work', UnitsOf<'requests' | 'tokens' | 'money'>>

const MONEY_A_TOKEN = 7

/** @param limit tokens of each subject in an hour */
export function quotaOn(store: PostgresStore | SqliteStore, limit: number): WorkQuota {
  const tokens = { of: 'tokens', per: '1h' } as const
  const money = { of: 'money', limit: 1e9, per: '1d' } as const
  const policy = definePolicy({
    limits: {
      requests: { by: 'personal', limit: 1e9, per: '1h' },
      tokens: { by: 'personal', limit, ...tokens },
      money: { by: 'personal', ...money },
      'site-requests': { shared: 'site', limit: 1e9, per: '1h' },
      'site-tokens': { shared: 'site', limit: 1e9, ...tokens },
      'site-money': { shared: 'site', ...money },
    },
    operations: { work: {} },
  })
  return createQuota({ policy, store: store as QuotaStore })
}

/**
 * Does a piece of work and charges for it in one transaction, in the middle of the work.
 *
 * @param charged is called after the charge
 */
export async function workOn(
  db: Kysely<Worked>,
  quota: WorkQuota,
  piece: Piece,
  charged: () => void = () => undefined,
): Promise<'done' | 'refused' | 'failed'> {
  const { subject, cost, fails } = piece
  let isRefused = false
  try {
    await db.transaction().execute(async (transaction) => {
      const insert = (what: Worked['work']) => transaction.insertInto('work').values(what).execute()
      await insert({ subject, cost: 1 })
      if (fails === 'before') throw new Failed()
      const costs = { tokens: cost, money: cost * MONEY_A_TOKEN }
      isRefused = !(await quota.inTransaction(transaction).consume({ subject, operation: 'work', cost: costs })).allowed
      charged()
      if (isRefused || fails === 'after') throw new Failed()
      await insert({ subject, cost: fails === 'sql' ? (null as never) : cost - 1 })
    })
    return 'done'
  } catch (error) {
    if (fails === 'never' && !(error instanceof Failed)) throw error
    return isRefused ? 'refused' : 'failed'
  }
}

/** What was done and what was charged for it: requests, tokens and money, subject by subject. */
export async function doneAndCharged(
  db: Kysely<Worked>,
  quota: WorkQuota,
): Promise<{ readonly done: [pieces: number, ...number[]][]; readonly charged: (number | undefined)[][] }> {
  const [done, charged]: [[number, ...number[]][], (number | undefined)[][]] = [[], []]
  for (const subject of SUBJECTS) {
    const { rows, cost } = await db
      .selectFrom('work')
      .select(({ fn }) => [fn.sum<number | string>('cost').as('cost'), fn.countAll<number | string>().as('rows')])
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow()
    const tokens = Number(cost ?? 0)
    // A piece has a row of before its charge and one of after it.
    done.push([Number(rows) / 2, tokens, tokens * MONEY_A_TOKEN])
    const { limits } = await quota.status(subject)
    charged.push(['requests', 'tokens', 'money'].map((name) => limits[name]?.used))
  }
  return { done, charged }
}
