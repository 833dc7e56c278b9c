import * as z from 'zod'
import { etagOf, requireIfMatch } from '../http/etag.ts'
import { type Route, route } from '../http/route.ts'
import type { AdminQuota } from './admin-quota.ts'
import type { GatewayPolicy } from './policy.ts'
import { describedPolicy, policyDocument } from './policy-document.ts'
import { namedStatusBody } from './status-routes.ts'
import { userParams, userQuotaRoutes } from './user-quota-routes.ts'

/** Routes for administrators: the quotas of all subjects and of single users. */
export function adminQuotaRoutes(admin: AdminQuota, policy: GatewayPolicy): Route[] {
  return [
    policyRoute(admin, policy),
    ...settingsRoutes(admin),
    ...userQuotaRoutes(admin, policy),
    ...usageRoutes(admin, policy),
  ]
}

function policyRoute(admin: AdminQuota, policy: GatewayPolicy): Route {
  const { defaults } = admin.documents.settings
  return route({
    method: 'get',
    path: '/admin/quota/policy',
    docs: {
      id: 'readPolicy',
      tag: 'Administration',
      summary: 'The limits that exist',
      description: 'The windows, categories, layers and operations in settings, overrides and statuses.',
    },
    access: 'admin',
    answer: policyDocument.extend({
      defaults: z.record(z.string(), z.unknown()).describe('The settings if nothing is stored.'),
    }),
    handle: () => ({ body: { ...describedPolicy(policy), defaults } }),
  })
}

/** A merge patch of the settings. Members at any depth may be `null`. */
const settingsPatch = z
  .record(z.string(), z.unknown(), 'expected an object with members of the settings')
  .refine((patch) => !Object.hasOwn(patch, 'layers'), { path: ['layers'], error: 'name each shared layer by its name' })

function settingsRoutes(admin: AdminQuota): Route[] {
  const path = '/admin/quota/settings'
  const { body: settingsBody, document, stored, example } = admin.documents.settings
  return [
    route({
      method: 'get',
      path,
      docs: {
        id: 'readSettings',
        tag: 'Administration',
        summary: 'The settings of all users',
        description:
          'Mode, base values, shared layers, prices, shadowed limits, plans and thresholds. Send the `ETag` as `If-Match` of a change.',
        errors: ['quota_unavailable'],
      },
      access: 'admin',
      answerHeaders: ['ETag'],
      answer: document,
      async handle() {
        const { at, document: body } = await admin.settings()
        return { body, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      method: 'put',
      path,
      docs: {
        id: 'replaceSettings',
        tag: 'Administration',
        summary: 'Replace the settings of all users',
        description:
          'Send the whole document, without `version`. An invalid one is rejected with all faults. Changes apply immediately.',
        errors: ['precondition_required', 'quota_unavailable'],
        example,
      },
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body: settingsBody,
      answer: stored,
      async handle({ req, input, user }) {
        const expected = requireIfMatch(req.get('If-Match'))
        const { at, document: body } = await admin.replaceSettings(input, expected, user)
        return { body, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      method: 'patch',
      path,
      docs: {
        id: 'patchSettings',
        tag: 'Administration',
        summary: 'Change a part of the settings of all users',
        description:
          'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`: named members are changed, `null` removes, lists are replaced. The result is validated as a whole document.',
        errors: ['precondition_required', 'quota_unavailable'],
        example: { mode: 'normal' },
      },
      access: 'admin',
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body: settingsPatch,
      answer: stored,
      async handle({ req, input, user }) {
        const expected = requireIfMatch(req.get('If-Match'))
        const { at, document: body } = await admin.patchSettings(input, expected, user)
        return { body, headers: { ETag: etagOf(at) } }
      },
    }),
  ]
}

function usageRoutes(admin: AdminQuota, { layers, categories }: GatewayPolicy): Route[] {
  const answer = admin.documents.status
  const resetBody = z.strictObject({
    layer: z
      .enum(layers.map(({ name }) => name))
      .optional()
      .describe("Default: all layers that aren't shared."),
    category: z.enum(categories).optional().describe('Default: all.'),
  })
  return [
    route({
      method: 'get',
      path: '/admin/users/:id/quota/status',
      docs: {
        id: 'userQuotaStatus',
        tag: 'Administration',
        summary: "A user's usage",
        description: "The user's `/me/quota`, the name of each layer, and shadowed limits.",
        errors: ['quota_unavailable'],
      },
      params: userParams,
      access: 'admin',
      answer,
      async handle({ params }) {
        return { body: namedStatusBody(await admin.status(params.id)) }
      },
    }),
    route({
      method: 'post',
      path: '/admin/users/:id/quota/reset',
      docs: {
        id: 'resetUserQuota',
        tag: 'Administration',
        summary: "Reset a user's usage",
        description:
          "Resets the user's windows in one category or all, in the user's own layers or the named layer. The windows of a shared layer belong to all users.",
        errors: ['quota_unavailable'],
        example: { category: categories.at(-1) },
      },
      params: userParams,
      access: 'admin',
      body: resetBody,
      answer,
      async handle({ params, input, user }) {
        return { body: namedStatusBody(await admin.reset(params.id, input, user)) }
      },
    }),
  ]
}
