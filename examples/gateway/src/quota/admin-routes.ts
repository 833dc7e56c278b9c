import { type Quota, quotaStatusBody } from '@scoregw/quota'
import type { Request } from 'express'
import * as z from 'zod'
import { type Expected, etagOf, parseIfMatch, requireIfMatch } from '../http/etag.ts'
import { type Route, route } from '../http/route.ts'
import type { AdminQuota } from './admin-quota.ts'
import {
  settingsBody,
  settingsDocument,
  storedSettingsDocument,
  storedUserQuotaDocument,
  userQuotaBody,
  userQuotaDocument,
} from './documents.ts'
import type { OperationName } from './policy.ts'
import { statusAnswer } from './status-routes.ts'

/** The path's `:id`. An id that no user can have is found nowhere, as any other. */
const userParams = z.object({ id: z.string().meta({ description: "The user's id.", examples: ['demo'] }) })

const resetBody = z.strictObject({
  layer: z.enum(['personal', 'site']).optional().describe('Left out: `personal`.'),
  category: z.enum(['read', 'write']).optional().describe('Left out: both.'),
})

/** The settings that hold until somebody changes them. */
const SETTINGS_EXAMPLE = {
  mode: 'normal',
  base: {
    personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
    site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
  },
  custom: null,
  site: { enabled: true, multiplier: 1 },
  prices: {},
}

/** The quotas of everybody and of single users, for administrators. */
export function adminQuotaRoutes(admin: AdminQuota, quota: Quota<OperationName>): Route[] {
  return [...settingsRoutes(admin), ...userQuotaRoutes(admin), ...usageRoutes(admin, quota)]
}

function settingsRoutes(admin: AdminQuota): Route[] {
  const path = '/admin/quota/settings'
  return [
    route({
      method: 'get',
      path,
      docs: {
        id: 'readSettings',
        tag: 'Administration',
        summary: 'The settings of everybody',
        description: 'Mode, base values, site-wide layer and prices. The `ETag` goes into `If-Match` of a change.',
        errors: ['quota_unavailable'],
      },
      access: 'admin',
      answerHeaders: ['ETag'],
      answer: settingsDocument,
      async handle() {
        const body = await admin.settings()
        return { body, headers: { ETag: etagOf(body.version) } }
      },
    }),
    route({
      method: 'put',
      path,
      docs: {
        id: 'replaceSettings',
        tag: 'Administration',
        summary: 'Replace the settings of everybody',
        description:
          'Takes the whole document, without `version`, or refuses it whole, naming every fault. It holds at once.',
        errors: ['precondition_required', 'quota_unavailable'],
        example: SETTINGS_EXAMPLE,
      },
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body: settingsBody,
      answer: storedSettingsDocument,
      async handle({ req, input, user }) {
        const body = await admin.replaceSettings(input, requireIfMatch(req.get('If-Match')), user)
        return { body, headers: { ETag: etagOf(body.version) } }
      },
    }),
  ]
}

function userQuotaRoutes(admin: AdminQuota): Route[] {
  const path = '/admin/users/:id/quota'
  return [
    route({
      method: 'get',
      path,
      docs: {
        id: 'readUserQuota',
        tag: 'Administration',
        summary: "A user's overrides",
        description: 'Six limits, each of them `null` where the user follows the default, and the site-wide bypass.',
        errors: ['quota_unavailable'],
      },
      answerHeaders: ['ETag'],
      params: userParams,
      access: 'admin',
      answer: userQuotaDocument,
      async handle({ params }) {
        const { version, document } = await admin.userQuota(params.id)
        return { body: document, headers: { ETag: etagOf(version) } }
      },
    }),
    route({
      method: 'put',
      path,
      docs: {
        id: 'replaceUserQuota',
        tag: 'Administration',
        summary: "Replace a user's overrides",
        description: 'What is not named follows the default again. `If-Match` may be left out.',
        errors: ['quota_unavailable'],
        example: { overrides: { write: { '1h': 120 } }, bypassSite: false },
      },
      answerHeaders: ['ETag'],
      params: userParams,
      access: 'admin',
      requestHeaders: ['If-Match'],
      body: userQuotaBody,
      answer: storedUserQuotaDocument,
      async handle({ req, params, input, user }) {
        const { version, document, warnings } = await admin.replaceUserQuota(params.id, input, optionalMatch(req), user)
        return { body: { ...document, warnings }, headers: { ETag: etagOf(version) } }
      },
    }),
    route({
      method: 'delete',
      path,
      docs: {
        id: 'removeUserQuota',
        tag: 'Administration',
        summary: "Remove a user's overrides",
        description: 'The user follows the default again, in everything.',
        errors: ['quota_unavailable'],
      },
      params: userParams,
      access: 'admin',
      requestHeaders: ['If-Match'],
      answer: z.undefined(),
      async handle({ req, params, user }) {
        await admin.removeUserQuota(params.id, optionalMatch(req), user)
        return { status: 204 }
      },
    }),
  ]
}

function usageRoutes(admin: AdminQuota, quota: Quota<OperationName>): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/users/:id/quota/status',
      docs: {
        id: 'userQuotaStatus',
        tag: 'Administration',
        summary: 'What a user has used',
        description: 'The same as the user sees at `/me/quota`.',
        errors: ['quota_unavailable'],
      },
      params: userParams,
      access: 'admin',
      answer: statusAnswer,
      async handle({ params }) {
        await admin.requireUser(params.id)
        return { body: quotaStatusBody(await quota.status(params.id)) }
      },
    }),
    route({
      method: 'post',
      path: '/admin/users/:id/quota/reset',
      docs: {
        id: 'resetUserQuota',
        tag: 'Administration',
        summary: 'Forgive what a user has used',
        description:
          "Closes the user's windows: of one category or both, of the personal layer or, where it is named, of the site-wide one, which is everybody's.",
        errors: ['quota_unavailable'],
        example: { category: 'write' },
      },
      params: userParams,
      access: 'admin',
      body: resetBody,
      answer: statusAnswer,
      async handle({ params, input, user }) {
        return { body: quotaStatusBody(await admin.reset(params.id, input, user)) }
      },
    }),
  ]
}

function optionalMatch(req: Request): Expected {
  const field = req.get('If-Match')
  return field === undefined ? 'any' : parseIfMatch(field)
}
