import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICES, typesFile, typesOf } from './types-of.ts'

/** As the gateway prints them at start. */
const TITLES = { gateway: 'Score gateway', sync: 'Score sync', charts: 'Chart preview' } as const

const dataDir = mkdtempSync(join(tmpdir(), 'client-types-'))
const gateway = spawn('npm', ['run', '--silent', 'start'], {
  cwd: join(import.meta.dirname, '../../..'),
  env: { ...process.env, PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
  // A group of its own, so that its end is the end of all that npm started.
  detached: true,
})
try {
  const banner = await bannerOf(gateway)
  for (const service of SERVICES) {
    const address = new RegExp(`^${TITLES[service]} +(\\S+)$`, 'm').exec(banner)?.[1]
    if (address === undefined) throw new Error(`The gateway did not say where ${service} is:\n${banner}`)
    const response = await fetch(`${address}/openapi.json`)
    writeFileSync(typesFile(service), await typesOf((await response.json()) as object))
    console.log(`wrote ${typesFile(service).pathname}`)
  }
} finally {
  if (gateway.pid !== undefined) process.kill(-gateway.pid, 'SIGTERM')
  await new Promise((resolve) => gateway.once('close', resolve))
  rmSync(dataDir, { recursive: true, force: true })
}

/** What the gateway prints when it serves. */
function bannerOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes(TITLES.charts) && text.endsWith('\n\n')) resolve(text)
    })
    stdout?.once('close', () => reject(new Error(`The gateway ended:\n${text}`)))
  })
}
