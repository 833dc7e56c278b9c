import createClient, { type Client } from 'openapi-fetch'
import type { paths as ChartPaths } from './generated/charts.ts'
import type { paths as GatewayPaths } from './generated/gateway.ts'
import type { paths as SyncPaths } from './generated/sync.ts'
import { type Patience, patientFetch } from './patient-fetch.ts'

/** The address and the credential of a service. No credential works at two services. */
export interface Access {
  readonly url: string
  readonly credential: string
}

export function gatewayClient({ url, credential }: Access, patience: Patience): Client<GatewayPaths> {
  return createClient({
    baseUrl: url,
    headers: { Authorization: `Bearer ${credential}` },
    fetch: patientFetch(patience),
  })
}

export function syncClient({ url, credential }: Access, patience: Patience): Client<SyncPaths> {
  return createClient({ baseUrl: url, headers: { 'Bot-Token': credential }, fetch: patientFetch(patience) })
}

export function chartsClient({ url, credential }: Access, patience: Patience): Client<ChartPaths> {
  return createClient({ baseUrl: url, headers: { 'X-API-Key': credential }, fetch: patientFetch(patience) })
}
