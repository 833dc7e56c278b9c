import type { Clock } from '@scoregw/quota'
import type { Selectable, Transaction } from 'kysely'
import * as z from 'zod'
import type { AuditEntryTable, Db, Tables } from '../db/schema.ts'
import { strictObject } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { CURSOR_ERROR, pageLimit, pageOf, toPage } from '../http/schemas.ts'

/**
 * An administrator's action: the subject, and its document before and after. Never contains a credential or its hash.
 */
export interface Deed {
  readonly action: AuditAction
  /** Absent for things that exist once. */
  readonly subject?: string | undefined
  /** Documents; `null`: it did not exist before, or does not exist any more. */
  readonly before: object | null
  readonly after: object | null
}

const AUDIT_ACTIONS = [
  'settings.change',
  'user-quota.change',
  'quota.reset',
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
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who acts: a user's id, or `command line`, which no user's id can be. */
export type Doer = string

export const COMMAND_LINE: Doer = 'command line'

/** An administrator's transaction, and how to record its actions. */
export interface Audited {
  readonly db: Transaction<Tables>
  /** Records an action with the transaction. */
  note(deed: Deed): void
}

/** Actions of administrators, in the order of their commits. */
export class AuditLog {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Works in one transaction and records its actions, both or neither. Transactions of administrators in all processes
   * run one after the other, so what the work reads stays current.
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

  /** Records an action that is about to happen outside the database. */
  async record(by: Doer, deed: Deed): Promise<void> {
    await this.change(by, async ({ note }) => note(deed))
  }

  /**
   * The newest entries, or the newest before a given one. Numbers follow the order of commits: consecutive pages skip
   * and repeat nothing, even while others write.
   *
   * @param action absent: every kind
   */
  async page(before: number | undefined, limit: number, action?: AuditAction): Promise<Selectable<AuditEntryTable>[]> {
    const everything = this.#db.selectFrom('audit_entries').selectAll().orderBy('seq', 'desc').limit(limit)
    const newestFirst = action === undefined ? everything : everything.where('action', '=', action)
    return (before === undefined ? newestFirst : newestFirst.where('seq', '<', before)).execute()
  }
}

/** Records a transaction's actions as its last step: other writers wait from here until the commit. */
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

/** Waits until no other transaction holds the counter, and returns the last number. It writes, in order to lock. */
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

const query = strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, CURSOR_ERROR)
    .transform(Number)
    .optional()
    .describe('`nextCursor` of the previous page.'),
  limit: pageLimit.describe('The largest number of entries on the page.'),
  action: z
    .enum(AUDIT_ACTIONS, { error: `expected one of ${AUDIT_ACTIONS.join(', ')}` })
    .optional()
    .describe('Only entries of this kind.'),
})

const document = z.record(z.string(), z.unknown()).nullable()

const entry = z.object({
  seq: z.int(),
  at: z.iso.datetime(),
  by: z.string().nullable().describe("A user's id, or `command line`."),
  action: z.enum(AUDIT_ACTIONS),
  subject: z.string().nullable().describe('The id of what was changed; `null`: the settings of all users.'),
  before: document,
  after: document,
})
type Entry = z.output<typeof entry>

/** Converts a stored document to the form that administrators know. */
export type Shown = (stored: unknown) => Entry['before']

/** The audit trail. */
export function auditRoutes(audit: AuditLog, shown: Shown): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/audit',
      docs: {
        id: 'listAudit',
        tag: 'Administration',
        summary: 'The audit trail of changes, the newest first',
        description: 'Follow `nextCursor` until it is `null`. While entries are written, no page repeats or skips one.',
      },
      access: 'admin',
      query,
      answer: pageOf(entry),
      async handle({ query: { cursor, limit, action } }) {
        const entries = await audit.page(cursor, limit + 1, action)
        const { items, nextCursor } = toPage(entries, limit, ({ seq }) => String(seq))
        return { body: { items: items.map((entry) => toEntry(entry, shown)), nextCursor } }
      },
    }),
  ]
}

function toEntry(
  { seq, at, by, action: name, subject, before, after }: Selectable<AuditEntryTable>,
  shown: Shown,
): Entry {
  // Nothing else is ever recorded.
  const action = name as AuditAction
  return {
    seq,
    at: new Date(at).toISOString(),
    by,
    action,
    subject,
    before: before === null ? null : shown(JSON.parse(before)),
    after: after === null ? null : shown(JSON.parse(after)),
  }
}
