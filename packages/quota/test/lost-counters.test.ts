import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import type * as core from '../src/index.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Far more collections than it takes. */
const MOST_TURNS = 200

/** A copy of the library of its own: it counts the lost engines of a process. */
async function ownCopy(): Promise<typeof core> {
  const folder = await mkdtemp(join(tmpdir(), 'quota-lost-counters-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const outfile = join(folder, 'quota.mjs')
  const entry = join(import.meta.dirname, '../src/index.ts')
  await build({ entryPoints: [entry], bundle: true, outfile, format: 'esm', platform: 'node' })
  return (await import(outfile)) as typeof core
}

it('an engine that is made for each request is reported once', async () => {
  const { createQuota, memoryStore } = await ownCopy()
  const warnings: unknown[] = []
  const logger = { warn: (warning: unknown) => void warnings.push(warning), error: () => undefined }
  const shared = memoryStore()
  const handle = async (store = memoryStore(), closes = false) => {
    const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } }, store, logger })
    expect((await quota.consume({ subject: 'u' })).allowed).toBe(store !== shared || isFirst)
    if (closes) await quota.close()
    isFirst = false
  }
  let isFirst = true
  // Those that share a store limit, which is reported once, and those that were closed are meant to go.
  for (let i = 0; i < 1_100; i++) await handle(shared)
  for (let i = 0; i < 1_100; i++) await handle(memoryStore(), true)
  await collected()
  expect(warnings.splice(0)).toEqual([expect.stringContaining('shared_counter: two open engines count in the same')])
  for (let i = 0; i < 1_100; i++) await handle()
  for (let turns = 0; warnings.length === 0 && turns < MOST_TURNS; turns++) await collected()
  await collected()
  expect(warnings).toMatchObject([
    { name: 'QuotaWarning', code: 'engine_per_request', docs: expect.stringMatching(/#engine_per_request$/) },
  ])
})

/** Collects garbage, and lets its callbacks run. */
async function collected(): Promise<void> {
  await turn()
  collect()
  await turn()
}
