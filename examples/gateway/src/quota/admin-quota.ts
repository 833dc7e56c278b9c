import {
  type Fault,
  type Quota,
  QuotaError,
  type QuotaStatus,
  type ResetOptions,
  type Settings,
  type Subject,
  type SubjectSettings,
  type VersionedSettings,
  type WriteOptions,
} from '@scoregw/quota'
import type { DeepPartial, SettingsUpdate } from '@scoregw/quota/store'
import type { AuditLog, Doer } from '../audit/audit-log.ts'
import { type Expected, expectedRevision, lostRace, type Version } from '../http/etag.ts'
import { type Detail, invalid } from '../http/http-error.ts'
import type { User } from '../http/request-context.ts'
import type { UserRepository } from '../users/user-repository.ts'
import { type QuotaDocuments, quotaDocuments } from './documents.ts'
import { outerPath, ownLayers, subjectsOf } from './layer-members.ts'
import type { OperationName } from './policy.ts'
import { isSlots, mostAtOnce } from './policy-limits.ts'
import type { SettingsDocument } from './settings-documents.ts'
import type { UserQuotaDocument } from './user-quota-documents.ts'

/** A document with its version and revision. */
export interface Versioned<T> {
  readonly at: Version
  readonly document: T
}

type Warned = { readonly warnings: readonly Detail[] }

/** Identifies a user's quota in a layer; without a layer, in the first one that isn't shared. */
export interface Place {
  readonly userId: string
  readonly layer?: string | undefined
}

/** Operations of administrators on quotas. */
export class AdminQuota {
  /** The schemas of requests and responses. */
  readonly documents: QuotaDocuments
  readonly #quota: Quota<OperationName>
  readonly #users: UserRepository
  readonly #audit: AuditLog
  readonly #subjectOf: (userId: string) => Subject

  constructor(quota: Quota<OperationName>, users: UserRepository, audit: AuditLog) {
    this.documents = quotaDocuments(quota.policy)
    this.#quota = quota
    this.#users = users
    this.#audit = audit
    this.#subjectOf = subjectsOf(quota.policy)
  }

  async settings(): Promise<Versioned<SettingsDocument>> {
    // Read first, so that the faults belong to this document or a newer one.
    const settings = await this.#quota.settings.get()
    return this.#shown(settings, await this.#quota.settings.faults())
  }

  /** @throws {HttpError} `precondition_failed`, `validation_failed` */
  async replaceSettings(
    settings: Settings,
    expected: Expected,
    by: User,
  ): Promise<Versioned<SettingsDocument & Warned>> {
    return this.#changed(expected, by, (options) => this.#quota.settings.replace(settings, options))
  }

  /**
   * Applies a merge patch to the document, if it is the expected one.
   *
   * @throws {HttpError} `precondition_failed`, `validation_failed`
   */
  async patchSettings(patch: object, expected: Expected, by: User): Promise<Versioned<SettingsDocument & Warned>> {
    return this.#changed(expected, by, (options) =>
      this.#quota.settings.update(this.documents.settings.patchOf(patch), options),
    )
  }

  async #changed(
    expected: Expected,
    by: User,
    change: (options: WriteOptions) => Promise<SettingsUpdate>,
  ): Promise<Versioned<SettingsDocument & Warned>> {
    const options = { ifRevision: expectedRevision(expected, await this.#quota.settings.get()), by: by.id }
    const update = await answering(() => change(options))
    const { at, document } = this.#shown(update.settings, await this.#quota.settings.faults())
    return { at, document: { ...document, warnings: update.warnings.map(toDetail) } }
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async userQuota({ userId, layer }: Place): Promise<Versioned<UserQuotaDocument>> {
    await this.#users.require(userId)
    const stored = await this.#quota.subjects.get(userId, { layer })
    return { at: stored, document: this.documents.userQuota.of(stored) }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async replaceUserQuota(
    place: Place,
    settings: DeepPartial<SubjectSettings>,
    expected: Expected,
    by: User,
  ): Promise<Versioned<UserQuotaDocument & Warned>> {
    const { at } = await this.userQuota(place)
    const { userId, layer } = place
    const options = { ifRevision: expectedRevision(expected, at), by: by.id, layer }
    const stored = await answering(() => this.#quota.subjects.set(userId, settings, options))
    const document = this.documents.userQuota.of(stored)
    return { at: stored, document: { ...document, warnings: await this.#warningsOf(document) } }
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async removeUserQuota(place: Place, expected: Expected, by: User): Promise<void> {
    const { at } = await this.userQuota(place)
    const { userId, layer } = place
    const options = { ifRevision: expectedRevision(expected, at), by: by.id, layer }
    await answering(() => this.#quota.subjects.remove(userId, options))
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async status(userId: string): Promise<QuotaStatus> {
    await this.#users.require(userId)
    return this.#quota.status(this.#subjectOf(userId))
  }

  /**
   * Resets what a user has used. Returns the new status.
   *
   * @throws {HttpError} `not_found` for an unknown user
   */
  async reset(userId: string, options: ResetOptions, by: User): Promise<QuotaStatus> {
    const before = usedOf(await this.status(userId))
    // Counters may be outside the database, so the audit entry comes first. An entry without a reset does less harm than
    // a reset without an entry.
    await this.#audit.record(by.id, { action: 'quota.reset', subject: userId, before, after: { reset: options } })
    const subject = this.#subjectOf(userId)
    await this.#quota.reset(subject, options)
    return this.#quota.status(subject)
  }

  /** Removes the overrides and releases the holds of a user who will be deleted. */
  async forget(userId: string, by: Doer): Promise<void> {
    for (const layer of ownLayers(this.#quota.policy)) {
      const { version } = await this.#quota.subjects.get(userId, { layer })
      if (version > 0) await this.#quota.subjects.remove(userId, { by, layer })
    }
    const subject = this.#subjectOf(userId)
    try {
      for (const { ref } of await this.#quota.holds.list(subject)) await this.#quota.holds.release(subject, ref)
    } catch (error) {
      if (!(error instanceof QuotaError) || error.code !== 'holds_unsupported') throw error
    }
  }

  #shown(settings: VersionedSettings, faults: readonly Fault[]): Versioned<SettingsDocument> {
    const document = this.documents.settings.of(settings)
    return { at: settings, document: faults.length === 0 ? document : { ...document, faults: faults.map(toDetail) } }
  }

  /** Warns of overrides below an operation's price, which the user can then never run. */
  async #warningsOf({ overrides }: UserQuotaDocument): Promise<Detail[]> {
    const { prices } = await this.#quota.settings.get()
    const operations = Object.entries(this.#quota.policy.operations)
    return Object.entries(overrides).flatMap(([category, windows]) =>
      Object.entries(windows).flatMap(([window, limit]) => {
        if (limit === null) return []
        // Slots have no price.
        if (isSlots(this.#quota.policy, window)) return []
        const most = mostAtOnce(this.#quota.policy, window, limit)
        const tooDear = operations.filter(([name, of]) => of.category === category && (prices[name] ?? of.cost) > most)
        if (tooDear.length === 0) return []
        const names = tooDear.map(([name]) => name).join(', ')
        const burst = most < limit ? `, which lets ${most} through together,` : ''
        const msg = `the override of ${limit} tokens${burst} is below the price of ${names}`
        return [{ path: `overrides.${category}.${window}`, msg }]
      }),
    )
  }
}

/** Used tokens by category, scope and window. */
function usedOf({ windows }: QuotaStatus): object {
  const entries = Object.entries(windows).map(([category, list]) => {
    const used = list.map(({ scope, window, used: tokens }) => [`${scope} ${window}`, tokens] as const)
    return [category, Object.fromEntries(used)] as const
  })
  return { used: Object.fromEntries(entries) }
}

function toDetail({ path, message }: Fault): Detail {
  return { path: outerPath(path), msg: message }
}

/** Converts the library's errors to the gateway's. */
async function answering<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    if (error.code === 'settings_conflict') throw lostRace()
    if (error.code !== 'invalid_settings') throw error
    throw invalid(error.faults.map(toDetail))
  }
}
