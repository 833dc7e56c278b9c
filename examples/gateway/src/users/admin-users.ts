import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Audited, AuditLog, Doer } from '../audit/audit.ts'
import { beijingDay } from '../beijing-day.ts'
import type { Db, Tables } from '../db/schema.ts'
import { contentEtag, type Precondition } from '../http/etag.ts'
import { HttpError } from '../http/http-error.ts'
import type { User } from '../http/request-context.ts'
import {
  countUsers,
  forgetUser,
  type ListedUser,
  listUsers,
  noSuchUser,
  toUserRecord,
  USER_COLUMNS,
  type UserRecord,
  UserRepository,
  type UserSearch,
} from './user-repository.ts'

/** The largest balance, in credits. */
export const MAX_BALANCE = 1_000_000_000

/** A change of a user. Absent members stay as they are. */
export interface UserChange {
  readonly name?: string | undefined
  readonly role?: User['role'] | undefined
  /** `true`: rejects all credentials of the user from the next request on, in every process. */
  readonly disabled?: boolean | undefined
  /** `null`: unlinks the score sync account. */
  readonly qq?: number | null | undefined
}

/** Credits to add, or the new balance. With `from`, the balance is only set if it is still this. */
export type BalanceChange = { readonly add: number } | { readonly set: number; readonly from?: number | undefined }

export interface AdminUsersOptions {
  readonly db: Db
  readonly clock: Clock
  readonly audit: AuditLog
  /**
   * Called after each change with a score sync account, even if it was already linked. So repeating the change repeats
   * a failed call.
   */
  readonly onLinked?: ((userId: string, qq: number) => Promise<void>) | undefined
  /** Called before a user is deleted. Removes data outside the user's tables. */
  readonly onDelete?: ((userId: string, by: Doer) => Promise<void>) | undefined
}

/** Operations of administrators on users. */
export class AdminUsers {
  readonly #options: AdminUsersOptions

  constructor(options: AdminUsersOptions) {
    this.#options = options
  }

  list(search: UserSearch): Promise<ListedUser[]> {
    const { db, clock } = this.#options
    return listUsers(db, search, beijingDay(clock.now()))
  }

  count(text: string | undefined): Promise<number> {
    return countUsers(this.#options.db, text)
  }

  /** @throws {HttpError} `not_found` */
  async get(id: string): Promise<UserRecord> {
    const user = await this.#options.db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst()
    if (user === undefined) throw noSuchUser()
    return toUserRecord(user)
  }

  /** Creates a user. Returns `false` if the id is taken. */
  async create(user: User, by: Doer): Promise<boolean> {
    const { audit, clock } = this.#options
    return audit.change(by, async ({ db, note }) => {
      const isNew = await new UserRepository(db, clock).create(user)
      const { id: subject, ...after } = user
      if (isNew) note({ action: 'user.create', subject, before: null, after: { ...after, disabled: false, qq: null } })
      return isNew
    })
  }

  /**
   * Creates or changes a user.
   *
   * @param precondition called with the user's ETag while the user is locked
   * @throws {HttpError} `conflict` if the score sync account belongs to another user, or if no administrator would be
   * left; errors of the precondition
   */
  async put(
    id: string,
    change: UserChange,
    by: Doer,
    precondition: Precondition = () => false,
  ): Promise<{ readonly isNew: boolean; readonly user: UserRecord }> {
    const { audit, onLinked } = this.#options
    const result = await audit.change(by, (audited) => this.#put(audited, id, change, precondition))
    const { qq } = change
    if (onLinked !== undefined && qq !== undefined && qq !== null) await onLinked(id, qq)
    return result
  }

  async #put(
    { db, note }: Audited,
    id: string,
    change: UserChange,
    precondition: Precondition,
  ): Promise<{ isNew: boolean; user: UserRecord }> {
    const { name = id, role = 'player' } = change
    const isNew = await new UserRepository(db, this.#options.clock).create({ id, name, role })
    const before = await userOf(db, id)
    precondition(isNew ? undefined : userEtag(before))
    if (typeof change.qq === 'number') await refuseLinked(db, id, change.qq)
    const user = { ...before, ...given(change) }
    if (isAdmin(before) && !isAdmin(user)) await requireAnotherAdmin(db, id)
    const { name: newName, role: newRole, qq } = user
    await db
      .updateTable('users')
      .set({ name: newName, role: newRole, disabled: user.disabled ? 1 : 0, qq })
      .where('id', '=', id)
      .execute()
    const [old, now] = [shown(before), shown(user)]
    if (isNew) note({ action: 'user.create', subject: id, before: null, after: now })
    else if (JSON.stringify(old) !== JSON.stringify(now)) {
      note({ action: 'user.change', subject: id, before: old, after: now })
    }
    return { isNew, user }
  }

  /**
   * Deletes a user and all data of the user.
   *
   * @throws {HttpError} `not_found`; `conflict` if no administrator would be left; errors of the precondition
   */
  async remove(id: string, by: Doer, precondition: Precondition = () => false): Promise<void> {
    const { audit, clock, onDelete } = this.#options
    const found = await this.get(id)
    precondition(userEtag(found))
    // Before anything is removed. The transaction checks it again.
    if (isAdmin(found)) await requireAnotherAdmin(this.#options.db, id)
    // First, so that after a failure the user can be deleted again. A new user with the same id must find nothing.
    await onDelete?.(id, by)
    await audit.change(by, async ({ db, note }) => {
      // This write waits for the user's own transactions. Later ones find no user.
      const row = await db
        .updateTable('users')
        .set({ touched_at: clock.now() })
        .where('id', '=', id)
        .returning(USER_COLUMNS)
        .executeTakeFirst()
      if (row === undefined) throw noSuchUser()
      const before = toUserRecord(row)
      precondition(userEtag(before))
      if (isAdmin(before)) await requireAnotherAdmin(db, id)
      await forgetUser(db, id)
      note({ action: 'user.delete', subject: id, before: shown(before), after: null })
    })
  }

  /**
   * Changes a balance, and returns the new one.
   *
   * @throws {HttpError} `not_found`; `precondition_failed` if the balance isn't `from`; `conflict` if it would be
   * negative or too large
   */
  async changeBalance(id: string, change: BalanceChange, by: Doer): Promise<number> {
    const { audit, clock } = this.#options
    return audit.change(by, async ({ db, note }) => {
      // Transactions on a player's data start with a write, which waits for the others.
      const row = await db
        .updateTable('users')
        .set({ touched_at: clock.now() })
        .where('id', '=', id)
        .returning('balance')
        .executeTakeFirst()
      if (row === undefined) throw noSuchUser()
      if ('set' in change && change.from !== undefined && change.from !== row.balance) {
        throw new HttpError('precondition_failed', `The balance is ${row.balance} by now, and not ${change.from}.`)
      }
      const balance = 'set' in change ? change.set : row.balance + change.add
      if (balance < 0 || balance > MAX_BALANCE) {
        const msg = `The balance is ${row.balance}: it would become ${balance}, and may be 0 to ${MAX_BALANCE}.`
        throw new HttpError('conflict', msg)
      }
      if (balance === row.balance) return balance
      await db.updateTable('users').set({ balance }).where('id', '=', id).execute()
      note({ action: 'balance.change', subject: id, before: { balance: row.balance }, after: { balance } })
      return balance
    })
  }
}

async function userOf(db: Transaction<Tables>, id: string): Promise<UserRecord> {
  return toUserRecord(await db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirstOrThrow())
}

async function refuseLinked(db: Transaction<Tables>, id: string, qq: number): Promise<void> {
  const other = await db.selectFrom('users').select('id').where('qq', '=', qq).where('id', '!=', id).executeTakeFirst()
  if (other !== undefined) throw new HttpError('conflict', `The account ${qq} is linked to the user ${other.id}.`)
}

/** Whether a user can administer. */
function isAdmin({ role, disabled }: UserRecord): boolean {
  return role === 'admin' && !disabled
}

/**
 * Requires another administrator. Transactions run one after the other, so two administrators can't give up their roles
 * together.
 */
async function requireAnotherAdmin(db: Db | Transaction<Tables>, id: string): Promise<void> {
  const other = await db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled', '=', 0)
    .where('id', '!=', id)
    .executeTakeFirst()
  if (other === undefined) {
    throw new HttpError('conflict', 'This is the last administrator: give another user the role first.')
  }
}

function given({ name, role, disabled, qq }: UserChange): Partial<UserRecord> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(qq === undefined ? {} : { qq }),
  }
}

/** Returns the ETag of what administrators set. It excludes the balance, which players change themselves. */
export function userEtag(user: UserRecord): string {
  return contentEtag(shown(user))
}

function shown({ name, role, disabled, qq }: UserRecord): object {
  return { name, role, disabled, qq }
}
