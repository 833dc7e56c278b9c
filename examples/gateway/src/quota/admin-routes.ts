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

const resetBody = z.strictObject({
  layer: z.enum(['personal', 'site']).optional(),
  category: z.enum(['read', 'write']).optional(),
})

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
      access: 'admin',
      answer: settingsDocument,
      async handle() {
        const body = await admin.settings()
        return { body, headers: { ETag: etagOf(body.version) } }
      },
    }),
    route({
      method: 'put',
      path,
      access: 'admin',
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
      access: 'admin',
      answer: userQuotaDocument,
      async handle({ req }) {
        const { version, document } = await admin.userQuota(idOf(req))
        return { body: document, headers: { ETag: etagOf(version) } }
      },
    }),
    route({
      method: 'put',
      path,
      access: 'admin',
      body: userQuotaBody,
      answer: storedUserQuotaDocument,
      async handle({ req, input, user }) {
        const { version, document, warnings } = await admin.replaceUserQuota(idOf(req), input, optionalMatch(req), user)
        return { body: { ...document, warnings }, headers: { ETag: etagOf(version) } }
      },
    }),
    route({
      method: 'delete',
      path,
      access: 'admin',
      answer: z.undefined(),
      async handle({ req, user }) {
        await admin.removeUserQuota(idOf(req), optionalMatch(req), user)
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
      access: 'admin',
      answer: statusAnswer,
      async handle({ req }) {
        await admin.requireUser(idOf(req))
        return { body: quotaStatusBody(await quota.status(idOf(req))) }
      },
    }),
    route({
      method: 'post',
      path: '/admin/users/:id/quota/reset',
      access: 'admin',
      body: resetBody,
      answer: statusAnswer,
      async handle({ req, input }) {
        await admin.requireUser(idOf(req))
        await quota.reset(idOf(req), input)
        return { body: quotaStatusBody(await quota.status(idOf(req))) }
      },
    }),
  ]
}

function idOf(req: Request): string {
  return String(req.params.id)
}

function optionalMatch(req: Request): Expected {
  const field = req.get('If-Match')
  return field === undefined ? 'any' : parseIfMatch(field)
}
