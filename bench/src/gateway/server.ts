import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type GatewayProcess, gatewayEnvironment, gatewaySource, startGatewayProcess } from './process.ts'
import { type SeedOptions, seed } from './seed.ts'

const WITHOUT_QUOTA = new URL('../gateway-without-quota.mjs', import.meta.url)
/** More than any run uses. */
const PLENTY = 10 ** 11

/** A gateway with a seeded database, whose limits never refuse. */
export async function startGateway(options: SeedOptions & { readonly isMetered: boolean }): Promise<GatewayProcess> {
  let adminToken = ''
  const server = await startGatewayProcess({
    flags: options.isMetered ? [] : [`--import=${WITHOUT_QUOTA}`],
    async prepare(dataDir) {
      adminToken = await administrator(dataDir)
      seed(dataDir, options)
    },
  })
  await raiseLimits(server.gatewayUrl, adminToken)
  return server
}

/** Creates the database with an administrator, and returns the token. */
async function administrator(dataDir: string): Promise<string> {
  const args = [...process.execArgv, gatewaySource('cli.ts'), 'users', 'create', 'administrator', '--admin']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: gatewayEnvironment(dataDir) })
  return stdout.trim()
}

async function raiseLimits(url: string, token: string): Promise<void> {
  const address = `${url}/admin/quota/settings`
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'If-Match': '*' }
  const { version: _, ...settings } = (await (await fetch(address, { headers })).json()) as Record<string, unknown>
  const windows = { '1h': PLENTY, '5h': PLENTY, '1d': PLENTY }
  const layer = { read: windows, write: windows }
  const body = JSON.stringify({ ...settings, base: { personal: layer, site: layer } })
  const { status } = await fetch(address, { method: 'PUT', headers, body })
  if (status !== 200) throw new Error(`the settings were answered with ${status}`)
}
