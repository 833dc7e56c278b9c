import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../examples/gateway/src/main.ts', import.meta.url))
const ADDRESSES = /^Score gateway +(\S+)\nScore sync +(\S+)$/m

/** The example gateway in a separate process, with its own data folder. */
export interface GatewayProcess {
  readonly pid: number
  readonly gatewayUrl: string
  readonly syncUrl: string
  /** Sends a question to a module that was loaded into the process, and resolves to its answer. */
  answerTo(question: string): Promise<unknown>
  /** Ends the process and removes its data. */
  stop(): Promise<void>
}

/** @param env further environment variables @param flags further flags of Node, for example to load a module */
export async function startGatewayProcess(env: NodeJS.ProcessEnv, flags: readonly string[]): Promise<GatewayProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-gateway-'))
  const child = fork(MAIN, [], {
    execArgv: [...process.execArgv, ...flags],
    env: { PATH: process.env.PATH, PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: dataDir, ...env },
    // Each request is logged to standard error, as in production. The log is discarded.
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    printed += part
  })
  while (!ADDRESSES.test(printed)) {
    await Promise.race([once(child.stdout ?? child, 'data'), ended])
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
  }
  const [, gatewayUrl = '', syncUrl = ''] = ADDRESSES.exec(printed) ?? []
  return {
    pid: child.pid ?? 0,
    gatewayUrl,
    syncUrl,
    async answerTo(question) {
      child.send(question)
      return (await once(child, 'message'))[0]
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
