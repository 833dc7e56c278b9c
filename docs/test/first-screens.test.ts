import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@scoregw/server-kit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { readPage, root } from './markdown.ts'

interface Report {
  readonly results: readonly { readonly name: string; readonly perSecond: number }[]
  readonly compared?: readonly { readonly what: string; readonly other: string; readonly ratio: number }[]
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

describe('the speeds in README.md', () => {
  const text = readPage('README.md').replaceAll(/\s+/g, ' ').replaceAll('**', '')

  it('the README has the speeds of the recorded benchmarks', () => {
    const inMemory = (speedOf('memory', 'quota: await consume') / 1e6).toFixed(1)
    expect(text).toContain(`${inMemory} million decisions per CPU second in memory`)
    expect(text).toContain(`${thousands(speedOf('redis', 'quota: six counters, 64 callers'))} per second on Redis`)
    expect(text).toContain(
      `${thousands(speedOf('sql', 'quota on PostgreSQL: six counters, 64 callers'))} on PostgreSQL`,
    )
  })

  it('the README names the measured machine', () => {
    for (const suite of ['memory', 'redis', 'sql']) {
      const { cpu, cores } = reportOf(suite).machine
      expect(text, suite).toContain(`an ${cpu} with ${cores} cores`)
    }
  })
})

describe.each(['docs/index.md', 'docs/zh/index.md'])('the figures of %s', (page) => {
  const figures = [...readPage(page).matchAll(/^- \*\*([\d.,]+)(?: ×|\+)?\*\* /gm)].map(([, figure]) => figure)
  const times = (ratio: number): string => String(ratio < 10 ? Math.round(10 * ratio) / 10 : Math.round(ratio))

  it('the figures are those of the recorded benchmarks, compared with one library', () => {
    const { compared = [] } = reportOf('single')
    const oneLimit = (what: string): number =>
      compared.find((row) => row.what === what && row.other.startsWith('rate-limiter-flexible'))?.ratio ?? Number.NaN
    const sixLimits = (callers: string): number =>
      speedOf('redis', `quota: six counters, ${callers}`) /
      speedOf('redis', `rate-limiter-flexible: six limits, two unions, ${callers}`)
    const wanted = [oneLimit('memory, await consume'), oneLimit('Redis, 64 callers')]
    wanted.push(sixLimits('1 caller'), sixLimits('64 callers'))
    expect(figures.slice(0, 4)).toEqual(wanted.map(times))
  })

  it('the repository has as many tests', () => {
    const members = ['packages', 'examples', 'internal'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    )
    const folders = [...members, 'bench', 'docs', 'scripts'].map((member) => join(root, member, 'test'))
    const files = folders
      .filter(existsSync)
      .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    const texts = files.filter((file) => /\.(?:test|check)\.ts$/.test(file)).map((file) => readFileSync(file, 'utf8'))
    const tests = texts.reduce((sum, text) => sum + (text.match(/^\s*(?:it|test)[.(]/gm)?.length ?? 0), 0)
    expect(tests).toBeGreaterThan(Number(figures[4]?.replace(',', '')))
  })
})

it.each([
  ['README.md', 'Without a framework'],
  ['README.zh-CN.md', '不用框架'],
])('%s has the code of the home page’s tabs', (page, plain) => {
  const home = readPage('docs/index.md')
  const text = readPage(page)
  for (const tab of ['Fastify', 'Hono', 'Next.js', 'Without a framework']) {
    const code = home.split(`[${tab}]\n`)[1]?.split('```')[0] ?? 'missing'
    const title = tab === 'Without a framework' ? plain : tab
    expect(text.split(`<b>${title}</b>`)[1]?.split('</details>')[0], tab).toContain(`\n${code}`)
  }
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
