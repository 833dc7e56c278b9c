import * as z from 'zod'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { DEMO_LABEL } from '../users/tokens.ts'
import { nameSchema } from '../users/user.ts'
import type { Service, ServiceCredentials } from './service-credentials.ts'

const issueBody = z.strictObject({
  // Credentials with the demo's name are deleted with the demo.
  name: nameSchema.refine((name) => name !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's credential`),
})

const listAnswer = z.object({
  items: z.array(z.object({ id: z.string(), name: z.string(), createdAt: z.iso.datetime() })),
})

interface Words {
  /** In names of operations: `listBots`, `issueBot`. */
  readonly id: string
  readonly one: string
  readonly many: string
}

/** Bots' tokens and chart keys, for administrators. */
export function credentialRoutes(credentials: ServiceCredentials): Route[] {
  return [
    ...routesOf(credentials, 'sync', '/admin/bots', { id: 'Bot', one: "a bot's token", many: 'Bots of score sync' }),
    ...routesOf(credentials, 'charts', '/admin/chart-keys', {
      id: 'ChartKey',
      one: 'a chart key',
      many: 'Keys of the chart preview',
    }),
  ]
}

function routesOf(credentials: ServiceCredentials, service: Service, path: string, words: Words): Route[] {
  const tag = 'Administration'
  return [
    route({
      method: 'get',
      path,
      docs: {
        id: `list${words.id}s`,
        tag,
        summary: words.many,
        description: 'Ids and names. A credential itself is only shown when it is issued.',
      },
      access: 'admin',
      answer: listAnswer,
      async handle() {
        const items = (await credentials.list(service)).map((each) => {
          return { ...each, createdAt: new Date(each.createdAt).toISOString() }
        })
        return { body: { items } }
      },
    }),
    route({
      method: 'post',
      path,
      docs: {
        id: `issue${words.id}`,
        tag,
        summary: `Issue ${words.one}, which is only shown this time`,
        description: "Only its hash is stored, so a lost one can't be recovered.",
        statuses: [201],
        example: { name: 'nightly' },
        errors: ['conflict'],
      },
      access: 'admin',
      body: issueBody,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ input: { name }, user }) {
        return { status: 201, body: await credentials.issue(service, name, user.id) }
      },
    }),
    route({
      method: 'delete',
      path: `${path}/:id`,
      docs: {
        id: `revoke${words.id}`,
        tag,
        summary: `Revoke ${words.one}`,
        description: 'It stops working immediately.',
        errors: ['not_found'],
      },
      access: 'admin',
      params: z.object({ id: z.string().describe("The credential's id, not the credential itself.") }),
      answer: z.undefined(),
      async handle({ params: { id }, user }) {
        const isRevoked = await credentials.revoke(service, id, user.id)
        if (!isRevoked) throw new HttpError('not_found', 'There is no such credential.')
        return { status: 204 }
      },
    }),
  ]
}
