import { QuotaError, type SubjectSettings, type VersionedSettings, type VersionedSubjectSettings } from '@scoregw/quota'
import { type Fault, initialSettings, type Versioned } from '@scoregw/quota/internal'
import * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit.ts'
import { changed, type Precondition, preconditionOf } from '../http/etag.ts'
import { type Detail, detailsOf, HttpError, invalid, strictObject } from '../http/http-error.ts'
import { adminRoute, type Reply, type Route } from '../http/route.ts'
import type { UserRepository } from '../users/user-repository.ts'
import {
  type SettingsBody,
  settingsAnswer,
  settingsBody,
  settingsDocument,
  settingsDocumentOf,
  settingsOf,
  settingsPatch,
  settingsPatchForm,
  statusDocument,
  userQuotaAnswer,
  userQuotaBody,
  userQuotaDocument,
} from './documents.ts'
import { CATEGORIES, LAYERS, limitsIn, namedOf, pathOf, placeOf, tableOf } from './names.ts'
import { categoryOf, type GatewayQuota, OPERATION_NAMES, policy, type Tokens } from './policy.ts'
import { statusBody } from './status-routes.ts'

/** The parameter `:id`. An invalid id isn't found, like any unknown one. */
export const userParams = z.object({ id: z.string().meta({ description: "The user's id.", examples: ['demo'] }) })

const resetBody = strictObject({
  layer: z.enum(LAYERS).optional().describe("Default: the user's own."),
  category: z.enum(CATEGORIES).optional().describe('Default: all.'),
})

/** Routes for administrators: the quotas of all users and of single ones. */
export function adminQuotaRoutes(deps: AdminQuotaDeps): Route[] {
  const { quota, users } = deps
  const settings = '/admin/quota/settings'
  const userQuota = '/admin/users/:id/quota'
  return [
    adminRoute(`GET ${settings}`, {
      id: 'readSettings',
      summary: 'The settings of all users',
      description: 'Mode, base values, site layer and prices. Send the `ETag` as `If-Match` of a change.',
      errors: ['quota_unavailable'],
      answerHeaders: ['ETag'],
      answer: settingsDocument,
      handle: async () => settingsReply(await quota.settings.get()),
    }),
    adminRoute(`PUT ${settings}`, {
      id: 'replaceSettings',
      summary: 'Replace the settings of all users',
      description:
        'Send the whole document, without `version`. An invalid one is rejected with all faults. Changes apply immediately.',
      errors: ['precondition_required', 'quota_unavailable'],
      example: {
        mode: 'normal',
        base: tableOf(initialSettings(policy).limits, 0),
        custom: null,
        site: { enabled: true, multiplier: 1 },
        prices: {},
      },
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body: settingsBody,
      answer: settingsAnswer,
      async handle({ req, input, user }) {
        const ifRevision = revisionIn(await quota.settings.get(), preconditionOf(req, true))
        return replaced(quota, input, { ifRevision, by: user.id })
      },
    }),
    adminRoute(`PATCH ${settings}`, {
      id: 'patchSettings',
      summary: 'Change a part of the settings of all users',
      description:
        'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`: named members are changed, `null` removes. The result is validated as a whole document.',
      errors: ['precondition_required', 'quota_unavailable'],
      example: { mode: 'normal' },
      bodyForm: settingsPatchForm,
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body: settingsPatch,
      answer: settingsAnswer,
      handle: async ({ req, input, user }) => patched(quota, input, preconditionOf(req, true), user.id),
    }),
    adminRoute(`GET ${userQuota}`, {
      id: 'readUserQuota',
      summary: "A user's overrides",
      description: 'Six limits, `null` where the user follows the default, and whether the site layer is bypassed.',
      errors: ['quota_unavailable'],
      answerHeaders: ['ETag'],
      params: userParams,
      answer: userQuotaDocument,
      async handle({ params: { id } }) {
        await users.require(id)
        return userQuotaReply(await quota.subjects.get(id))
      },
    }),
    adminRoute(`PUT ${userQuota}`, {
      id: 'replaceUserQuota',
      summary: "Replace a user's overrides",
      description: 'Absent members get their default. `If-Match` is optional.',
      errors: ['quota_unavailable'],
      example: { overrides: { write: { '1h': 120 } } },
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      params: userParams,
      body: userQuotaBody,
      answer: userQuotaAnswer,
      async handle({ req, params: { id }, input: { overrides, bypassSite }, user }) {
        const precondition = preconditionOf(req)
        await users.require(id)
        const options = { ifRevision: revisionIn(await quota.subjects.get(id), precondition), by: user.id }
        const given = { limits: namedOf({ personal: overrides }), bypass: { site: bypassSite } }
        const stored = await answering(() => quota.subjects.set(id, given, options))
        const { headers, body } = userQuotaReply(stored)
        return { headers, body: { ...body, warnings: await warningsOf(quota, stored.limits) } }
      },
    }),
    adminRoute(`DELETE ${userQuota}`, {
      id: 'removeUserQuota',
      summary: "Remove a user's overrides",
      description: 'The defaults apply to the user again.',
      errors: ['quota_unavailable'],
      params: userParams,
      requestHeaders: ['If-Match'],
      answer: z.undefined(),
      async handle({ req, params: { id }, user }) {
        const precondition = preconditionOf(req)
        await users.require(id)
        const options = { ifRevision: revisionIn(await quota.subjects.get(id), precondition), by: user.id }
        await answering(() => quota.subjects.remove(id, options))
        return { status: 204 }
      },
    }),
    adminRoute(`GET ${userQuota}/status`, {
      id: 'userQuotaStatus',
      summary: "A user's usage",
      description: "The user's `/me/quota`.",
      errors: ['quota_unavailable'],
      params: userParams,
      answer: statusDocument,
      async handle({ params: { id } }) {
        await users.require(id)
        return { body: statusBody(await quota.status(id)) }
      },
    }),
    adminRoute(`POST ${userQuota}/reset`, {
      id: 'resetUserQuota',
      summary: "Reset a user's usage",
      description: "Closes the user's windows in one category or all. Those of the site belong to all users.",
      errors: ['quota_unavailable'],
      example: { category: 'write' },
      params: userParams,
      body: resetBody,
      answer: statusDocument,
      async handle({ params: { id }, input, user }) {
        await users.require(id)
        await reset(deps, id, input, user.id)
        return { body: statusBody(await quota.status(id)) }
      },
    }),
  ]
}

/** What administrators' routes need. */
export interface AdminQuotaDeps {
  readonly quota: GatewayQuota
  readonly users: UserRepository
  readonly audit: AuditLog
}

/** Stores a whole document, and tells which operations it makes impossible. */
async function replaced(
  quota: GatewayQuota,
  body: SettingsBody,
  options: { readonly ifRevision: string | undefined; readonly by: Doer },
): Promise<Reply<z.output<typeof settingsAnswer>>> {
  const { settings, warnings } = await answering(() => quota.settings.replace(settingsOf(body), options))
  const { body: document, headers } = settingsReply(settings)
  return { headers, body: { ...document, warnings: warnings.map(detailOf) } }
}

/** @throws {HttpError} `precondition_failed`, `validation_failed` */
async function patched(
  quota: GatewayQuota,
  patch: object,
  precondition: Precondition,
  by: Doer,
): ReturnType<typeof replaced> {
  for (;;) {
    const stored = await quota.settings.get()
    const isNamed = precondition(etagOf(stored), shortEtagOf(stored))
    const { version: _, ...document } = settingsDocumentOf(stored)
    const { data, error } = settingsBody.safeParse({ ...ABSENT, ...merged(document, patch) })
    if (data === undefined) throw invalid(error.issues.flatMap(detailsOf))
    try {
      return await replaced(quota, data, { ifRevision: stored.revision, by })
    } catch (lost) {
      // Whatever is stored may be patched, also what another write has just stored.
      if (isNamed || !(lost instanceof HttpError) || lost.code !== 'precondition_failed') throw lost
    }
  }
}

/** Resets what a user has used. The audit entry comes first, because counters may be outside the database. */
async function reset(
  { quota, audit }: AdminQuotaDeps,
  userId: string,
  { layer = 'personal', category }: z.output<typeof resetBody>,
  by: Doer,
): Promise<void> {
  const { limits } = await quota.status(userId)
  const used = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit.used]))
  const after = { reset: { layer, category } }
  await audit.record(by, { action: 'quota.reset', subject: userId, before: { used }, after })
  await quota.reset(userId, { limits: limitsIn(layer, category) })
}

/** Removes the overrides and releases the holds of a user who will be deleted. */
export async function forgetQuota(quota: GatewayQuota, userId: string, by: Doer): Promise<void> {
  const { version } = await quota.subjects.get(userId)
  if (version > 0) await quota.subjects.remove(userId, { by })
  for (const { ref } of await quota.holds.list(userId)) await quota.holds.release(userId, ref)
}

/** Warns of overrides below an operation's price, which the user can then never run. */
async function warningsOf(quota: GatewayQuota, limits: SubjectSettings<Tokens>['limits']): Promise<Detail[]> {
  const { prices } = await quota.settings.get()
  return limitsIn('personal').flatMap((name) => {
    const { category, window } = placeOf(name)
    const limit = limits[name]
    const tooDear = OPERATION_NAMES.filter(
      (operation) =>
        typeof limit === 'number' &&
        categoryOf(operation) === category &&
        Number(prices[operation] ?? policy.operations[operation].cost) > limit,
    )
    if (tooDear.length === 0) return []
    const msg = `the override of ${limit} tokens is below the price of ${tooDear.join(', ')}`
    return [{ path: `overrides.${category}.${window}`, msg }]
  })
}

function etagOf({ version, revision }: Versioned): string {
  return revision === '' ? `"${version}"` : `"${version}-${revision}"`
}

/** A version alone names any document of that version. */
function shortEtagOf({ version }: Versioned): string {
  return `"${version}"`
}

/** The revision that a change must find; `undefined`: any. @throws {HttpError} `precondition_failed` */
function revisionIn(stored: Versioned, precondition: Precondition): string | undefined {
  return precondition(etagOf(stored), shortEtagOf(stored)) ? stored.revision : undefined
}

function settingsReply(stored: VersionedSettings<Tokens>) {
  return { headers: { ETag: etagOf(stored) }, body: settingsDocumentOf(stored) }
}

function userQuotaReply(stored: VersionedSubjectSettings<Tokens>) {
  const overrides = tableOf(stored.limits, null).personal
  const body = userQuotaDocument.parse({ overrides, bypassSite: stored.bypass.site === true })
  return { headers: { ETag: etagOf(stored) }, body }
}

/** What a patch leaves of members that it removes. */
const ABSENT = { custom: null, prices: {} }

/** Applies a JSON merge patch (RFC 7396) of an object. */
function merged(document: unknown, patch: object): Record<string, unknown> {
  const members = isObject(document) ? { ...document } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete members[name]
    else members[name] = isObject(value) ? merged(members[name], value) : value
  }
  return members
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function detailOf({ path, message }: Fault): Detail {
  return { path: pathOf(path), msg: message }
}

/** Converts the library's errors to the gateway's. */
async function answering<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    if (error.code === 'settings_conflict') throw changed()
    throw error.code === 'invalid_settings' ? invalid(error.faults.map(detailOf)) : error
  }
}
