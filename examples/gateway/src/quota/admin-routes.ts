import { QuotaError, type SubjectSettings } from '@scoregw/quota'
import { type Fault, initialSettings, type Versioned } from '@scoregw/quota/internal'
import * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit.ts'
import { changed, type Precondition, preconditionOf } from '../http/etag.ts'
import { type Detail, invalid, strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import type { UserRepository } from '../users/user-repository.ts'
import {
  settingsAnswer,
  settingsBody,
  settingsDocument,
  settingsDocumentOf,
  settingsOf,
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

const SETTINGS = '/admin/quota/settings'
const USER_QUOTA = '/admin/users/:id/quota'

interface AdminQuotaDeps {
  readonly quota: GatewayQuota
  readonly users: UserRepository
  readonly audit: AuditLog
}

/** Routes for administrators: the quotas of all users and of single ones. */
export function adminQuotaRoutes({ quota, users, audit }: AdminQuotaDeps): Route[] {
  return [
    adminRoute(`GET ${SETTINGS}`, {
      id: 'readSettings',
      summary: 'The settings of all users',
      description: 'Mode, base values, site layer and prices. Send the `ETag` as `If-Match` of a change.',
      errors: ['quota_unavailable'],
      answerHeaders: ['ETag'],
      answer: settingsDocument,
      async handle() {
        const stored = await quota.settings.get()
        return { headers: { ETag: etagOf(stored) }, body: settingsDocumentOf(stored) }
      },
    }),
    adminRoute(`PUT ${SETTINGS}`, {
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
      requestHeaders: ['If-Match'],
      answerHeaders: ['ETag'],
      body: settingsBody,
      answer: settingsAnswer,
      async handle({ req, input, user }) {
        const ifRevision = revisionIn(await quota.settings.get(), preconditionOf(req, true))
        const options = { ifRevision, by: user.id }
        const { settings, warnings } = await answering(() => quota.settings.replace(settingsOf(input), options))
        const body = { ...settingsDocumentOf(settings), warnings: warnings.map(detailOf) }
        return { headers: { ETag: etagOf(settings) }, body }
      },
    }),
    adminRoute(`GET ${USER_QUOTA}`, {
      id: 'readUserQuota',
      summary: "A user's overrides",
      description: 'Six limits, `null` where the user follows the default, and whether the site layer is bypassed.',
      errors: ['quota_unavailable'],
      params: userParams,
      answerHeaders: ['ETag'],
      answer: userQuotaDocument,
      async handle({ params: { id } }) {
        await users.require(id)
        const stored = await quota.subjects.get(id)
        return { headers: { ETag: etagOf(stored) }, body: userQuotaOf(stored) }
      },
    }),
    adminRoute(`PUT ${USER_QUOTA}`, {
      id: 'replaceUserQuota',
      summary: "Replace a user's overrides",
      description: 'Absent members get their default, so `{}` removes all overrides. `If-Match` is optional.',
      errors: ['quota_unavailable'],
      example: { overrides: { write: { '1h': 120 } } },
      params: userParams,
      requestHeaders: ['If-Match'],
      answerHeaders: ['ETag'],
      body: userQuotaBody,
      answer: userQuotaAnswer,
      async handle({ req, params: { id }, input: { overrides, bypassSite }, user }) {
        const precondition = preconditionOf(req)
        await users.require(id)
        const options = { ifRevision: revisionIn(await quota.subjects.get(id), precondition), by: user.id }
        const given = { limits: namedOf({ personal: overrides }), bypass: { site: bypassSite } }
        const stored = await answering(() => quota.subjects.set(id, given, options))
        const body = { ...userQuotaOf(stored), warnings: await warningsOf(quota, stored.limits) }
        return { headers: { ETag: etagOf(stored) }, body }
      },
    }),
    adminRoute(`GET ${USER_QUOTA}/status`, {
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
    adminRoute(`POST ${USER_QUOTA}/reset`, {
      id: 'resetUserQuota',
      summary: "Reset a user's usage",
      description: "Closes the user's windows in one category or all. Those of the site belong to all users.",
      errors: ['quota_unavailable'],
      example: { category: 'write' },
      params: userParams,
      body: resetBody,
      answer: statusDocument,
      async handle({ params: { id }, input: { layer = 'personal', category }, user }) {
        await users.require(id)
        const { limits } = await quota.status(id)
        const used = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit.used]))
        const after = { reset: { layer, category } }
        // The audit entry comes first, because counters may be outside the database.
        await audit.record(user.id, { action: 'quota.reset', subject: id, before: { used }, after })
        await quota.reset(id, { limits: limitsIn(layer, category) })
        return { body: statusBody(await quota.status(id)) }
      },
    }),
  ]
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

/** The revision that a change must find; `undefined`: any. @throws {HttpError} `precondition_failed` */
function revisionIn(stored: Versioned, precondition: Precondition): string | undefined {
  // A version alone names any document of that version.
  return precondition(etagOf(stored), `"${stored.version}"`) ? stored.revision : undefined
}

function userQuotaOf({ limits, bypass }: SubjectSettings<Tokens>): z.output<typeof userQuotaDocument> {
  return userQuotaDocument.parse({ overrides: tableOf(limits, null).personal, bypassSite: bypass.site === true })
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
