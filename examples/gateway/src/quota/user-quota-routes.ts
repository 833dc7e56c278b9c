import type { Request } from 'express'
import * as z from 'zod'
import { type Expected, etagOf, parseIfMatch } from '../http/etag.ts'
import { type Route, route } from '../http/route.ts'
import type { AdminQuota } from './admin-quota.ts'
import { ownLayers } from './layer-members.ts'
import type { GatewayPolicy } from './policy.ts'
import { listOf } from './status-routes.ts'

/** The parameter `:id`. An invalid id isn't found, like any unknown one. */
export const userParams = z.object({ id: z.string().meta({ description: "The user's id.", examples: ['demo'] }) })

/** Routes for the quotas of single users. */
export function userQuotaRoutes(admin: AdminQuota, policy: GatewayPolicy): Route[] {
  const own = ownLayers(policy)
  const path = '/admin/users/:id/quota'
  const query = z.object({
    layer: z
      .enum(own)
      .optional()
      .describe(`The layer, one that isn't shared. Default: ${listOf(own.slice(0, 1))}.`),
  })
  const { body, document: answer, stored, example, limits } = admin.documents.userQuota
  return [
    route({
      path,
      params: userParams,
      query,
      access: 'admin',
      method: 'get',
      docs: {
        id: 'readUserQuota',
        tag: 'Administration',
        summary: "A user's overrides",
        description: `${limits} limits, each of them \`null\` where the user follows the default, the plan, until when both are in force, whether shared layers are bypassed, and where the user's own periods begin.`,
        errors: ['quota_unavailable'],
      },
      answerHeaders: ['ETag'],
      answer,
      async handle({ params, query }) {
        const { at, document: body } = await admin.userQuota({ userId: params.id, layer: query.layer })
        return { body, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      path,
      params: userParams,
      query,
      access: 'admin',
      method: 'put',
      docs: {
        id: 'replaceUserQuota',
        tag: 'Administration',
        summary: "Replace a user's overrides",
        description: 'Absent members get their default. `If-Match` is optional.',
        errors: ['quota_unavailable'],
        example,
      },
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      body,
      answer: stored,
      async handle({ req, params, query, input, user }) {
        const place = { userId: params.id, layer: query.layer }
        const { at, document: stored } = await admin.replaceUserQuota(place, input, optionalMatch(req), user)
        return { body: stored, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      path,
      params: userParams,
      query,
      access: 'admin',
      method: 'delete',
      docs: {
        id: 'removeUserQuota',
        tag: 'Administration',
        summary: "Remove a user's overrides",
        description: 'The defaults apply to the user again.',
        errors: ['quota_unavailable'],
      },
      requestHeaders: ['If-Match'],
      answer: z.undefined(),
      async handle({ req, params, query, user }) {
        await admin.removeUserQuota({ userId: params.id, layer: query.layer }, optionalMatch(req), user)
        return { status: 204 }
      },
    }),
  ]
}

function optionalMatch(req: Request): Expected {
  const field = req.get('If-Match')
  return field === undefined ? 'any' : parseIfMatch(field)
}
