import type { components } from 'example-client/gateway-types'
import type { Api } from '../../api/api.ts'

export type Hold = components['schemas']['Hold']

export async function readHolds(api: Api, id: string): Promise<Hold[]> {
  const params = { path: { id } }
  return (await api.read((client) => client.GET('/admin/users/{id}/quota/holds', { params }))).data.items
}

export async function releaseHold(api: Api, id: string, ref: string): Promise<void> {
  const params = { path: { id, ref } }
  await api.write((client) => client.DELETE('/admin/users/{id}/quota/holds/{ref}', { params }))
}
