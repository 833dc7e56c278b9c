import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type SeedOptions, seed } from './seed.ts'

const SOURCES = new URL('../../../examples/gateway/src/', import.meta.url)
const WITHOUT_QUOTA = new URL('../gateway-without-quota.mjs', import.meta.url)
/** More than any run uses. */
const PLENTY = 10 ** 11

/** A gateway in a process of its own, on an embedded database of its own. */
export interface GatewayServer {
  readonly url: string
  stop(): Promise<void>
}

export async function startGateway(options: SeedOptions & { readonly isMetered: boolean }): Promise<GatewayServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-gateway-'))
  try {
    const adminToken = await administrator(dataDir)
    // Before the gateway runs: it would have to wait for the lock.
    seed(dataDir, options)
    const server = await serve(dataDir, options.isMetered)
    await raiseLimits(server.url, adminToken)
    return server
  } catch (error) {
    rmSync(dataDir, { recursive: true })
    throw error
  }
}

/** Makes the database, with an administrator, and gives the token. */
async function administrator(dataDir: string): Promise<string> {
  const main = fileURLToPath(new URL('cli.ts', SOURCES))
  const args = [...process.execArgv, main, 'users', 'create', 'administrator', '--admin']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment(dataDir) })
  return stdout.trim()
}

async function serve(dataDir: string, isMetered: boolean): Promise<GatewayServer> {
  const child = fork(new URL('main.ts', SOURCES), [], {
    execArgv: [...process.execArgv, ...(isMetered ? [] : [`--import=${WITHOUT_QUOTA}`])],
    env: environment(dataDir),
    // Each request is logged, as in production; the log is discarded.
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  return {
    url: await addressOf(child, ended),
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(dataDir, { recursive: true })
    },
  }
}

function environment(dataDir: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: dataDir }
}

async function addressOf(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    printed += part
  })
  for (;;) {
    const url = /^Score gateway +(\S+)$/m.exec(printed)?.[1]
    // The rest of what it prints comes with it.
    if (url !== undefined) return url
    await Promise.race([once(child.stdout ?? child, 'data'), ended])
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
  }
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
