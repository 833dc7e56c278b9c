import { type Quota, QuotaError, type QuotaStatus, type ResetOptions } from '@scoregw/quota'
import type { AuditLog } from '../audit/audit-log.ts'
import { type Expected, expectedVersion, lostRace } from '../http/etag.ts'
import { type Detail, HttpError, invalid } from '../http/http-error.ts'
import type { User } from '../users/user.ts'
import type { UserRepository } from '../users/user-repository.ts'
import {
  fromSettings,
  fromSubjectSettings,
  outerPath,
  type SettingsBody,
  type SettingsDocument,
  toSettings,
  toSubjectSettings,
  type UserQuotaBody,
  type UserQuotaDocument,
} from './documents.ts'
import { gatewayPolicy, OPERATION_NAMES, type OperationName } from './policy.ts'

/** A user's document with its version. */
export interface VersionedUserQuota {
  readonly version: number
  readonly document: UserQuotaDocument
}

/** What administrators do with quotas. */
export class AdminQuota {
  readonly #quota: Quota<OperationName>
  readonly #users: UserRepository
  readonly #audit: AuditLog

  constructor(quota: Quota<OperationName>, users: UserRepository, audit: AuditLog) {
    this.#quota = quota
    this.#users = users
    this.#audit = audit
  }

  async settings(): Promise<SettingsDocument> {
    return fromSettings(await this.#quota.settings.get())
  }

  /** @throws {HttpError} `precondition_failed`, `validation_failed` */
  async replaceSettings(
    body: SettingsBody,
    expected: Expected,
    by: User,
  ): Promise<SettingsDocument & { warnings: Detail[] }> {
    const { version } = await this.#quota.settings.get()
    const options = { ifVersion: expectedVersion(expected, version), by: by.id }
    const update = await answering(() => this.#quota.settings.replace(toSettings(body), options))
    const warnings = update.warnings.map(({ path, message }) => ({ path: outerPath(path), msg: message }))
    return { ...fromSettings(update.settings), warnings }
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async userQuota(userId: string): Promise<VersionedUserQuota> {
    await this.requireUser(userId)
    const stored = await this.#quota.subjects.get(userId)
    return { version: stored.version, document: fromSubjectSettings(stored) }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async replaceUserQuota(
    userId: string,
    body: UserQuotaBody,
    expected: Expected,
    by: User,
  ): Promise<VersionedUserQuota & { readonly warnings: Detail[] }> {
    const { version } = await this.userQuota(userId)
    const options = { ifVersion: expectedVersion(expected, version), by: by.id }
    const stored = await answering(() => this.#quota.subjects.set(userId, toSubjectSettings(body), options))
    const document = fromSubjectSettings(stored)
    return { version: stored.version, document, warnings: await this.#warningsOf(document) }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async removeUserQuota(userId: string, expected: Expected, by: User): Promise<void> {
    const { version } = await this.userQuota(userId)
    const options = { ifVersion: expectedVersion(expected, version), by: by.id }
    await answering(() => this.#quota.subjects.remove(userId, options))
  }

  /**
   * Forgives what a user has used; answers what is left of it.
   * @throws {HttpError} `not_found` for an unknown user
   */
  async reset(userId: string, options: ResetOptions, by: User): Promise<QuotaStatus> {
    await this.requireUser(userId)
    const before = usedOf(await this.#quota.status(userId))
    // Counters are not in the database. Written down first: a record of nothing harms less than a reset without one.
    await this.#audit.record(by.id, { action: 'quota.reset', subject: userId, before, after: { reset: options } })
    await this.#quota.reset(userId, options)
    return this.#quota.status(userId)
  }

  /** @throws {HttpError} `not_found` */
  async requireUser(userId: string): Promise<void> {
    if ((await this.#users.find(userId)) === undefined) throw new HttpError('not_found', 'There is no such user.')
  }

  /** Overrides below the price of an operation, which make it impossible for the user. */
  async #warningsOf({ overrides }: UserQuotaDocument): Promise<Detail[]> {
    const { prices } = await this.#quota.settings.get()
    const priceOf = (name: OperationName): number => prices[name] ?? gatewayPolicy.operations[name].cost
    return Object.entries(overrides).flatMap(([category, windows]) => {
      const operations = OPERATION_NAMES.filter((name) => gatewayPolicy.operations[name].category === category)
      return Object.entries(windows).flatMap(([window, limit]) => {
        const tooDear = operations.filter((name) => limit !== null && priceOf(name) > limit)
        if (tooDear.length === 0) return []
        const msg = `the override of ${limit} tokens is below the price of ${tooDear.join(', ')}`
        return [{ path: `overrides.${category}.${window}`, msg }]
      })
    })
  }
}

/** Tokens used, by category, scope and window. */
function usedOf({ windows }: QuotaStatus): object {
  const entries = Object.entries(windows).map(([category, list]) => {
    const used = list.map(({ scope, window, used: tokens }) => [`${scope} ${window}`, tokens] as const)
    return [category, Object.fromEntries(used)] as const
  })
  return { used: Object.fromEntries(entries) }
}

/** Tells the library's errors in the gateway's terms. */
async function answering<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    if (error.code === 'settings_conflict') throw lostRace()
    if (error.code !== 'invalid_settings') throw error
    throw invalid(error.faults.map(({ path, message }) => ({ path: outerPath(path), msg: message })))
  }
}
