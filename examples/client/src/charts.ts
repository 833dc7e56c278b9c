import type { Client } from 'openapi-fetch'
import type { components, paths } from './generated/charts.ts'
import { dataOf } from './refused.ts'

export type Chart = components['schemas']['Chart']

/** @param chartKey `songId:kind:difficulty`, for example `101:standard:4` */
export async function readChart(charts: Client<paths>, chartKey: string): Promise<Chart> {
  return dataOf(await charts.GET('/api/v1/charts/{chartKey}', { params: { path: { chartKey } } }))
}
