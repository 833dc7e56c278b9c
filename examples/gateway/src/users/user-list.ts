import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { StoredUser } from '../http/user.ts'

/** A user as administrators see one. */
export interface UserRecord extends StoredUser {
  readonly qq: number | null
  readonly balance: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** The columns of a record, for {@link toUserRecord}. */
export const USER_COLUMNS = ['id', 'name', 'role', 'disabled', 'qq', 'balance', 'created_at as createdAt'] as const

type UserRow = Omit<UserRecord, 'disabled'> & { readonly disabled: 0 | 1 }

export function toUserRecord(row: UserRow): UserRecord {
  return { ...row, disabled: row.disabled === 1 }
}

export interface UserSearch {
  /** Part of an id or a name, in small letters or capitals; absent: everybody. */
  readonly text: string | undefined
  /** The id that the list goes on behind. */
  readonly after: string | undefined
  readonly limit: number
}

/** Users in the order of their ids. Walks along the primary key from `after` on, and no further than it has to. */
export async function listUsers(db: Db, { text, after, limit }: UserSearch): Promise<UserRecord[]> {
  const everybody = db.selectFrom('users').select(USER_COLUMNS).orderBy('id').limit(limit)
  const behind = after === undefined ? everybody : everybody.where('id', '>', after)
  if (text === undefined) return (await behind.execute()).map(toUserRecord)
  const pattern = `%${text.replaceAll(/[!%_]/g, '!$&')}%`
  const found = await behind
    .where(({ or }) =>
      or([
        sql<boolean>`lower(id) like lower(${pattern}) escape '!'`,
        sql<boolean>`lower(name) like lower(${pattern}) escape '!'`,
      ]),
    )
    .execute()
  return found.map(toUserRecord)
}
