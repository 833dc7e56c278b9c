import { inspect } from 'node:util'
import { createQuota, type QuotaError } from '@scoregw/quota'
import { type FrontFault, startHttpFront } from '@scoregw/redis-server'
import { freePort } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { type RedisRestStoreOptions, redisRestStore } from '../../src/rest.ts'
import { useCleanups } from '../support/cleanups.ts'
import { policyOf, usedBy } from '../support/engines.ts'
import { redisTests } from '../support/redis-server.ts'

const { later, server } = useCleanups()

/** An engine that has been answered once, so that the server knows its script. */
async function started(options: Partial<RedisRestStoreOptions> = {}) {
  const redis = await server()
  const front = await startHttpFront(redis.port)
  later(() => front.stop())
  const { url, token } = front
  const quota = createQuota({
    policy: policyOf(),
    store: redisRestStore({ url, token, deadlineMs: 5_000, ...options }),
  })
  quota.on('degraded', () => undefined)
  later(() => quota.close())
  await quota.consume({ subject: 'first', operation: 'write' })
  return { quota, front }
}

/** Why a call was not answered. */
async function causeOf(call: Promise<unknown>): Promise<Error> {
  const error = await call.then(
    (answer) => {
      throw new Error(`it was answered: ${JSON.stringify(answer)}`)
    },
    (caught: unknown) => caught,
  )
  expect(error).toMatchObject({ code: 'quota_unavailable' })
  return (error as QuotaError).cause as Error
}

const write = { subject: 'u', operation: 'write' } as const

/** These leave open whether the command was carried out. */
const IN_DOUBT: readonly FrontFault[] = ['broken', 'lost', 'status-502', 'half', 'redirect', 'answer-before', 'no-json']

describe.runIf(redisTests)('missing HTTP responses', () => {
  it.each(IN_DOUBT)('a take without an id isn’t sent again: %s', async (fault) => {
    const { quota, front } = await started()
    const before = front.seen.requests
    front.faults.push(fault)
    const cause = await causeOf(quota.consume(write))
    expect(cause).toMatchObject({ code: 'store_error', message: expect.stringContaining('broke before the answer') })
    expect(front.seen.requests - before).toBe(1)
    expect(await usedBy(quota, 'u')).toBe(fault === 'broken' ? 0 : 1)
  })

  it.each([...IN_DOUBT, 'done-twice', 'answered-twice'] as const)(
    'a take under an id is sent again and charged once: %s',
    async (fault) => {
      const { quota, front } = await started()
      front.faults.push(fault)
      const reservation = await quota.reserve({ ...write, id: 'order-7' })
      expect(reservation.status).toBe('reserved')
      expect(await usedBy(quota, 'u')).toBe(1)
      await reservation.cancel()
      expect(await usedBy(quota, 'u')).toBe(0)
    },
  )

  it('a response without the record that it tells of is refused', async () => {
    let cuts = Number.NaN
    const cutting: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (Number.isNaN(cuts)) return response
      if (++cuts > 2) throw new Error('it is sent again and again')
      const { result } = (await response.json()) as { readonly result: readonly unknown[] }
      const [tag, last, reply] = result
      // A batch's text, without the answers that follow it.
      return Response.json({ result: [tag, last, Array.isArray(reply) ? reply[0] : reply] })
    }
    const { quota } = await started({ fetch: cutting })
    await quota.reserve({ ...write, id: 'order-7' })
    cuts = 0
    const cause = await causeOf(quota.reserve({ ...write, id: 'order-7' }))
    expect(cause).toMatchObject({ code: 'store_error', message: expect.stringContaining('without a record') })
  })

  it('a duplicated response isn’t taken for the next call’s', async () => {
    const { quota, front } = await started()
    front.faults.push('answered-twice')
    await quota.consume(write)
    for (const subject of ['v', 'w', 'x']) {
      const { limits } = await quota.consume({ subject, operation: 'write' })
      expect(limits['personal-writes-hour']?.used).toBe(1)
    }
  })

  it('a take is sent again after a connection error, because nothing was executed', async () => {
    let nowhere: string | undefined
    const refusing: typeof fetch = (url, init) => {
      const to = nowhere ?? (url as string)
      nowhere = undefined
      return fetch(to, init)
    }
    const { quota } = await started({ fetch: refusing })
    // Only now, so that no server of this test has the port.
    nowhere = `http://127.0.0.1:${await freePort()}`
    expect(await quota.consume(write)).toMatchObject({ allowed: true })
    expect(nowhere).toBeUndefined()
    expect(await usedBy(quota, 'u')).toBe(1)
  })

  it('a connection error within the deadline names the database’s address', async () => {
    const port = await freePort()
    const store = redisRestStore({ url: `http://127.0.0.1:${port}`, token: 't', deadlineMs: 2_000 })
    const quota = createQuota({ policy: policyOf(), store })
    quota.on('degraded', () => undefined)
    later(() => quota.close())
    expect((await causeOf(quota.consume(write))).message).toContain(`Can't reach http://127.0.0.1:${port}`)
  })
})

describe.runIf(redisTests)('HTTP responses after the deadline', () => {
  /** Holds answers back until they are let go. */
  function gate() {
    let open = (): void => undefined
    const calls: Promise<unknown>[] = []
    const state = { isShut: false, isAborted: false }
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const held: typeof fetch = async (url, init) => {
      const response = fetch(url, init)
      if (!state.isShut) return response
      init?.signal?.addEventListener('abort', () => {
        state.isAborted = true
      })
      calls.push(response.catch(() => undefined))
      await opened
      init?.signal?.throwIfAborted()
      return response
    }
    return { held, state, calls, open }
  }

  /** An engine whose answers come after its deadline, and one that reads the counters. */
  async function late(options: Partial<RedisRestStoreOptions> = {}) {
    const { quota, front } = await started()
    const { url, token } = front
    const { held, calls, state, open } = gate()
    state.isShut = true
    const store = redisRestStore({ url, token, deadlineMs: 2_000, fetch: held, ...options })
    const hasty = createQuota({ policy: policyOf(), store })
    hasty.on('degraded', () => undefined)
    later(() => hasty.close())
    const why = await causeOf(hasty.consume(write))
    expect(why.message).toContain('no answer within 2000 ms')
    await Promise.all(calls)
    expect(await usedBy(quota, 'u')).toBe(1)
    return { quota, state, open }
  }

  it('a take that is admitted after its deadline is given back', async () => {
    const { quota, state, open } = await late()
    expect(state.isAborted).toBe(false)
    state.isShut = false
    open()
    await expect.poll(() => usedBy(quota, 'u')).toBe(0)
  })

  it('a late response isn’t awaited if the runtime can’t continue after the answer', async () => {
    const { state } = await late({ batch: false })
    expect(state.isAborted).toBe(true)
  })
})

describe.runIf(redisTests)('the HTTP token', () => {
  it('the token is in no error, whatever a proxy answers', async () => {
    const { quota, front } = await started()
    front.faults.push('repeats-token')
    const cause = await causeOf(quota.consume(write))
    expect(cause.message).toContain('no user [token]')
    expect(inspect(cause, { depth: 9 })).not.toContain(front.token)
  })

  it('the error for a wrong token says so', async () => {
    const { front } = await started()
    const store = redisRestStore({ url: front.url, token: 'wrong-token' })
    const error = await store.ready!().then(undefined, (caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'store_error', message: expect.stringContaining('WRONGPASS') })
    expect(inspect(error, { depth: 9 })).not.toContain('wrong-token')
  })
})
