import { postgresTests } from '@scoregw/postgres-server'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { runGateway } from './support/process.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
type Send = ReturnType<typeof sender>
/** Tokens of a write. */
const COST = 15

/** Room for so many writes. */
async function limited(send: Send, writes: number): Promise<void> {
  const tokens = writes * COST
  const overrides = { write: { '1h': tokens, '5h': tokens, '1d': tokens } }
  const { status } = await send('PUT', '/admin/users/demo/quota', {
    token: ADMIN_TOKEN,
    body: { overrides, bypassSite: true },
  })
  expect(status).toBe(200)
}

/** How many writes were charged. */
async function used(send: Send): Promise<number> {
  return (await send('GET', '/me/quota')).body.windows.write[0].used / COST
}

/** A write; how it was answered, 0: not at all. */
async function write(send: Send, dxScore: number): Promise<number> {
  const musicList = [{ musicId: 102, level: 3, achievement: 90, dxScore }]
  const answer = await send('POST', '/v1/music/upsert', { body: { musicList } }).catch(() => undefined)
  return answer?.status ?? 0
}

describe('counters in the embedded database', () => {
  it('every answered charge is remembered by the next process after any kill', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const send = sender(first.baseUrl)
    await limited(send, 1_000)
    const cost = await used(send)
    for (let at = 1; at <= 20; at++) expect(await write(send, at)).toBe(200)
    first.process.kill('SIGKILL')
    await first.ended()
    const second = sender((await runGateway(dataDir, TOKENS)).baseUrl)
    expect(await used(second)).toBe(cost + 20)
  })
})

describe.runIf(postgresTests && slowTests)('counters in PostgreSQL', () => {
  it('two processes share limits, and killing either loses no answered charge', async () => {
    const postgres = await postgresServer({ durable: true })
    const env = { ...TOKENS, DATABASE_URL: await postgres.createDatabase() }
    const children = await Promise.all([runGateway(tempDir(), env), runGateway(tempDir(), env)])
    const senders = children.map(({ baseUrl }) => sender(baseUrl)) as [Send, Send]
    await limited(senders[0], 60)
    const limit = async (): Promise<number> => (await senders[1]('GET', '/me/quota')).body.windows.write[0].limit
    await expect.poll(limit).toBe(60 * COST)

    const hammer = async (send: Send, from: number, count: number): Promise<number[]> => {
      const statuses: number[] = []
      for (let at = 0; at < count; at++) statuses.push(await write(send, from + at))
      return statuses
    }
    const before = await Promise.all([hammer(senders[0], 1, 20), hammer(senders[1], 21, 20)])
    expect(before.flat()).toEqual(Array(40).fill(200))
    expect(await Promise.all(senders.map(used))).toEqual([40, 40])

    // One is killed amid its writes; the other goes on until both are refused.
    const dying = hammer(senders[0], 41, 40)
    await expect.poll(() => used(senders[1])).toBeGreaterThan(42)
    children[0]?.process.kill('SIGKILL')
    const answered = (await dying).filter((status) => status === 200).length
    const rest = await hammer(senders[1], 81, 40)
    const admitted = rest.filter((status) => status === 200).length
    expect(rest.at(-1)).toBe(429)
    expect(await used(senders[1])).toBe(60)
    expect(answered + admitted).toBeGreaterThanOrEqual(19)
    expect(answered + admitted).toBeLessThanOrEqual(20)
  })
})
