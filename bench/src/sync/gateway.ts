import { startGatewayProcess } from '../processes/gateway.ts'

const PROBE = new URL('../sync-probe.ts', import.meta.url)
const BOT_TOKEN = 'bench-bot-0123456789'

/** Measurements in the gateway's process: the longest block of its event loop since the last call, and its heap. */
export type Question = 'longestDelayMs' | 'heapBytes'

/** A gateway in a separate process. */
export interface Gateway {
  /** Sends a body to score sync. Throws unless the status is 200. */
  sync(body: string): Promise<void>
  /** The longest block of its event loop since the last call, in milliseconds. */
  longestDelayMs(): Promise<number>
  /** The heap after collecting garbage. */
  heapBytes(): Promise<number>
  stop(): Promise<void>
}

/** Starts the example gateway, on the embedded database or on PostgreSQL. */
export async function startGateway(databaseUrl?: string): Promise<Gateway> {
  const gateway = await startGatewayProcess({
    env: { BOT_TOKEN, LOG_LEVEL: 'warn', ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) },
    flags: ['--expose-gc', `--import=${PROBE.href}`],
  })
  const answerTo = (question: Question): Promise<number> => gateway.answerTo(question) as Promise<number>
  const headers = { 'Bot-Token': BOT_TOKEN, 'Content-Type': 'application/json' }
  return {
    async sync(body) {
      const response = await fetch(`${gateway.syncUrl}/api/bot/sync`, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`score sync answered ${response.status}: ${text}`)
    },
    longestDelayMs: () => answerTo('longestDelayMs'),
    heapBytes: () => answerTo('heapBytes'),
    stop: () => gateway.stop(),
  }
}
