import type { Clock } from '@scoregw/quota'
import type { Selectable, Transaction } from 'kysely'
import type { AuditEntryTable, Db, Tables } from '../db/schema.ts'

/** Something that was done: to what, and what that was before and after. Never holds a credential or its hash. */
export interface Deed {
  readonly action: AuditAction
  /** Absent: the one thing of its kind. */
  readonly subject?: string | undefined
  /** Documents; `null`: there was nothing, or is nothing any more. */
  readonly before: object | null
  readonly after: object | null
}

export const AUDIT_ACTIONS = [
  'settings.change',
  'user-quota.change',
  'quota.reset',
  'factor.reset',
  'hold.release',
  'user.create',
  'user.change',
  'user.delete',
  'balance.change',
  'token.issue',
  'token.revoke',
  'bot.issue',
  'bot.revoke',
  'chart-key.issue',
  'chart-key.revoke',
  'webhook.change',
  'webhook.rotate',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who does something: a user's id, or `command line`, which no id can be. */
export type Doer = string

export const COMMAND_LINE: Doer = 'command line'

/** A transaction of an administrator, and what it does. */
export interface Audited {
  readonly db: Transaction<Tables>
  /** Written down with the transaction. */
  note(deed: Deed): void
}

/** What administrators did, in the order of the commits. */
export class AuditLog {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Works in one transaction and writes down what was done in it: both happen, or neither. Administrators take turns, in
   * every process, so that what the work has looked at stays so until its end.
   */
  async change<T>(by: Doer, work: (audited: Audited) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (transaction) => {
      await takeTurn(transaction)
      const deeds: Deed[] = []
      const result = await work({ db: transaction, note: (deed) => void deeds.push(deed) })
      await writeDown(transaction, this.#clock, by, deeds)
      return result
    })
  }

  /** Records a deed that is about to be done outside the database. */
  async record(by: Doer, deed: Deed): Promise<void> {
    await this.change(by, async ({ note }) => note(deed))
  }

  /**
   * The newest entries, or the newest of those before one. Numbers come in the order of the commits, so that pages that
   * are read one after the other lack nothing and repeat nothing, even while others write.
   *
   * @param action absent: of every kind
   */
  async page(before: number | undefined, limit: number, action?: AuditAction): Promise<Selectable<AuditEntryTable>[]> {
    const everything = this.#db.selectFrom('audit_entries').selectAll().orderBy('seq', 'desc').limit(limit)
    const newestFirst = action === undefined ? everything : everything.where('action', '=', action)
    return (before === undefined ? newestFirst : newestFirst.where('seq', '<', before)).execute()
  }
}

/**
 * Writes down what a transaction does, as its last step: writers of entries wait for each other from here to the commit.
 */
export async function writeDown(
  transaction: Transaction<Tables>,
  clock: Clock,
  by: Doer | null,
  deeds: readonly Deed[],
): Promise<void> {
  if (deeds.length === 0) return
  const lastSeq = await takeTurn(transaction)
  const at = clock.now()
  const rows = deeds.map(({ action, subject = null, before, after }, index) => {
    return { seq: lastSeq + 1 + index, at, by, action, subject, before: textOf(before), after: textOf(after) }
  })
  await transaction.insertInto('audit_entries').values(rows).execute()
  await transaction
    .updateTable('audit_counter')
    .set({ last_seq: lastSeq + rows.length })
    .execute()
}

/** Waits until no other transaction has the counter, and answers the last number. A write, so that it locks. */
async function takeTurn(transaction: Transaction<Tables>): Promise<number> {
  const { last_seq } = await transaction
    .updateTable('audit_counter')
    .set(({ ref }) => ({ last_seq: ref('last_seq') }))
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  return last_seq
}

function textOf(document: object | null): string | null {
  return document === null ? null : JSON.stringify(document)
}
