import type { Clock } from '@scoregw/quota'
import type { Selectable, Transaction } from 'kysely'
import * as z from 'zod'
import type { AuditEntryTable, Db, Tables } from '../db/schema.ts'
import { strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { CURSOR_ERROR, instantText, pageLimit, pageOf, toPage } from '../http/schemas.ts'

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
  'token.rotate',
  'token.revoke',
  'bot.issue',
  'bot.rotate',
  'bot.revoke',
  'chart-key.issue',
  'chart-key.rotate',
  'chart-key.revoke',
] as const

type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who acts: a user's id, or `command line`, which no user's id can be. */
export type Doer = string

export const COMMAND_LINE: Doer = 'command line'

/** An administrator's transaction, and how to record its actions. */
export interface Audited {
  readonly db: Transaction<Tables>
  /** Records an action with the transaction. */
  note(deed: Deed): void
}

/** Which entries are wanted. Absent: any. */
export interface AuditFilter {
  readonly action?: AuditAction | undefined
  readonly by?: Doer | undefined
  readonly subject?: string | undefined
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
   */
  async page(
    before: number | undefined,
    limit: number,
    filter: AuditFilter = {},
  ): Promise<Selectable<AuditEntryTable>[]> {
    const newestFirst = this.#entries(filter).selectAll().orderBy('seq', 'desc').limit(limit)
    return (before === undefined ? newestFirst : newestFirst.where('seq', '<', before)).execute()
  }

  /** How many entries there are. */
  async count(filter: AuditFilter): Promise<number> {
    const { count } = await this.#entries(filter)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  #entries(filter: AuditFilter) {
    return (['action', 'by', 'subject'] as const).reduce((entries, column) => {
      const wanted = filter[column]
      return wanted === undefined ? entries : entries.where(column, '=', wanted)
    }, this.#db.selectFrom('audit_entries'))
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

const idText = z.string().regex(/^[ -~]{1,128}$/, 'expected an id')

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
  by: idText.optional().describe('Only entries of this user, or of the `command line`.'),
  subject: idText.optional().describe('Only entries about this id.'),
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

/** Converts a stored document to the form that administrators know. */
export type Shown = (stored: unknown) => z.output<typeof document>

/** The audit trail. */
export function auditRoutes(audit: AuditLog, shown: Shown): Route[] {
  return [
    adminRoute('GET /admin/audit', {
      id: 'listAudit',
      summary: 'The audit trail of changes, the newest first',
      description: 'Follow `nextCursor` until it is `null`. While entries are written, no page repeats or skips one.',
      query,
      answer: pageOf(entry).extend({ total: z.int().describe('How many entries the filters let through.') }),
      async handle({ query: { cursor, limit, ...filter } }) {
        const [entries, total] = await Promise.all([audit.page(cursor, limit + 1, filter), audit.count(filter)])
        const { items, nextCursor } = toPage(entries, limit, ({ seq }) => String(seq))
        const documentOf = (text: string | null) => (text === null ? null : shown(JSON.parse(text)))
        const listed = items.map(({ at, action, before, after, ...entry }) => ({
          ...entry,
          at: instantText(at),
          // Nothing else is ever recorded.
          action: action as AuditAction,
          before: documentOf(before),
          after: documentOf(after),
        }))
        return { body: { items: listed, nextCursor, total } }
      },
    }),
  ]
}
