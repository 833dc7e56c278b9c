import type { Clock } from '@scoregw/quota'
import { type Selectable, sql, type Transaction } from 'kysely'
import * as z from 'zod'
import type { Db, Tables } from '../db/schema.ts'
import { readerOf } from '../db/sqlite.ts'
import { HttpError } from '../http/http-error.ts'
import type { StoredUser, User } from '../http/request-context.ts'
import { instantText } from '../http/schemas.ts'

const ID_ERROR = 'expected an id of 1 to 128 printable characters without spaces and slashes, not . or ..'

/**
 * A user id is the subject of quotas and part of paths: 1 to 128 printable ASCII characters except spaces and slashes.
 * `.` and `..` are invalid, because clients can't request such paths.
 */
export const userIdSchema = z
  .string()
  .regex(/^[!-.0-~]{1,128}$/, ID_ERROR)
  .refine((id) => id !== '.' && id !== '..', ID_ERROR)
  .meta({ description: "A user's id.", example: 'demo' })

/** A name for people: only characters that any database can store and no terminal interprets. */
export const nameSchema = z
  .string()
  .refine(
    (name) => /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name),
    'expected 1 to 64 characters, none of them a control character',
  )
  // For programs that read patterns without the flag `u`.
  .meta({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })

/** A user as shown to administrators. */
export const userSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(['player', 'admin']),
  disabled: z.boolean().describe('Whether all credentials of the user are rejected.'),
  qq: z.int().nullable().describe('The score sync account.'),
  balance: z.int().describe('In credits.'),
  createdAt: z.iso.datetime(),
})
export type UserRecord = Readonly<z.output<typeof userSchema>>

/** The columns for {@link toUserRecord}. */
export const USER_COLUMNS = ['id', 'name', 'role', 'disabled', 'qq', 'balance', 'created_at'] as const

type UserRow = Pick<Selectable<Tables['users']>, (typeof USER_COLUMNS)[number]>

export function toUserRecord({ disabled, created_at, ...row }: UserRow): UserRecord {
  return { ...row, disabled: disabled === 1, createdAt: instantText(created_at) }
}

/** Users. Callers are identified on a connection whose reads don't wait for writes. */
export class UserRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns a user. Invalid ids are not looked up, because some databases reject them. */
  async find(id: string): Promise<StoredUser | undefined> {
    if (!userIdSchema.safeParse(id).success) return undefined
    const row = await readerOf(this.#db)
      .selectFrom('users')
      .select(['id', 'name', 'role', 'disabled'])
      .where('id', '=', id)
      .executeTakeFirst()
    return row && { ...row, disabled: row.disabled === 1 }
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async require(id: string): Promise<StoredUser> {
    const user = await this.find(id)
    if (user === undefined) throw noSuchUser()
    return user
  }

  /** Returns a user, and creates an unknown one as a player. */
  async findOrCreate(id: string): Promise<StoredUser> {
    const known = await this.find(id)
    if (known !== undefined) return known
    const user: StoredUser = { id, name: id, role: 'player', disabled: false }
    if (await this.create(user)) return user
    // Another request has just created the user.
    return (await this.find(id)) ?? user
  }

  /** Creates a user. Returns `false` if the id is taken. */
  async create({ id, name, role }: User): Promise<boolean> {
    const now = this.#clock.now()
    const { numInsertedOrUpdatedRows = 0n } = await this.#db
      .insertInto('users')
      .values({ id, name, role, created_at: now, touched_at: now })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }
}

export function noSuchUser(): HttpError {
  return new HttpError('not_found', 'Unknown user.')
}

/** The tables with users' rows. Scores of upload sessions are deleted with their sessions. */
const OF_USERS = [
  'tokens',
  'tickets',
  'items',
  'gates',
  'idempotency_keys',
  'source_imports',
  'upload_sessions',
  'usage_records',
  'usage_days',
] as const satisfies readonly (keyof Tables)[]

/**
 * Deletes a user and the user's rows. What bots reported about a linked account stays. Snapshots that wrote the user's
 * scores expire. The audit trail stays.
 */
export async function forgetUser(db: Transaction<Tables>, userId: string): Promise<void> {
  for (const table of OF_USERS) await db.deleteFrom(table).where('user_id', '=', userId).execute()
  await db.deleteFrom('scores').where('owner', '=', userId).execute()
  const snapshots = db.updateTable('sync_snapshots').where('user_id', '=', userId)
  await snapshots.where('state', '=', 'open').set({ state: 'expired' }).execute()
  await snapshots.set({ user_id: null }).execute()
  await db.deleteFrom('users').where('id', '=', userId).execute()
}

/** What lists of users can be sorted by. All but the ids come first where they are highest. */
export const USER_ORDERS = ['id', 'tokens', 'refusals', 'lastSeen'] as const

interface UserSearch {
  /** The beginning of an id or name, in any case, or a whole score sync account; absent: all users. */
  readonly text: string | undefined
  readonly order: (typeof USER_ORDERS)[number]
  /** Lists users after this place: what the list is sorted by, 0 for ids, and the id. */
  readonly after: { readonly value: number; readonly id: string } | undefined
  readonly limit: number
}

/**
 * Lists users, with what each did today and last. By id and with a text, it reads along an index: no further than
 * necessary, or only users who match. In another order, it reads all of them.
 */
export async function listUsers(db: Db, { text, order, after, limit }: UserSearch, day: number) {
  const lastAt = sql<number | null>`(select max(last_at) from usage_days where usage_days.user_id = found.id)`
  const tokens = sql<number>`coalesce(today.tokens, 0)`
  const refusals = sql<number>`coalesce(today.refusals, 0)`
  const value = { id: sql<number>`0`, tokens, refusals, lastSeen: sql<number>`coalesce(${lastAt}, 0)` }[order]
  const everybody = matching(db, text)
    .leftJoin('usage_days as today', (join) => join.onRef('today.user_id', '=', 'found.id').on('today.day', '=', day))
    .select(USER_COLUMNS)
    .select([tokens.as('tokens'), refusals.as('refusals'), lastAt.as('lastAt'), value.as('value')])
    .limit(limit)
  const sorted = order === 'id' ? everybody : everybody.orderBy(value, 'desc')
  const behind =
    after === undefined
      ? sorted
      : sorted.where(({ or, and, eb }) => {
          const isLater = eb('found.id', '>', after.id)
          return order === 'id'
            ? isLater
            : or([eb(value, '<', after.value), and([eb(value, '=', after.value), isLater])])
        })
  const rows = await behind.orderBy('found.id').execute()
  return rows.map(({ tokens, refusals, lastAt, value, ...row }) => ({
    user: toUserRecord(row),
    tokensToday: Number(tokens),
    refusalsToday: Number(refusals),
    lastSeenAt: lastAt === null ? null : instantText(Number(lastAt)),
    /** What the list is sorted by. */
    value: Number(value),
  }))
}

/** How many users a search finds. */
export async function countUsers(db: Db, text: string | undefined): Promise<number> {
  const { count } = await matching(db, text)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The last character: no text that begins with another one comes behind it followed by this. */
const LAST = '\u{10ffff}'

/** All users, or those who match: a union, so that each part is read along its own index. */
function matching(db: Db, text: string | undefined) {
  const users = db.selectFrom('users').select(USER_COLUMNS)
  if (text === undefined) return db.selectFrom(users.as('found'))
  const beginning = (column: 'id' | 'name') => {
    const folded = sql`lower(${sql.ref(column)}) collate "BINARY"`
    return users.where(sql<boolean>`${folded} >= lower(${text}) and ${folded} < lower(${text}) || ${LAST}`)
  }
  const named = beginning('id').union(beginning('name'))
  return db.selectFrom(
    (/^\d{5,12}$/.test(text) ? named.union(users.where('qq', '=', Number(text))) : named).as('found'),
  )
}
