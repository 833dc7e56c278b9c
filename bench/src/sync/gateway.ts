import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = new URL('../../../examples/gateway/src/main.ts', import.meta.url)
const PROBE = new URL('../sync-probe.ts', import.meta.url)
const BOT_TOKEN = 'bench-bot-0123456789'

/** Measurements of the gateway's process: the longest block of its event loop since the last call, and its heap. */
export type Question = 'longestDelayMs' | 'heapBytes'

/** A gateway in a process of its own. */
export interface Gateway {
  /** Sends a body to score sync; anything but a 200 is an error. */
  sync(body: string): Promise<void>
  /** The longest block of its event loop since the last call. */
  longestDelayMs(): Promise<number>
  /** After garbage was collected. */
  heapBytes(): Promise<number>
  stop(): Promise<void>
}

/** Starts the example's gateway, on the embedded database or on PostgreSQL. */
export async function startGateway(databaseUrl?: string): Promise<Gateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-gateway-'))
  const env = {
    ...process.env,
    PORT: '0',
    SYNC_PORT: '0',
    CHARTS_PORT: '0',
    DATA_DIR: dataDir,
    BOT_TOKEN,
    LOG_LEVEL: 'warn',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  }
  const execArgv = [...process.execArgv, '--expose-gc', `--import=${PROBE.href}`]
  const child = fork(fileURLToPath(MAIN), [], { execArgv, env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const url = `${await printedAddress(child)}/api/bot/sync`
  const ask = async (question: Question): Promise<number> => {
    child.send(question)
    const [answer] = (await once(child, 'message')) as [number]
    return answer
  }
  const headers = { 'Bot-Token': BOT_TOKEN, 'Content-Type': 'application/json' }
  return {
    async sync(body) {
      const response = await fetch(url, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`score sync answered ${response.status}: ${text}`)
    },
    longestDelayMs: () => ask('longestDelayMs'),
    heapBytes: () => ask('heapBytes'),
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function printedAddress(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const part of child.stdout ?? []) {
    text += String(part)
    const address = /Score sync +(\S+)\n/.exec(text)?.[1]
    if (address !== undefined) return address
  }
  throw new Error('the gateway ended while starting')
}
