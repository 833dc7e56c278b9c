import type { components } from 'example-client/gateway-types'
import { type Api, asSent, type Stored, type Versioned, versioned } from '../../api/api.ts'

type Schemas = components['schemas']
export type Alert = Schemas['Alert']
export type Webhook = Schemas['ReadWebhookAnswer']
export type WebhookChange = Pick<Webhook, 'layers'> & { readonly url: string }

const PATH = '/admin/alerts/webhook'

export async function readAlerts(api: Api, cursor: string | null): Promise<Schemas['ListAlertsAnswer']> {
  const query = cursor === null ? {} : { cursor }
  return (await api.read((client) => client.GET('/admin/alerts', { params: { query } }))).data
}

export async function readWebhook(api: Api): Promise<Versioned<Webhook>> {
  return versioned(await api.read((client) => client.GET(PATH)))
}

/**
 * @returns with the secret, if a new one was created
 * @throws {ApiError} `precondition_failed` if someone else saved first
 */
export async function putWebhook(
  api: Api,
  webhook: WebhookChange,
  etag: string,
): Promise<Stored<Webhook> & { readonly secret: string | null }> {
  const options = { params: { header: { 'If-Match': etag } }, body: asSent<'ReplaceWebhookBody'>(webhook) }
  const answer = await api.write((client) => client.PUT(PATH, options))
  const { secret, ...document } = answer.data
  return { ...versioned({ ...answer, data: document }), warnings: [], secret }
}

export async function removeWebhook(api: Api, etag: string): Promise<void> {
  await api.write((client) => client.DELETE(PATH, { params: { header: { 'If-Match': etag } } }))
}

export async function rotateWebhook(api: Api): Promise<string> {
  return (await api.write((client) => client.POST(`${PATH}/secret`))).data.secret
}

export async function testWebhook(api: Api): Promise<void> {
  await api.write((client) => client.POST(`${PATH}/test`))
}
