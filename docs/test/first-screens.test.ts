import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@scoregw/server-kit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { readPage, root } from './markdown.ts'

interface Report {
  readonly results: readonly { readonly name: string; readonly perSecond: number }[]
  readonly machine: { readonly cpu: string; readonly cores: number }
}

function reportOf(suite: string): Report {
  return JSON.parse(readFileSync(join(root, `bench/results/${suite}.json`), 'utf8')) as Report
}

function speedOf(suite: string, contestant: string): number {
  const found = reportOf(suite).results.find(({ name }) => name === contestant)
  if (found === undefined) throw new Error(`bench/results/${suite}.json has no "${contestant}"`)
  return found.perSecond
}

const thousands = (perSecond: number): string => `${Math.round(perSecond / 1_000)},000`

describe.each(['README.md', 'docs/index.md'])('the first screen of %s', (page) => {
  const text = readPage(page).replaceAll(/\s+/g, ' ').replaceAll('**', '')

  it('the first screen has the speeds of the recorded benchmarks', () => {
    const inMemory = (speedOf('memory', 'quota: await consume') / 1e6).toFixed(1)
    expect(text).toContain(`${inMemory} million decisions per CPU second in memory`)
    expect(text).toContain(`${thousands(speedOf('redis', 'quota: six counters, 64 callers'))} per second on Redis`)
    expect(text).toContain(
      `${thousands(speedOf('sql', 'quota on PostgreSQL: six counters, 64 callers'))} on PostgreSQL`,
    )
  })

  it('the first screen names the measured machine', () => {
    for (const suite of ['memory', 'redis', 'sql']) {
      const { cpu, cores } = reportOf(suite).machine
      expect(text, suite).toContain(`an ${cpu} with ${cores} cores`)
    }
  })
})

describe('the tabs of the home page', () => {
  // Below `docs`, where the packages are installed.
  const artifacts = join(root, 'docs/.artifacts')
  mkdirSync(artifacts, { recursive: true })
  const folder = mkdtempSync(join(artifacts, 'tabs-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['Express', 'Fastify', 'Hono'])('%s answers the page’s `curl` line when started as printed', async (tab) => {
    const page = readPage('docs/index.md')
    const code = page.split(`[${tab}]\n`)[1]?.split('\n```')[0] ?? ''
    const [, user = '', address = ''] = /curl -i -H 'X-User: (\w+)' (\S+)/.exec(page) ?? []
    const port = String(await freePort())
    writeFileSync(join(folder, `${tab}.mjs`), code.replace('3000', port))
    const args = ['--conditions=@scoregw/source', '--import=tsx', `${tab}.mjs`]
    const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
    onTestFinished(() => void server.kill())
    const headers = { 'X-User': user }
    const answer = async (): Promise<string> => (await fetch(address.replace('3000', port), { headers })).text()
    await expect.poll(() => answer().catch(() => ''), { timeout: 60_000 }).toBe('hello')
  })
})
