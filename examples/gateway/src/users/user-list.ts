import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { User } from './user.ts'

/** A user as administrators see one. */
export interface UserRecord extends User {
  readonly qq: number | null
  readonly balance: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export const USER_COLUMNS = ['id', 'name', 'role', 'qq', 'balance', 'created_at as createdAt'] as const

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
  if (text === undefined) return behind.execute()
  const pattern = `%${text.replaceAll(/[!%_]/g, '!$&')}%`
  return behind
    .where(({ or }) =>
      or([
        sql<boolean>`lower(id) like lower(${pattern}) escape '!'`,
        sql<boolean>`lower(name) like lower(${pattern}) escape '!'`,
      ]),
    )
    .execute()
}
