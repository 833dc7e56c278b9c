import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningWorker } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEntry } from './support/worker.ts'

/** A request whose caller may reset the connection, as the runtime sees callers that leave. */
async function leaver(url: string, path: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nX-User: left\r\nX-Team: left\r\n\r\n`)
  return socket
}

type Costs = Readonly<Record<string, number>>

/** workerd is fetched from npm the first time, which a plain `npm test` shall not do. */
describe.runIf(process.env.RUNTIME_TESTS === 'on')('a Worker with Durable Objects', () => {
  let storage: string
  let worker: RunningWorker
  const start = () => startEntry('app.ts', { objects: { QUOTA: 'CountedObject', SETTINGS: 'SlowObject' }, storage })
  beforeAll(async () => {
    storage = await mkdtemp(join(tmpdir(), 'quota-objects-'))
    worker = await start()
  })
  afterAll(async () => {
    await worker.stop()
    await rm(storage, { recursive: true })
  })

  const send = (path: string, user: string, team: string, signal?: AbortSignal): Promise<Response> =>
    fetch(new URL(path, worker.url), { headers: { 'x-user': user, 'x-team': team }, ...(signal && { signal }) })
  const answerOf = async (path: string, user = 'ann', team = 'blue'): Promise<unknown> => {
    const answer = await send(path, user, team)
    const value = await answer.json()
    if (!answer.ok) throw new Error(`${path}: ${value}`)
    return value
  }

  it('a Worker answers 429 above the limit, separately for each team', async () => {
    const statuses = async (team: string, times: number) => {
      const answers: Response[] = []
      for (let i = 0; i < times; i++) answers.push(await send('/metered', 'ann', team))
      await Promise.all(answers.map((answer) => answer.body?.cancel()))
      return answers.map(({ status, headers }) => [status, headers.has('retry-after')])
    }
    const admitted = [200, false]
    expect(await statuses('red', 5)).toEqual([admitted, admitted, admitted, [429, true], [429, true]])
    expect(await statuses('green', 1)).toEqual([admitted])
  })

  it('1,000 charges are neither lost nor repeated while objects and then the runtime restart', async () => {
    let [done, next] = [0, 0]
    const statuses = new Set<unknown>()
    let restarted: Promise<void> | undefined
    const charge = async (id: number): Promise<void> => {
      try {
        statuses.add(await answerOf(`/charge?id=c${id}`, 'ann', 'crash'))
      } catch {
        // In doubt: under the same id it is charged once.
        await restarted
        await charge(id)
      }
    }
    const restart = async (): Promise<void> => {
      await worker.stop()
      worker = await start()
    }
    const disasters: Record<number, () => unknown> = {
      200: () => send('/abort?name=quota/crash', 'ann', 'crash'),
      400: () => send('/abort?name=quota/crash', 'ann', 'crash'),
      600: () => (restarted = restart()),
    }
    const caller = async (): Promise<void> => {
      while (next < 1_000) {
        await charge(next++)
        await disasters[++done]?.()
      }
    }
    await Promise.all(Array.from({ length: 20 }, caller))
    expect(done).toBe(1_000)
    for (const status of statuses) expect(['held', 'duplicate', 'reserved']).toContain(status)
    const used = [1_000, 10_000, 100_000]
    expect(await answerOf('/used', 'ann', 'crash')).toEqual([...used, ...used])
  })

  it.each(['sharded', 'one'])('a hold of a dead holder is given back by the next call: %s', async (quota) => {
    const team = `holds-${quota}`
    const before = Number(await answerOf('/ended'))
    expect(await answerOf(`/hold?ttl=1000&quota=${quota}`, 'eve', team)).toBe(true)
    await expect.poll(() => answerOf(`/used?quota=${quota}`, 'eve', team)).toEqual(Array(6).fill(0))
    // The event follows the refund.
    await expect.poll(() => answerOf('/ended')).toBe(before + 1)
  })

  it('a hold that ends during any call is reported', async () => {
    // The object's store does its chores with every 64th call: some of these holds end between two readings of that call.
    for (let seconds = 110; seconds < 135; seconds++) {
      const team = `ticks-${seconds}`
      await answerOf(`/tick?name=quota/${team}&ms=1000`)
      const before = Number(await answerOf('/ended'))
      expect(await answerOf(`/hold?ttl=${1_000 * seconds}`, 'eve', team)).toBe(true)
      let used: unknown
      do used = await answerOf('/used', 'eve', team)
      while (String(used) !== '0,0,0,0,0,0')
      await expect.poll(() => answerOf('/ended')).toBe(before + 1)
    }
  })

  it('a hold of a dead holder is given back by its alarm, without a call and after an eviction', async () => {
    const object = 'name=quota/alarms'
    expect(await answerOf('/alarm-at?name=quota/alarms')).toBe(null)
    expect(await answerOf('/hold?ttl=1000', 'eve', 'alarms')).toBe(true)
    const alarmAt = Number(await answerOf(`/alarm-at?${object}`))
    expect(alarmAt - Date.now()).toBeLessThanOrEqual(3_600_000)
    await answerOf(`/abort?${object}`)
    await answerOf('/consume', 'eve', 'alarms')
    expect(await answerOf(`/alarm-at?${object}`)).toBe(alarmAt)
    await answerOf(`/abort?${object}`)
    const before = Number(await answerOf('/ended'))
    await expect
      .poll(async () => {
        await answerOf(`/alarm?${object}`)
        return answerOf('/ended')
      })
      .toBe(before + 1)
  })

  it.each(['sharded', 'slow'])('a third of 640 callers leave and all others are answered: %s', async (quota) => {
    const outcomes: Record<string, number> = {}
    const call = async (index: number): Promise<void> => {
      const answer = await send(`/consume?quota=${quota}`, `u${index}`, `stays${index % 4}`)
      const outcome = `${answer.status} ${await answer.text()}`
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
    for (let round = 0; round < 10; round++) {
      const before = await answerOf('/slow-calls?new-engine')
      // The first caller of a new engine has it read the settings for all others, and leaves meanwhile.
      const leavers = [await leaver(worker.url, `/consume?quota=${quota}`)]
      if (quota === 'slow') await expect.poll(() => answerOf('/slow-calls')).not.toBe(before)
      const others: Promise<void>[] = []
      for (let index = 1; index < 64; index++) {
        if (index % 3 === 0) leavers.push(await leaver(worker.url, `/consume?quota=${quota}`))
        else others.push(call(index))
      }
      for (const socket of leavers) socket.resetAndDestroy()
      await Promise.all(others)
    }
    expect(outcomes).toEqual({ '200 true': 420 })
  })

  it.each(['one', 'sharded'])('decisions use settings that another Worker just changed: %s', async (how) => {
    expect(await answerOf(`/followed?how=${how}`, `f-${how}`)).toEqual([true, false, true, false, true])
  })

  it('layers that several objects can’t share and settings outside the objects are rejected with the reason', async () => {
    expect(await answerOf('/mistakes')).toEqual([
      expect.stringMatching(/^store_unsupported: .* shardBy "user": layer "team" is shared/),
      expect.stringMatching(
        /^quota_unavailable: .* Pass the same durableObjectSettings\(\) to createQuota\(\) and to this store\.$/,
      ),
    ])
  })

  it('storage operations cost what the guide says', async () => {
    /** Rows read and written by a call; every 64th also deletes some of what ended. */
    const costOf = async (path: string, before?: string): Promise<string> => {
      const costs: string[] = []
      for (let i = 0; i < 3; i++) {
        if (before !== undefined) await answerOf(before)
        const [old, , now] = [
          await answerOf('/billed'),
          await answerOf(path, 'bill', 'costs'),
          await answerOf('/billed'),
        ]
        const since = (name: string): number => (now as Costs)[name]! - (old as Costs)[name]!
        costs.push(`${since('read')} read, ${since('written')} written`)
      }
      return costs[1] === costs[2] ? costs[2]! : costs.join('; ')
    }
    await answerOf('/consume', 'bill', 'costs')
    expect({
      admitted: await costOf('/consume'),
      refused: await costOf('/refused'),
      held: await costOf('/hold-and-commit'),
      woken: await costOf('/refused', '/abort?name=quota/costs'),
    }).toEqual({
      admitted: '11 read, 2 written',
      refused: '5 read, 0 written',
      held: '19 read, 8 written',
      woken: '9 read, 0 written',
    })
  })
})
