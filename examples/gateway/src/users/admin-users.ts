import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Audited, AuditLog, Doer } from '../audit/audit.ts'
import type { Db, Tables } from '../db/schema.ts'
import { contentEtag, type Precondition } from '../http/etag.ts'
import { HttpError } from '../http/http-error.ts'
import type { User } from '../http/request-context.ts'
import {
  forgetUser,
  noSuchUser,
  toUserRecord,
  USER_COLUMNS,
  type UserRecord,
  UserRepository,
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

  /** @throws {HttpError} `not_found` */
  get(id: string): Promise<UserRecord> {
    return userOf(this.#options.db, id)
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
    const { disabled = before.disabled, qq = before.qq } = change
    const after = { name: change.name ?? before.name, role: change.role ?? before.role, disabled, qq }
    if (isAdmin(before) && !isAdmin(after)) await requireAnotherAdmin(db, id)
    await db
      .updateTable('users')
      .set({ ...after, disabled: disabled ? 1 : 0 })
      .where('id', '=', id)
      .execute()
    if (isNew) note({ action: 'user.create', subject: id, before: null, after })
    else if (JSON.stringify(shown(before)) !== JSON.stringify(after)) {
      note({ action: 'user.change', subject: id, before: shown(before), after })
    }
    return { isNew, user: { ...before, ...after } }
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
      // It waits for the user's own transactions. Later ones find no user.
      const before = await lockUser(db, clock, id)
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
      const { balance: before } = await lockUser(db, clock, id)
      if ('set' in change && change.from !== undefined && change.from !== before) {
        throw new HttpError('precondition_failed', `The balance is ${before} by now, and not ${change.from}.`)
      }
      const balance = 'set' in change ? change.set : before + change.add
      if (balance < 0 || balance > MAX_BALANCE) {
        const msg = `The balance is ${before}: it would become ${balance}, and may be 0 to ${MAX_BALANCE}.`
        throw new HttpError('conflict', msg)
      }
      if (balance === before) return balance
      await db.updateTable('users').set({ balance }).where('id', '=', id).execute()
      note({ action: 'balance.change', subject: id, before: { balance: before }, after: { balance } })
      return balance
    })
  }
}

/** @throws {HttpError} `not_found` */
async function userOf(db: Db, id: string): Promise<UserRecord> {
  const row = await db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw noSuchUser()
  return toUserRecord(row)
}

/** Locks a user's row: transactions on a player's data start with a write too. @throws {HttpError} `not_found` */
async function lockUser(db: Db, clock: Clock, id: string): Promise<UserRecord> {
  const touched = db.updateTable('users').set({ touched_at: clock.now() }).where('id', '=', id)
  const row = await touched.returning(USER_COLUMNS).executeTakeFirst()
  if (row === undefined) throw noSuchUser()
  return toUserRecord(row)
}

async function refuseLinked(db: Transaction<Tables>, id: string, qq: number): Promise<void> {
  const other = await db.selectFrom('users').select('id').where('qq', '=', qq).where('id', '!=', id).executeTakeFirst()
  if (other !== undefined) throw new HttpError('conflict', `The account ${qq} is linked to the user ${other.id}.`)
}

/** Whether a user can administer. */
function isAdmin({ role, disabled }: Pick<UserRecord, 'role' | 'disabled'>): boolean {
  return role === 'admin' && !disabled
}

/**
 * Requires another administrator. Transactions run one after the other, so two administrators can't give up their roles
 * together.
 */
async function requireAnotherAdmin(db: Db, id: string): Promise<void> {
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

/** Returns the ETag of what administrators set. It excludes the balance, which players change themselves. */
export function userEtag(user: UserRecord): string {
  return contentEtag(shown(user))
}

function shown({ name, role, disabled, qq }: UserRecord): object {
  return { name, role, disabled, qq }
}
