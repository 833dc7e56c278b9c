import type { Request } from 'express'
import * as z from 'zod'
import { type Expected, etagOf, parseIfMatch, requireIfMatch, type Version } from '../http/etag.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import type { AdminQuota } from './admin-quota.ts'
import {
  settingsAnswer,
  settingsBody,
  settingsDocument,
  settingsPatch,
  statusDocument,
  userQuotaAnswer,
  userQuotaBody,
  userQuotaDocument,
} from './documents.ts'
import { policy } from './policy.ts'
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
