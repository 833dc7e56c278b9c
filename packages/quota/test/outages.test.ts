import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore, QuotaError, type QuotaOptions } from '../src/index.ts'
import type { AsyncStore } from '../src/store.ts'

const policy = definePolicy({
  limits: { perHour: { by: 'user', limit: 1_000, per: '1h' } },
  operations: { read: {}, write: {} },
})

/** An engine on a store that fails when it should, and what it logs. */
function failing(options: Partial<QuotaOptions<'read' | 'write'>> = {}) {
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs, advance: (ms: number) => (clock.nowMs += ms) }
  const inner = memoryStore({ clock })
  const state: { error: unknown } = { error: undefined }
  const store: AsyncStore = {
    sync: false,
    open(schema) {
      const counters = inner.open(schema)
      return {
        async take(request) {
          if (state.error !== undefined) throw state.error
          return counters.take(request)
        },
        read: async (request) => counters.read(request),
        settle: async (request) => counters.settle(request),
        reset: async (request) => counters.reset(request),
      }
    },
  }
  const lines: string[] = []
  const logger = {
    warn: (line: unknown) => void lines.push(`warn ${String(line)}`),
    error: (line: unknown) => void lines.push(`error ${String(line)}`),
  }
  const quota = createQuota({ policy, store, clock, logger, ...options })
  const call = async (error: unknown, times = 1, operation: 'read' | 'write' = 'read') => {
    state.error = error
    for (let i = 0; i < times; i++) await quota.consume({ subject: 'u', operation }).catch(() => undefined)
  }
  return { quota, clock, lines, call }
}

const DOCS = 'https://github.com/scoregw/quota/blob/main/docs/reference/errors.md#store_error'
const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' })
const away = new QuotaError('store_error', 'No answer within 150 ms', { cause: refused })
const LINE = `error quota: store_error: No answer within 150 ms: connect ECONNREFUSED 10.0.0.1:6379. Requests get 503 until it answers. ${DOCS}`

describe('logs of outages', () => {
  it('an outage is one log line and its recovery another', async () => {
    const { clock, lines, call } = failing()
    await call(undefined)
    await call(away, 170)
    clock.advance(12_000)
    await call(new QuotaError('store_error', 'Not called now', { cause: away }), 170)
    expect(lines).toEqual([LINE])
    await call(undefined, 3)
    expect(lines.slice(1)).toEqual(['warn quota: recovered after 12 s, 340 requests answered 503.'])
  })

  it('an outage that comes and goes is logged at most once a minute per cause', async () => {
    const { clock, lines, call } = failing()
    for (let second = 0; second < 59; second++) {
      await call(away, 2)
      await call(undefined)
      clock.advance(1_000)
    }
    expect(lines).toEqual([LINE, 'warn quota: recovered after 0 s, 2 requests answered 503.'])
    await call(new QuotaError('store_error', 'Out of memory'))
    clock.advance(1_000)
    await call(away)
    expect(lines.slice(2)).toEqual([
      `error quota: store_error: Out of memory. Requests get 503 until it answers. ${DOCS}`,
      LINE.replace(' https:', ' So far: 1 s, 1 request answered 503. https:'),
    ])
    await call(undefined)
    const { length } = lines
    // A clock that is set back makes no outage silent.
    clock.advance(-3_600_000)
    await call(away)
    expect(lines.slice(length)).toEqual([LINE])
  })

  it('an outage with a different error each time doesn’t flood the log', async () => {
    const { lines, call } = failing()
    for (let i = 0; i < 100; i++) await call(new Error(`request ${i} failed`))
    expect(lines).toHaveLength(10)
  })

  it('the log line of an outage says what callers get', async () => {
    const open = failing({ failurePolicy: { read: 'open', write: 'open' } })
    await open.call(away)
    await open.call(undefined)
    expect(open.lines[0]).toContain('Requests are admitted without being counted until it answers.')
    expect(open.lines[1]).toContain('1 request admitted without the store')
    const mixed = failing({ failurePolicy: { read: { local: { expectedProcesses: 2 } } } })
    await mixed.call(away)
    expect(mixed.lines[0]).toContain(
      `requests of "read" are admitted up to this process's share, then get 503, of "write" get 503.`,
    )
  })

  it('the log line of an outage has no credentials, even if the error has some', async () => {
    const { lines, call } = failing()
    await call(new Error('connect redis://app:p@ss@db.example.com:6379/0 failed\nError: injected'))
    const attempts = [new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')]
    await call(Object.assign(new AggregateError(attempts, 'connect'), { message: '' }))
    expect(lines[0]).toContain('redis://db.example.com:6379/0 failed?Error: injected')
    expect(lines[1]).toContain('connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1')
  })

  it('an outage isn’t logged if degraded has a listener or the logger is false', async () => {
    const heard = failing()
    const stop = heard.quota.on('degraded', () => undefined)
    await heard.call(away)
    await heard.call(undefined)
    expect(heard.lines).toEqual([])
    stop()
    await heard.call(away)
    expect(heard.lines).toEqual([LINE])
    const silent = failing({ logger: false })
    await silent.call(away)
    expect(silent.lines).toEqual([])
  })

  it('an outage while the clock is broken is logged without a duration, and later ones with one', async () => {
    const { clock, lines, call } = failing()
    const now = clock.nowMs
    clock.nowMs = Number.NaN
    await call(away, 3)
    clock.nowMs = now
    await call(undefined)
    expect(lines).toEqual([LINE, 'warn quota: recovered after 3 requests answered 503.'])
    clock.advance(60_000)
    await call(away)
    clock.advance(5_000)
    await call(undefined)
    expect(lines.slice(2)).toEqual([LINE, 'warn quota: recovered after 5 s, 1 request answered 503.'])
  })

  it('an outage of a damaged row doesn’t end when another row is read', async () => {
    const { lines, call } = failing()
    await call(new QuotaError('damaged_row', 'the row at r cannot be read'))
    await call(undefined)
    expect(lines).toHaveLength(1)
  })
})
