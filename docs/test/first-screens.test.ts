import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
