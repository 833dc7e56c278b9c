import type { DemoCredentials } from './demo.ts'

/** A request that stores one score, as the demo's user may send it. */
const EXAMPLE_BODY = '{"musicList":[{"musicId":10106,"level":3,"achievement":100.5,"dxScore":2871,"comboStatus":"fc"}]}'

/** What is printed at start. The lines with `curl` work as they are. */
export function banner(baseUrl: string, dataDir: string, counters: string, demo: DemoCredentials | undefined): string {
  const lines = ['', `Score gateway   ${baseUrl}`, `Data            ${dataDir}`, `Counters        ${counters}`]
  if (demo !== undefined) {
    const { userToken, adminToken } = demo
    lines.push(
      `Demo user       demo    ${userToken}`,
      `Demo admin      admin   ${adminToken}`,
      '',
      'Store a score:',
      `  curl -s ${baseUrl}/v1/music/upsert -H 'Authorization: Bearer ${userToken}' -H 'Content-Type: application/json' -d '${EXAMPLE_BODY}'`,
      'See what that cost:',
      `  curl -s ${baseUrl}/me/quota -H 'Authorization: Bearer ${userToken}'`,
    )
  }
  return `${lines.join('\n')}\n\n`
}
