import type { Addresses } from '../addresses.ts'
import { DEMO_QQ, type DemoCredentials } from './demo.ts'

/** A request that stores one score, as the demo's user may send it. */
const EXAMPLE_BODY = '{"musicList":[{"musicId":10106,"level":3,"achievement":100.5,"dxScore":2871,"comboStatus":"fc"}]}'

/** A request that brings one more, as a bot may send it. */
const EXAMPLE_SYNC = `{"qq":${DEMO_QQ},"records":[{"song_id":10106,"level_index":2,"achievements":99.8,"dxScore":1402,"fc":"fc","fs":"fs"}]}`

/** The text printed at start. The lines with `curl` work as they are. */
export function banner(
  addresses: Addresses,
  dataDir: string,
  counters: string,
  demo: DemoCredentials | undefined,
): string {
  const { gateway: baseUrl, sync, charts } = addresses
  const lines = [
    '',
    `Score gateway   ${baseUrl}`,
    `Score sync      ${sync}`,
    `Chart preview   ${charts}`,
    `Console         ${baseUrl}/admin/`,
    `Reference       ${baseUrl}/reference/`,
    `Data            ${dataDir}`,
    `Counters        ${counters}`,
  ]
  if (demo !== undefined) {
    const { userToken, adminToken, botToken, chartApiKey } = demo
    lines.push(
      `Demo user       demo    ${userToken}`,
      `Demo admin      admin   ${adminToken}`,
      `Demo bot                ${botToken}`,
      `Demo chart key          ${chartApiKey}`,
      '',
      'Store a score:',
      `  curl -s ${baseUrl}/v1/music/upsert -H 'Authorization: Bearer ${userToken}' -H 'Content-Type: application/json' -d '${EXAMPLE_BODY}'`,
      'See what that cost:',
      `  curl -s ${baseUrl}/me/quota -H 'Authorization: Bearer ${userToken}'`,
      'Look at a chart:',
      `  curl -s ${charts}/api/v1/charts/106:dx:4 -H 'X-API-Key: ${chartApiKey}'`,
      'Bring a score as a bot, for the demo user:',
      `  curl -s ${sync}/api/bot/sync -H 'Bot-Token: ${botToken}' -H 'Content-Type: application/json' -d '${EXAMPLE_SYNC}'`,
    )
  }
  return `${lines.join('\n')}\n\n`
}
