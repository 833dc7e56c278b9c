import { type Fault, type Quota, QuotaError, type QuotaStatus, type ResetOptions } from '@scoregw/quota'
import type { AuditLog, Doer } from '../audit/audit.ts'
import { type Expected, expectedRevision, lostRace, type Version } from '../http/etag.ts'
import { type Detail, invalid } from '../http/http-error.ts'
import type { User } from '../http/request-context.ts'
import type { UserRepository } from '../users/user-repository.ts'
import {
  type SettingsBody,
  type SettingsDocument,
  settingsDocumentOf,
  settingsOf,
  type UserQuotaBody,
  type UserQuotaDocument,
  userQuotaDocument,
} from './documents.ts'
import { OPERATION_NAMES, type OperationName, policy } from './policy.ts'

/** A document, and the version to send as `ETag`. */
interface Shown<T> {
  readonly at: Version
  readonly body: T
}

/** Operations of administrators on quotas. */
export class AdminQuota {
  readonly #quota: Quota<OperationName>
  readonly #users: UserRepository
  readonly #audit: AuditLog

  constructor(quota: Quota<OperationName>, users: UserRepository, audit: AuditLog) {
    this.#quota = quota
    this.#users = users
    this.#audit = audit
  }

  async settings(): Promise<Shown<SettingsDocument>> {
    const settings = await this.#quota.settings.get()
    return { at: settings, body: settingsDocumentOf(settings) }
  }

  /** @throws {HttpError} `precondition_failed`, `validation_failed` */
  replaceSettings(body: SettingsBody, expected: Expected, by: User) {
    return this.#changed(expected, by, (options) => this.#quota.settings.replace(settingsOf(body), options))
  }

  /** @throws {HttpError} `precondition_failed`, `validation_failed` */
  patchSettings({ site, ...patch }: { readonly site?: unknown }, expected: Expected, by: User) {
    // The library reports faults of the patch.
    const change: object = { ...withoutDefaults(patch), ...(site === undefined ? {} : { layers: { site } }) }
    return this.#changed(expected, by, (options) => this.#quota.settings.update(change, options))
  }

  async #changed(
    expected: Expected,
    by: User,
    change: (options: { ifRevision: string | undefined; by: string }) => ReturnType<Quota['settings']['update']>,
  ) {
    const options = { ifRevision: expectedRevision(expected, await this.#quota.settings.get()), by: by.id }
    const { settings, warnings } = await answering(() => change(options))
    return { at: settings, body: { ...settingsDocumentOf(settings), warnings: warnings.map(detailOf) } }
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async userQuota(userId: string): Promise<{ at: Version; body: UserQuotaDocument }> {
    await this.#users.require(userId)
    const stored = await this.#quota.subjects.get(userId)
    const { overrides, bypass } = stored
    return { at: stored, body: userQuotaDocument.parse({ overrides, bypassSite: bypass.includes('site') }) }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async replaceUserQuota(userId: string, { overrides, bypassSite }: UserQuotaBody, expected: Expected, by: User) {
    const { at } = await this.userQuota(userId)
    const options = { ifRevision: expectedRevision(expected, at), by: by.id }
    const given = { overrides, bypass: bypassSite ? ['site'] : [] }
    await answering(() => this.#quota.subjects.set(userId, given, options))
    const stored = await this.userQuota(userId)
    return { at: stored.at, body: { ...stored.body, warnings: await this.#warningsOf(stored.body) } }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async removeUserQuota(userId: string, expected: Expected, by: User): Promise<void> {
    const { at } = await this.userQuota(userId)
    const options = { ifRevision: expectedRevision(expected, at), by: by.id }
    await answering(() => this.#quota.subjects.remove(userId, options))
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async status(userId: string): Promise<QuotaStatus> {
    await this.#users.require(userId)
    return this.#quota.status(userId)
  }

  /** Resets what a user has used. The audit entry comes first, because counters may be outside the database. */
  async reset(userId: string, options: ResetOptions, by: User): Promise<QuotaStatus> {
    const { windows } = await this.status(userId)
    const before = { used: Object.fromEntries(Object.entries(windows).map(([name, list]) => [name, usedOf(list)])) }
    await this.#audit.record(by.id, { action: 'quota.reset', subject: userId, before, after: { reset: options } })
    await this.#quota.reset(userId, options)
    return this.#quota.status(userId)
  }

  /** Removes the overrides and releases the holds of a user who will be deleted. */
  async forget(userId: string, by: Doer): Promise<void> {
    const { version } = await this.#quota.subjects.get(userId)
    if (version > 0) await this.#quota.subjects.remove(userId, { by })
    for (const { ref } of await this.#quota.holds.list(userId)) await this.#quota.holds.release(userId, ref)
  }

  /** Warns of overrides below an operation's price, which the user can then never run. */
  async #warningsOf({ overrides }: UserQuotaDocument): Promise<Detail[]> {
    const { prices } = await this.#quota.settings.get()
    const operations = Object.entries(policy.operations)
    return Object.entries(overrides).flatMap(([category, windows]) =>
      Object.entries(windows).flatMap(([window, limit]) => {
        const tooDear = operations.filter(
          ([name, of]) => limit !== null && of.category === category && Number(prices[name] ?? of.cost) > limit,
        )
        if (tooDear.length === 0) return []
        const names = tooDear.map(([name]) => name).join(', ')
        return [
          {
            path: `overrides.${category}.${window}`,
            msg: `the override of ${limit} tokens is below the price of ${names}`,
          },
        ]
      }),
    )
  }
}

/** A price that equals the default isn't stored, so that it follows later defaults. */
function withoutDefaults(patch: { readonly prices?: unknown }): object {
  if (typeof patch.prices !== 'object' || patch.prices === null) return patch
  const prices = Object.entries(patch.prices).map(([name, cost]) => {
    const operation = OPERATION_NAMES.find((each) => each === name)
    return [name, operation !== undefined && cost === policy.operations[operation].cost ? null : cost]
  })
  return { ...patch, prices: Object.fromEntries(prices) }
}

/** Used tokens by scope and window. */
function usedOf(list: QuotaStatus['windows'][string]): object {
  return Object.fromEntries(list.map(({ scope, window, used }) => [`${scope} ${window}`, used]))
}

/** The path of a fault in our documents, which have `site` for the library's `layers.site`. */
export function outerPath(path: string): string {
  return path.replace(/^layers\./, '')
}

function detailOf({ path, message }: Fault): Detail {
  return { path: outerPath(path), msg: message }
}

/** Converts the library's errors to the gateway's. */
async function answering<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    if (error.code === 'settings_conflict') throw lostRace()
    throw error.code === 'invalid_settings' ? invalid(error.faults.map(detailOf)) : error
  }
}
