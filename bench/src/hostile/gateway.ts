import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Held, mainThreadMs } from './main-thread.ts'

const MAIN = new URL('../../../examples/gateway/src/main.ts', import.meta.url)
const PROBE = new URL('./probe.ts', import.meta.url)

export const CREDENTIALS = {
  user: { Authorization: 'Bearer gw_bench-hostile-user' },
  bot: { 'Bot-Token': 'bench-hostile-bot' },
} as const
export const OTHER_USER = { Authorization: 'Bearer gw_bench-other-user' }

/** A gateway in a process of its own, on an embedded database of its own. */
export interface Victim {
  readonly gatewayUrl: string
  readonly syncUrl: string
  /** How long its event loop was held at most since the last call. */
  held(): Promise<Held>
  /** How long its main thread has run, in milliseconds: what others of the machine do is not in it. */
  ranMs(): number
  stop(): Promise<void>
}

/** @param env beside what it needs */
export async function startVictim(env: NodeJS.ProcessEnv = {}): Promise<Victim> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-hostile-'))
  const child = fork(fileURLToPath(MAIN), [], {
    execArgv: [...process.execArgv, `--import=${PROBE.href}`],
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      SYNC_PORT: '0',
      CHARTS_PORT: '0',
      DATA_DIR: dataDir,
      BOT_TOKEN: CREDENTIALS.bot['Bot-Token'],
      DEMO_USER_TOKEN: CREDENTIALS.user.Authorization.slice('Bearer '.length),
      DEMO_ADMIN_TOKEN: OTHER_USER.Authorization.slice('Bearer '.length),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const printed = await printedBy(child)
  const addressOf = (service: RegExp): string => service.exec(printed)?.[1] ?? ''
  return {
    gatewayUrl: addressOf(/Score gateway +(\S+)\n/),
    syncUrl: addressOf(/Score sync +(\S+)\n/),
    async held() {
      child.send('held')
      const [answer] = (await once(child, 'message')) as [Held]
      return answer
    },
    ranMs: () => mainThreadMs(child.pid ?? 0),
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** What it prints at start, which comes at once. */
async function printedBy(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const ended = once(child, 'exit')
  while (!/Score gateway +\S+\nScore sync +\S+\n/.test(text)) {
    await Promise.race([once(child.stdout ?? child, 'data'), ended])
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
  }
  return text
}
