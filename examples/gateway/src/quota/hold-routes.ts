import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import type { AdminQuota } from './admin-quota.ts'
import { holdBody, holdDocument } from './documents.ts'
import { userParams } from './user-quota-routes.ts'

const PATH = '/admin/users/:id/quota/holds'

/** What users hold at present, for administrators. */
export function holdRoutes(admin: AdminQuota): Route[] {
  return [
    route({
      method: 'get',
      path: PATH,
      docs: {
        id: 'listHolds',
        tag: 'Administration',
        summary: "A user's open holds",
        description: 'Tokens and slots of requests in progress, the earliest end first.',
        errors: ['quota_unavailable'],
      },
      access: 'admin',
      params: userParams,
      answer: z.object({ items: z.array(holdDocument) }),
      async handle({ params: { id } }) {
        return { body: { items: (await admin.holds(id)).map(holdBody) } }
      },
    }),
    route({
      method: 'delete',
      path: `${PATH}/:ref`,
      docs: {
        id: 'releaseHold',
        tag: 'Administration',
        summary: 'Release a hold',
        description: 'Its tokens go back and its slot is freed at once; the work itself is not stopped.',
        errors: ['not_found', 'quota_unavailable'],
      },
      access: 'admin',
      params: userParams.extend({ ref: z.string().describe('As in the list.') }),
      answer: z.undefined(),
      async handle({ params: { id, ref }, user }) {
        await admin.releaseHold(id, ref, user)
        return { status: 204 }
      },
    }),
  ]
}
