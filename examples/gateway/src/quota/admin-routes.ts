import { type Fault, type Quota, QuotaError, type QuotaStatus, type ResetOptions } from '@scoregw/quota'
import type { Request } from 'express'
import * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit.ts'
import {
  type Expected,
  etagOf,
  expectedRevision,
  lostRace,
  parseIfMatch,
  requireIfMatch,
  type Version,
} from '../http/etag.ts'
import { type Detail, invalid } from '../http/http-error.ts'
import type { User } from '../http/request-context.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import type { UserRepository } from '../users/user-repository.ts'
import {
  type SettingsBody,
  type SettingsDocument,
  settingsAnswer,
  settingsBody,
  settingsDocument,
  settingsDocumentOf,
  settingsOf,
  settingsPatch,
  statusDocument,
  type UserQuotaBody,
  type UserQuotaDocument,
  userQuotaAnswer,
  userQuotaBody,
  userQuotaDocument,
} from './documents.ts'
import { OPERATION_NAMES, type OperationName, policy } from './policy.ts'
import { statusBody } from './status-routes.ts'

/** The parameter `:id`. An invalid id isn't found, like any unknown one. */
export const userParams = z.object({ id: z.string().meta({ description: "The user's id.", examples: ['demo'] }) })

const resetBody = z.strictObject({
  layer: z
    .enum(policy.layers.map(({ name }) => name))
    .optional()
    .describe("Default: the user's own."),
  category: z.enum(policy.categories).optional().describe('Default: all.'),
})

/** Routes for administrators: the quotas of all users and of single ones. */
export function adminQuotaRoutes(admin: AdminQuota): Route[] {
  const tag = 'Administration'
  const settings = '/admin/quota/settings'
  const userQuota = '/admin/users/:id/quota'
  return [
    route({
      access: 'admin',
      answerHeaders: ['ETag'],
      method: 'get',
      path: settings,
      docs: {
        id: 'readSettings',
        tag,
        summary: 'The settings of all users',
        description: 'Mode, base values, site layer and prices. Send the `ETag` as `If-Match` of a change.',
        errors: ['quota_unavailable'],
      },
      answer: settingsDocument,
      handle: async () => tagged(await admin.settings()),
    }),
    route({
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      method: 'put',
      path: settings,
      docs: {
        id: 'replaceSettings',
        tag,
        summary: 'Replace the settings of all users',
        description:
          'Send the whole document, without `version`. An invalid one is rejected with all faults. Changes apply immediately.',
        errors: ['precondition_required', 'quota_unavailable'],
        example: {
          mode: 'normal',
          base: policy.base,
          custom: null,
          site: { enabled: true, multiplier: 1 },
          prices: {},
        },
      },
      body: settingsBody,
      answer: settingsAnswer,
      handle: async ({ req, input, user }) =>
        tagged(await admin.replaceSettings(input, requireIfMatch(req.get('If-Match')), user)),
    }),
    route({
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      method: 'patch',
      path: settings,
      docs: {
        id: 'patchSettings',
        tag,
        summary: 'Change a part of the settings of all users',
        description:
          'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`: named members are changed, `null` removes. The result is validated as a whole document.',
        errors: ['precondition_required', 'quota_unavailable'],
        example: { mode: 'normal' },
      },
      body: settingsPatch,
      answer: settingsAnswer,
      handle: async ({ req, input, user }) =>
        tagged(await admin.patchSettings(input, requireIfMatch(req.get('If-Match')), user)),
    }),
    route({
      access: 'admin',
      answerHeaders: ['ETag'],
      method: 'get',
      path: userQuota,
      params: userParams,
      docs: {
        id: 'readUserQuota',
        tag,
        summary: "A user's overrides",
        description: 'Six limits, `null` where the user follows the default, and whether the site layer is bypassed.',
        errors: ['quota_unavailable'],
      },
      answer: userQuotaDocument,
      handle: async ({ params: { id } }) => tagged(await admin.userQuota(id)),
    }),
    route({
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      method: 'put',
      path: userQuota,
      params: userParams,
      docs: {
        id: 'replaceUserQuota',
        tag,
        summary: "Replace a user's overrides",
        description: 'Absent members get their default. `If-Match` is optional.',
        errors: ['quota_unavailable'],
        example: { overrides: { write: { '1h': 120 } } },
      },
      body: userQuotaBody,
      answer: userQuotaAnswer,
      handle: async ({ req, params: { id }, input, user }) =>
        tagged(await admin.replaceUserQuota(id, input, optionalMatch(req), user)),
    }),
    route({
      method: 'delete',
      path: userQuota,
      params: userParams,
      access: 'admin',
      requestHeaders: ['If-Match'],
      docs: {
        id: 'removeUserQuota',
        tag,
        summary: "Remove a user's overrides",
        description: 'The defaults apply to the user again.',
        errors: ['quota_unavailable'],
      },
      answer: z.undefined(),
      async handle({ req, params: { id }, user }) {
        await admin.removeUserQuota(id, optionalMatch(req), user)
        return { status: 204 }
      },
    }),
    route({
      method: 'get',
      path: `${userQuota}/status`,
      params: userParams,
      access: 'admin',
      docs: {
        id: 'userQuotaStatus',
        tag,
        summary: "A user's usage",
        description: "The user's `/me/quota`.",
        errors: ['quota_unavailable'],
      },
      answer: statusDocument,
      handle: async ({ params: { id } }) => ({ body: statusBody(await admin.status(id)) }),
    }),
    route({
      method: 'post',
      path: `${userQuota}/reset`,
      params: userParams,
      access: 'admin',
      docs: {
        id: 'resetUserQuota',
        tag,
        summary: "Reset a user's usage",
        description: "Closes the user's windows in one category or all. Those of the site belong to all users.",
        errors: ['quota_unavailable'],
        example: { category: 'write' },
      },
      body: resetBody,
      answer: statusDocument,
      handle: async ({ params: { id }, input, user }) => ({
        body: statusBody(await admin.reset(id, input, user)),
      }),
    }),
  ]
}

function tagged<T>({ at, body }: { readonly at: Version; readonly body: T }): Reply<T> {
  return { body, headers: { ETag: etagOf(at) } }
}

function optionalMatch(req: Request): Expected {
  const field = req.get('If-Match')
  return field === undefined ? 'any' : parseIfMatch(field)
}

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
