import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = new URL('../../../packages/quota-cli/', import.meta.url)
const PROBE = new URL('../cpu-probe.ts', import.meta.url)

/** The command on the sources where this process runs on them, else as it is published. */
function main(): string {
  const isOnSources = process.execArgv.includes('--conditions=@scoregw/source')
  return fileURLToPath(new URL(isOnSources ? 'src/main.ts' : 'dist/main.js', FOLDER))
}

/** Seconds of processor time of a whole process that simulates a log. */
export async function simulateSeconds(policy: string, log: string, lines: number): Promise<number> {
  const child = fork(main(), ['simulate', policy, log, '--json'], {
    execArgv: [...process.execArgv, `--import=${PROBE.href}`],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let out = ''
  child.stdout?.on('data', (piece: Buffer) => {
    out += piece.toString()
  })
  const ended = once(child, 'close')
  const [[seconds], [code]] = await Promise.all([once(child, 'message'), ended])
  const { requests } = JSON.parse(out) as { readonly requests: number }
  if (code !== 0 || requests !== lines) throw new Error(`simulate ended with ${code} after ${requests} requests`)
  return seconds as number
}

const NEWLINE = 10

/** Seconds of processor time that the lines alone take as JSON. */
export async function floorSeconds(log: string): Promise<number> {
  const bytes = readFileSync(log)
  const before = process.cpuUsage()
  let start = 0
  let sum = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    sum += (JSON.parse(bytes.toString('utf8', start, end)) as { readonly status: number }).status
    start = end + 1
  }
  if (sum === 0) throw new Error('the log is empty')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
