import { setTimeout } from 'node:timers/promises'
import { redisTests } from '@scoregw/redis-server'
import { describe, expect, it } from 'vitest'
import { LAYERS, WINDOWS } from '../src/quota/policy.ts'
import { ownContract } from './support/documents.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, HOUR_MS, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { runWithPolicy } from './support/process.ts'
import { redisServer } from './support/redis.ts'
import { shared } from './support/shared.ts'
import type { PolicyLines } from './support/with-policy.ts'

/** The cost of a write. */
const PRICE = 15
const LOADERS = ['load-1', 'load-2']
const MILLION = { '1h': 10 ** 6, '5h': 10 ** 6, '1d': 10 ** 6 }
const BEFORE: PolicyLines = { windows: WINDOWS, layers: LAYERS }
/** A line more for a window, a line more for a layer: a user has one write in two hours, everybody together many. */
const AFTER: PolicyLines = {
  windows: [...WINDOWS, { label: '2h', lengthMs: 2 * HOUR_MS, tokens: { read: 100, write: 20 } }],
  layers: [...LAYERS, { name: 'campus', scope: 'Campus', shared: true, times: { every: 10_000 } }],
}

type Send = ReturnType<typeof sender>
type Process = Awaited<ReturnType<typeof runWithPolicy>> & { readonly send: Send }

/** Starts processes on one Redis and one database, each with a policy of its own. */
async function starter(): Promise<(lines: PolicyLines) => Promise<Process>> {
  const redis = await redisServer({ aof: true })
  const dataDir = tempDir()
  const tokens = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
  const env = { ...tokens, DATA_DIR_SHARED: 'true', REDIS_URL: redis.url, LOG_LEVEL: 'error' }
  return async (lines) => {
    const child = await runWithPolicy(lines, dataDir, env)
    return { ...child, send: sender(child.baseUrl, ownContract(child.baseUrl)) }
  }
}

async function stop({ process: child, ended, stderr }: Process): Promise<void> {
  child.kill('SIGTERM')
  expect([await ended(), stderr()]).toEqual([{ code: 0, signal: null }, ''])
}

async function admin({ send }: Process, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { 'If-Match': '*' }
  const answer = await send(method, `/admin/${path}`, { token: ADMIN_TOKEN, headers, ...(body && { body }) })
  expect([path, answer.status]).toEqual([path, expect.toSatisfy((status) => status < 300)])
  return answer
}

async function changeSettings(at: Process, change: (document: Answer['body']) => object): Promise<void> {
  const { version: _, ...document } = (await admin(at, 'GET', 'quota/settings')).body
  await admin(at, 'PUT', 'quota/settings', { ...document, ...change(document) })
}

/** A user of whom nothing was counted yet. */
async function newUser(at: Process, id: string): Promise<string> {
  return String((await admin(at, 'POST', `users/${id}/tokens`, { label: 'rolling' })).body.token)
}

let plays = 0
async function write({ send }: Process, token: string): Promise<Answer> {
  plays++
  return send('POST', '/v1/music/upsert', { token, body: { musicList: [{ ...ENTRY, dxScore: plays % 1_500 }] } })
}

/** What was used for writes, by layer and window. */
async function usedOf(at: Process, id: string): Promise<Record<string, number>> {
  const { windows } = (await admin(at, 'GET', `users/${id}/quota/status`)).body
  return Object.fromEntries(
    windows.write.map((each: { layer: string; window: string; used: number }) => [
      `${each.layer} ${each.window}`,
      each.used,
    ]),
  )
}

/** Users who write one thing after the other, to whichever of the processes are there. */
class Load {
  admitted = 0
  /** Of requests that a stopping process cut off nobody knows whether they were charged. */
  cutOff = 0
  isOver = false
  readonly #done: Promise<void>[]

  constructor(processes: Process[], tokens: readonly string[]) {
    this.#done = tokens.map(async (token, index) => {
      for (let turn = index; !this.isOver; turn++) {
        await this.#write(processes[turn % processes.length]!, token)
        // Leaves the machine to the processes that start meanwhile.
        await setTimeout(20)
      }
    })
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.#done)
  }

  async #write(at: Process, token: string): Promise<void> {
    try {
      const { status } = await write(at, token)
      expect([200, 429, 503]).toContain(status)
      if (status === 200) this.admitted++
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const { code } = (error.cause ?? {}) as { code?: string }
      if (code !== 'ECONNREFUSED') this.cutOff++
    }
  }
}

/** One process after the other gets a window and a layer more, under load, and one goes back. */
async function rollForthAndBack() {
  const start = await starter()
  const processes = await Promise.all([start(BEFORE), start(BEFORE)])
  const [old] = processes as [Process, Process]
  await changeSettings(old, ({ base, prices }) => ({
    base: { personal: { ...base.personal, write: MILLION }, site: { ...base.site, write: MILLION } },
    prices: { ...prices, 'user.data': 3 },
  }))
  const tokens = await Promise.all(LOADERS.map((id) => newUser(old, id)))
  const carol = await newUser(old, 'carol')
  await admin(old, 'PUT', 'users/carol/quota', { overrides: { write: { '1h': 100, '5h': 60 } } })
  const first: Answer[] = []
  for (const at of [...processes, old]) first.push(await write(at, carol))
  const load = new Load(processes, tokens)

  // One process has the new policy.
  await stop(processes[0]!)
  processes[0] = await start(AFTER)
  const [changed, unchanged] = processes as [Process, Process]
  for (const id of LOADERS)
    await admin(changed, 'PUT', `users/${id}/quota`, { overrides: { write: { '2h': 10 ** 6 } } })
  const used = { unchanged: await usedOf(unchanged, 'carol'), changed: await usedOf(changed, 'carol') }
  const tries = await Promise.all(Array.from({ length: 12 }, (_, index) => write(processes[index % 2]!, carol)))
  const dave = await newUser(changed, 'dave')
  const byDave: Answer[] = []
  for (const at of [changed, changed, unchanged, changed]) byDave.push(await write(at, dave))
  await changeSettings(changed, ({ campus, base }) => ({
    base: { ...base, site: { ...base.site, write: { ...MILLION, '2h': 10 ** 6 } } },
    campus: { ...campus, multiplier: 2 },
    mode: 'lenient',
  }))
  await changeSettings(unchanged, () => ({ mode: 'normal' }))
  const settings = {
    changed: (await admin(changed, 'GET', 'quota/settings')).body,
    unchanged: (await admin(unchanged, 'GET', 'quota/settings')).body,
  }

  // Both have the new policy.
  await stop(unchanged)
  processes[1] = await start(AFTER)
  await load.stop()
  const after: { carol: object; dave: object; site: number | undefined; again: Answer }[] = []
  for (const at of processes) {
    const [ofCarol, ofDave] = [await usedOf(at, 'carol'), await usedOf(at, 'dave')]
    const { 'site 1d': site } = await usedOf(at, 'demo')
    after.push({ carol: ofCarol, dave: ofDave, site, again: await write(at, dave) })
  }
  const { 'campus 1d': campus = 0, 'site 1d': site = 0 } = await usedOf(processes[0]!, 'demo')
  await changeSettings(processes[1]!, ({ base }) => ({
    base: { ...base, campus: { ...base.campus, write: { ...base.campus.write, '1d': campus + PRICE } } },
    campus: { enabled: true, multiplier: 1 },
  }))
  const fresh = await Promise.all(['eve', 'finn', 'gus', 'hal'].map((id) => newUser(processes[0]!, id)))
  const last = await Promise.all(fresh.map((token, index) => write(processes[index % 2]!, token)))

  // One goes back.
  await stop(processes[0]!)
  const back = await start(BEFORE)
  const reverted = { used: await usedOf(back, 'carol'), answer: await write(back, carol) }
  return { load, first, used, tries, byDave, settings, after, campus, site, last, reverted }
}

describe.runIf(redisTests)('one more window and layer, process after process', () => {
  const story = shared(rollForthAndBack)

  it('counters of shared windows continue in processes with the old and the new policy', () => {
    const { first, used } = story()
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200])
    const known = { 'personal 1h': 45, 'personal 5h': 45, 'personal 1d': 45 }
    expect(used.unchanged).toMatchObject(known)
    expect(used.changed).toMatchObject({ ...known, 'personal 2h': 0 })
  })

  it('processes with the old and the new policy share the limit of a common window', () => {
    const refused = story().tries.filter(({ status }) => status !== 200)
    expect(refused.map(({ body }) => [body.quota.scope, body.quota.window])).toEqual(Array(11).fill(['Personal', '5h']))
  })

  it('a new window binds requests to processes with the new policy', () => {
    const [first, second] = story().byDave
    expect([first?.status, second?.status, second?.body.quota?.window]).toEqual([200, 429, '2h'])
  })

  it('a process with the old policy keeps a new window’s counter when it writes', () => {
    const [, , carried, again] = story().byDave
    expect(carried?.status).toBe(200)
    expect(again?.body.quota).toMatchObject({ window: '2h', used: PRICE })
  })

  it('settings set through a process with either policy are kept by the other', () => {
    const { changed, unchanged } = story().settings
    expect(changed).toMatchObject({ mode: 'normal', campus: { multiplier: 2 }, prices: { 'user.data': 3 } })
    expect(changed.base.personal.write).toEqual({ ...MILLION, '2h': 20 })
    expect(changed.base.site.write).toEqual({ ...MILLION, '2h': 10 ** 6 })
    expect(unchanged.faults).not.toEqual([])
  })

  it('no counter is lost when every process has the new policy', () => {
    const { after, load } = story()
    const total = PRICE * (load.admitted + 4 + 2)
    for (const { carol, dave, site, again } of after) {
      expect(carol).toMatchObject({ 'personal 1h': 60, 'personal 5h': 60, 'personal 1d': 60 })
      expect(dave).toMatchObject({ 'personal 1d': 30, 'personal 2h': 15 })
      expect(site).toBeGreaterThanOrEqual(total)
      expect(site).toBeLessThanOrEqual(total + PRICE * load.cutOff)
      expect([again.status, again.body.quota?.window]).toEqual([429, '2h'])
    }
  })

  it('a new layer counts what processes with the new policy admitted', () => {
    const { campus, site } = story()
    expect(campus).toBeGreaterThanOrEqual(3 * PRICE)
    expect(campus).toBeLessThan(site)
  })

  it('processes with the new policy share the limit of a new layer', () => {
    const refused = story().last.filter(({ status }) => status !== 200)
    expect(refused.map(({ body }) => [body.quota.scope, body.quota.window])).toEqual(Array(3).fill(['Campus', '1d']))
  })

  it('counters of shared windows are unchanged in a process that goes back to the old policy', () => {
    const { used, answer } = story().reverted
    expect(used).toEqual({
      ...{ 'personal 1h': 60, 'personal 5h': 60, 'personal 1d': 60 },
      ...Object.fromEntries(['1h', '5h', '1d'].map((label) => [`site ${label}`, expect.any(Number) as unknown])),
    })
    expect(answer.body.quota).toMatchObject({ scope: 'Personal', window: '5h', used: 60, limit: 60 })
  })
})
