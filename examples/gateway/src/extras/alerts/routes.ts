import { randomUUID } from 'node:crypto'
import type { Clock, Policy } from '@scoregw/quota'
import type { Request } from 'express'
import * as z from 'zod'
import { type Expected, etagOf, parseIfMatch, type Version } from '../../http/etag.ts'
import { instantText } from '../../http/instant.ts'
import { CURSOR_ERROR, pageLimit, pageOf, toPage } from '../../http/page.ts'
import { type Route, route } from '../../http/route.ts'
import { sharedLayers } from '../../quota/layer-members.ts'
import { alertOf } from './alert.ts'
import type { Alerts } from './alerts.ts'
import { alertBody, alertDocument, webhookBody, webhookDocument, webhookStored } from './bodies.ts'
import { alertedLayers, noWebhook, type Webhooks } from './webhook.ts'

const tag = 'Administration'
const PATH = '/admin/alerts/webhook'

export interface AlertRouteDeps {
  readonly alerts: Alerts
  readonly policy: Policy
  readonly clock: Clock
  readonly allowPrivate: boolean
}

/** Routes for alerts, and for where they are sent. */
export function alertRoutes(deps: AlertRouteDeps): Route[] {
  return [listRoute(deps), ...webhookRoutes(deps), ...secretRoutes(deps)]
}

function listRoute({ alerts }: AlertRouteDeps): Route {
  const query = z.strictObject({
    cursor: z
      .string()
      .regex(/^\d{1,15}-[\w]{1,64}$/, CURSOR_ERROR)
      .transform((text): [number, string] => {
        const [at = '', id = ''] = text.split('-')
        return [Number(at), id]
      })
      .optional()
      .describe('`nextCursor` of the previous page.'),
    limit: pageLimit.describe('The largest number of alerts on the page.'),
  })
  return route({
    method: 'get',
    path: '/admin/alerts',
    docs: {
      id: 'listAlerts',
      tag,
      summary: 'List alerts and the delivery of each',
      description: 'The newest first. Follow `nextCursor` until it is `null`.',
    },
    access: 'admin',
    query,
    answer: pageOf(alertDocument),
    async handle({ query: { cursor, limit } }) {
      const rows = await alerts.book.page(cursor, limit + 1)
      const { items, nextCursor } = toPage(rows, limit, ({ at, id }) => `${at}-${id}`)
      return { body: { items: items.map(alertBody), nextCursor } }
    },
  })
}

function webhookRoutes({ alerts, policy, allowPrivate }: AlertRouteDeps): Route[] {
  const { webhooks } = alerts
  return [
    route({
      method: 'get',
      path: PATH,
      docs: { id: 'readWebhook', tag, summary: 'Where alerts are sent', description: 'The secret is never shown.' },
      access: 'admin',
      answer: webhookDocument,
      answerHeaders: ['ETag'],
      async handle() {
        const { at, body } = await shown(webhooks, policy)
        return { body, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      method: 'put',
      path: PATH,
      docs: {
        id: 'replaceWebhook',
        tag,
        summary: 'Set where alerts are sent',
        description:
          'The first time creates a secret, which is only shown this time. Thresholds of the layers named here raise alerts. `If-Match` is optional.',
        example: { url: 'https://hooks.example.com/quota', layers: sharedLayers(policy) },
      },
      access: 'admin',
      body: webhookBody(policy, allowPrivate),
      answer: webhookStored,
      answerHeaders: ['ETag'],
      requestHeaders: ['If-Match'],
      async handle({ req, input, user }) {
        const secret = await webhooks.put(input, optionalMatch(req), user.id)
        await alerts.readLayers()
        const { at, body } = await shown(webhooks, policy)
        return { body: { ...body, secret }, headers: { ETag: etagOf(at) } }
      },
    }),
    route({
      method: 'delete',
      path: PATH,
      docs: {
        id: 'removeWebhook',
        tag,
        summary: 'Stop sending alerts',
        description: 'Alerts are kept for reading. Waiting ones are no longer sent.',
        errors: ['not_found'],
      },
      access: 'admin',
      answer: z.undefined(),
      requestHeaders: ['If-Match'],
      async handle({ req, user }) {
        await webhooks.remove(optionalMatch(req), user.id)
        await alerts.readLayers()
        return { status: 204 }
      },
    }),
  ]
}

function secretRoutes({ alerts: { webhooks, book }, clock }: AlertRouteDeps): Route[] {
  return [
    route({
      method: 'post',
      path: `${PATH}/secret`,
      docs: {
        id: 'rotateWebhookSecret',
        tag,
        summary: 'Create another secret, which is only shown this time',
        description: 'For a day messages are signed with both secrets.',
        errors: ['not_found'],
      },
      access: 'admin',
      answer: z.object({ secret: z.string() }),
      async handle({ user }) {
        return { body: { secret: await webhooks.rotate(user.id) } }
      },
    }),
    route({
      method: 'post',
      path: `${PATH}/test`,
      docs: {
        id: 'testWebhook',
        tag,
        summary: 'Send a test',
        description: 'A message `webhook.test`, which is sent and retried like any other, and appears in the list.',
        statuses: [202],
        errors: ['not_found'],
      },
      access: 'admin',
      answer: z.object({ id: z.string() }),
      async handle({ user }) {
        if ((await webhooks.target()) === undefined) throw noWebhook()
        const now = clock.now()
        const alert = alertOf('webhook.test', now, [randomUUID()], { by: user.id })
        await book.add([alert])
        return { status: 202, body: { id: alert.id } }
      },
    }),
  ]
}

async function shown(
  webhooks: Webhooks,
  policy: Policy,
): Promise<{ readonly at: Version; readonly body: z.output<typeof webhookDocument> }> {
  const { at, row } = await webhooks.read()
  const layers = alertedLayers(row, policy)
  const until = row?.old_until ?? null
  const rotatedUntil = until === null ? null : instantText(until)
  return { at, body: { url: row?.url ?? null, layers: [...layers], rotatedUntil } }
}

function optionalMatch(req: Request): Expected {
  const field = req.get('If-Match')
  return field === undefined ? 'any' : parseIfMatch(field)
}
