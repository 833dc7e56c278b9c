import { createQuota, definePolicy, type Quota, type QuotaStore } from '@scoregw/quota'
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

/** @param limit tokens of each subject in an hour */
export function quotaOn(store: PostgresStore | SqliteStore, limit: number): Quota<'work'> {
  const policy = definePolicy({
    windows: [{ label: '1h', lengthMs: 3_600_000 }],
    categories: ['write'],
    layers: [
      { name: 'personal', shared: false },
      { name: 'site', shared: true },
    ],
    operations: { work: { category: 'write', cost: 1 } },
    base: { personal: { write: { '1h': limit } }, site: { write: { '1h': 1e9 } } },
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
  quota: Quota<'work'>,
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
      isRefused = !(await quota.within(transaction).consume({ subject, operation: 'work', cost })).allowed
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

/** What was done and what was charged for it, subject by subject. */
export async function doneAndCharged(
  db: Kysely<Worked>,
  quota: Quota<'work'>,
): Promise<{ readonly done: number[]; readonly charged: (number | undefined)[] }> {
  const [done, charged]: [number[], (number | undefined)[]] = [[], []]
  for (const subject of SUBJECTS) {
    const sum = await db
      .selectFrom('work')
      .select(({ fn }) => fn.sum<number | string>('cost').as('cost'))
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow()
    done.push(Number(sum.cost ?? 0))
    charged.push((await quota.status(subject)).windows.write?.[0]?.used)
  }
  return { done, charged }
}
