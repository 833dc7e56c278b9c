import type { components } from 'example-client/gateway-types'
import type { Api } from '../../api/api.ts'

type Schemas = components['schemas']
export type WhyAnswer = Schemas['Why']
export type WhyBody = Schemas['WhyRefusedBody']
export type RefusalGroup = Schemas['LatestRefusalsAnswer']['refusals'][number]

/** The refusals of the last hour, grouped, newest first. */
export async function latestRefusals(api: Api): Promise<Schemas['LatestRefusalsAnswer']> {
  return (await api.read((client) => client.GET('/admin/refusals'))).data
}

/** It changes nothing, so it waits for a sign-in as reads do. */
export async function whyRefused(api: Api, id: string, body: WhyBody): Promise<WhyAnswer> {
  const options = { params: { path: { id } }, body }
  return (await api.read((client) => client.POST('/admin/users/{id}/quota/why', options))).data
}
