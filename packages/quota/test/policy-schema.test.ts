import { readFileSync } from 'node:fs'
import { randomRuns } from '@scoregw/server-kit'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { money, parsePolicy } from '../src/index.ts'

const RUNS = randomRuns(1_000, 40_000)
const FILE = 'policy.schema.json'
const schema = JSON.parse(readFileSync(new URL(`../${FILE}`, import.meta.url), 'utf8')) as object
const ajv = new Ajv({ allErrors: true, strictTypes: false })
const isValid = ajv.compile(schema)

/** The faults of a document as the schema sees them; empty if it is valid. */
function bySchema(document: unknown): string[] {
  return isValid(document)
    ? []
    : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Whether the engine reads the document, as JSON. */
function isRead(document: unknown): boolean {
  try {
    parsePolicy(JSON.parse(JSON.stringify(document)))
    return true
  } catch {
    return false
  }
}

const API = { by: 'user', limit: 100, per: '15m' }

/** Each with limits, operations and other members of a policy. */
const GOOD: Readonly<Record<string, object>> = {
  'one limit': { limits: { api: API } },
  'a name of every sign': { limits: { 'a.b_c:d/e-1': { by: 'a.b_c/d-1', limit: 1, per: '1s' } } },
  'where the schema is': { $schema: './node_modules/@scoregw/quota/policy.schema.json', limits: { api: API } },
  'the example of the documentation': {
    limits: {
      perMinute: { by: 'user', limit: 20, per: '1m' },
      tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
      budget: { by: 'team', limit: { USD: '100.00' }, of: { money: 'USD' }, every: 'month', timeZone: 'UTC' },
      atOnce: { by: 'user', concurrency: 3, for: 'chat' },
      writes: { by: 'user', limit: 30, per: '1m', for: ['write'] },
      service: { shared: 'service', limit: 900, per: '1m' },
    },
    operations: {
      chat: { cost: { tokens: 2_000, usd: { USD: '0.009' } }, overrun: 'charge', maxOverrun: { tokens: 1, usd: 0 } },
      save: { category: 'write' },
      look: {},
    },
    plans: { 'cloud:pro': { perMinute: 200, tokens: 1_000_000 }, trial: { budget: { USD: '0.00' } } },
    titles: { service: 'All', team: 'Team' },
    planOf: 'team',
  },
  'every kind of time': {
    limits: {
      bucket: { by: 'user', limit: 10, per: '1m', burst: 5, title: '十', shadow: true, formerly: 'old' },
      share: { by: 'user', limit: 'unlimited', per: '2m', burst: { share: 0.07 } },
      hour: { by: 'user', limit: 1, every: 'hour', timeZone: 'UTC' },
      week: {
        by: 'user',
        limit: 2,
        every: 'week',
        timeZone: 'Asia/Shanghai',
        weekStartsOn: 7,
        anchor: { time: '05:30' },
      },
      month: { by: 'user', limit: 3, every: 'month', timeZone: 'Europe/Berlin', anchor: { day: 31, time: '00:00' } },
      year: { by: 'user', limit: 4, every: 'year', timeZone: 'UTC', anchor: { month: 12, day: 1 } },
      own: { by: 'user', limit: 5, every: 'month', timeZone: 'UTC', anchor: 'subject' },
    },
    plans: { pro: { bucket: { limit: 100, burst: 1 }, share: { limit: 'unlimited', burst: 9 }, own: 'unlimited' } },
  },
  'a currency as the unit': {
    unit: { money: 'EUR' },
    limits: { budget: { by: 'user', limit: { EUR: '5' }, per: '30d' } },
    operations: { buy: { cost: { EUR: '0.25' } }, look: { free: true } },
  },
}

/** Faults that an editor can show, by what is wrong. */
const FAULTY: Readonly<Record<string, object>> = {
  'no limits': {},
  'an empty table': { limits: {} },
  'a table of layers': { windows: [{ label: '1h' }], base: { user: { call: { '1h': 5 } } } },
  'an unknown member': { limits: { api: API }, plan: {} },
  'a number for a time': { limits: { api: { ...API, per: 900 } } },
  'a time in words': { limits: { api: { ...API, per: '15 minutes' } } },
  'no time': { limits: { api: { by: 'user', limit: 5 } } },
  'two times': { limits: { api: { ...API, every: 'day', timeZone: 'UTC' } } },
  'nobody whose it is': { limits: { api: { limit: 5, per: '1m' } } },
  'both by and shared': { limits: { api: { ...API, shared: 'service' } } },
  'several keys': { limits: { api: { ...API, by: ['user', 'model'] } } },
  'a negative number': { limits: { api: { ...API, limit: -1 } } },
  'half a number': { limits: { api: { ...API, limit: 0.5 } } },
  'a number above 10^15': { limits: { api: { ...API, limit: 10 ** 15 + 1 } } },
  'a number as text': { limits: { api: { ...API, limit: '100' } } },
  'no number': { limits: { api: { by: 'user', per: '1m' } } },
  'the word of another library': { limits: { api: { by: 'user', max: 100, per: '1m' } } },
  'money with seven decimals': { limits: { api: { ...API, limit: { USD: '1.0000001' }, of: 'usd' } } },
  'money as a number': { limits: { api: { ...API, limit: { USD: 1 }, of: 'usd' } } },
  'money in two currencies': { limits: { api: { ...API, limit: { USD: '1', EUR: '1' }, of: 'usd' } } },
  'a small currency': { limits: { api: { ...API, of: { money: 'usd' } } } },
  'a currency with another member': { limits: { api: { ...API, of: { money: 'USD', digits: 2 } } } },
  'a currency as the engine keeps it': {
    limits: { api: { ...API, of: { name: 'usd', format: { currency: 'USD', scale: 6 } } } },
  },
  'slots as a unit': { limits: { api: { ...API, of: 'slots' } } },
  'an inherited name as a unit': { limits: { api: { ...API, of: 'toString' } } },
  'a name with a space': { limits: { 'a b': API } },
  'a layer with a colon': { limits: { api: { ...API, by: 'a:b' } } },
  'a burst of 0': { limits: { api: { ...API, burst: 0 } } },
  'a share of 2': { limits: { api: { ...API, burst: { share: 2 } } } },
  'concurrency per time': { limits: { api: { by: 'user', concurrency: 3, per: '1m' } } },
  'a period without a zone': { limits: { api: { by: 'user', limit: 5, every: 'day' } } },
  'an offset as a zone': { limits: { api: { by: 'user', limit: 5, every: 'day', timeZone: '+08:00' } } },
  'a week that starts on day 0': {
    limits: { api: { by: 'user', limit: 5, every: 'week', timeZone: 'UTC', weekStartsOn: 0 } },
  },
  'a month that starts on Monday': {
    limits: { api: { by: 'user', limit: 5, every: 'month', timeZone: 'UTC', weekStartsOn: 1 } },
  },
  'an hour with an anchor': { limits: { api: { by: 'user', limit: 5, every: 'hour', timeZone: 'UTC', anchor: {} } } },
  'a day on the second': {
    limits: { api: { by: 'user', limit: 5, every: 'day', timeZone: 'UTC', anchor: { day: 2 } } },
  },
  'a month in May': {
    limits: { api: { by: 'user', limit: 5, every: 'month', timeZone: 'UTC', anchor: { month: 5 } } },
  },
  'time at 24:00': {
    limits: { api: { by: 'user', limit: 5, every: 'day', timeZone: 'UTC', anchor: { time: '24:00' } } },
  },
  'null for nothing': { limits: { api: { ...API, title: null } } },
  'an empty title': { limits: { api: { ...API, title: '' } } },
  'a shadow of 1': { limits: { api: { ...API, shadow: 1 } } },
  'no operations of a limit': { limits: { api: { ...API, for: [] } } },
  'an operation with limits': { limits: { api: API }, operations: { chat: { limits: {} } } },
  'a cost of nothing': { limits: { api: API }, operations: { chat: { cost: {} } } },
  'a negative cost': { limits: { api: API }, operations: { chat: { cost: { requests: -1 } } } },
  'an overrun without its most': { limits: { api: API }, operations: { chat: { overrun: 'fit' } } },
  'a most without an overrun': { limits: { api: API }, operations: { chat: { maxOverrun: 5 } } },
  'a plan with a list': { limits: { api: API }, plans: { pro: [200] } },
  'a plan with half a bucket': { limits: { api: { ...API, burst: 5 } }, plans: { pro: { api: { limit: 5 } } } },
  'null for plans': { limits: { api: API }, plans: null },
  'null in a plan': { limits: { api: API }, plans: { pro: { api: null } } },
  'answers in JSON': { limits: { api: API }, answers: {} },
}

describe('the JSON Schema of policies', () => {
  it.each(Object.entries(GOOD))('the engine and the schema accept %s', (_, document) => {
    expect(() => parsePolicy(document)).not.toThrow()
    expect(bySchema(document)).toEqual([])
  })

  it.each(Object.entries(FAULTY))('the engine and the schema refuse %s', (_, document) => {
    expect(() => parsePolicy(document)).toThrow(expect.objectContaining({ code: 'invalid_policy' }) as Error)
    expect(bySchema(document)).not.toEqual([])
  })

  it('the schema accepts amounts as JSON.stringify() writes them', () => {
    const usd = money('USD')
    const document = {
      limits: { budget: { by: 'user', limit: usd(20), of: 'usd', per: '30d' } },
      operations: { chat: { cost: { usd: usd(0.009) } } },
    }
    expect(bySchema(JSON.parse(JSON.stringify(document)))).toEqual([])
  })

  it('the schema accepts every policy that the engine accepts', () => {
    let read = 0
    fc.assert(
      fc.property(documents, (document) => {
        if (!isRead(document)) return
        read++
        expect(bySchema(document), JSON.stringify(document)).toEqual([])
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThan(RUNS / 20)
  })

  it('the package contains the schema, and exports it', () => {
    expect(manifest.files).toContain(FILE)
    expect(manifest.exports).toHaveProperty([`./${FILE}`], `./${FILE}`)
  })
})

/** Mostly one of the right values. */
function mostly<T>(right: readonly T[], ...wrong: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 60, arbitrary: fc.constantFrom<unknown>(...right) }, fc.constantFrom<unknown>(...wrong))
}

const number = mostly([0, 5, 20, 10 ** 15, 'unlimited'], 10 ** 16, -1, 0.5, '5', { USD: '1.5' }, null)
const ofMoney = mostly([{ USD: '1.50' }, 0, 'unlimited'], { USD: '1.' }, { EUR: '1' }, 5)

const limitDefinitions = fc
  .record({
    whose: mostly<object>([{ by: 'user' }, { by: 'user' }, { by: 'team' }, { shared: 'service' }], { by: 'a:b' }, {}),
    much: fc.oneof(
      fc.record({ limit: number, of: mostly([undefined, 'tokens'], 'slots', 'x y', 'constructor', 5) }),
      fc.record({ limit: ofMoney, of: mostly(['usd', { money: 'USD' }], { money: 'usd' }, { money: 'USD', x: 1 }) }),
    ),
    time: fc.oneof(
      fc.record({
        per: mostly(['1m', '2h', '250ms', '1s', '366d'], '0s', '999d', 60),
        burst: mostly([undefined, 1, { share: 0.5 }, { share: 0.07 }], 0, { share: 2 }, 10 ** 16),
      }),
      mostly<object>(
        [
          { every: 'hour', timeZone: 'UTC' },
          { every: 'day', timeZone: 'Asia/Shanghai', anchor: { time: '05:00' } },
          { every: 'week', timeZone: 'UTC', weekStartsOn: 7, anchor: {} },
          { every: 'month', timeZone: 'UTC', anchor: { day: 31, time: '23:59' } },
          { every: 'year', timeZone: 'Europe/Berlin', anchor: { month: 12 } },
          { every: 'month', timeZone: 'UTC', anchor: 'subject' },
        ],
        { every: 'minute', timeZone: 'UTC' },
        { every: 'day', timeZone: 'utc' },
        { every: 'day', timeZone: 'UTC', anchor: { day: 1 } },
      ),
    ),
    others: fc.record({
      for: mostly([undefined, undefined, 'go', ['go', 'look']], 'read', [], 'x y', 5),
      title: mostly([undefined, 'T'], '', 'x'.repeat(65)),
      shadow: mostly([undefined, true, false], 1),
      formerly: mostly([undefined, 'old:1'], 'o d'),
    }),
    slots: mostly([false, false, false, 3, 'unlimited'], -1, { USD: '1' }),
  })
  .map(({ whose, much, time, others, slots }) =>
    slots === false
      ? { ...(whose as object), ...much, ...(time as object), ...others }
      : { ...(whose as object), concurrency: slots, ...others, for: others.for ?? 'go' },
  )

const operation = fc
  .record({
    category: mostly([undefined, 'read'], 'x y', null),
    cost: mostly([undefined, undefined, undefined, 1, { requests: 2 }], {}, -1, { tokens: 5 }, { usd: { USD: '0.1' } }),
    free: mostly([undefined, true], false, 1),
    overrun: mostly<object>(
      [{}, { overrun: 'refuse' }, { overrun: 'fit', maxOverrun: 5 }],
      { overrun: 'charge' },
      { maxOverrun: 1 },
    ),
  })
  .map(({ overrun, ...rest }) => ({ ...rest, ...(overrun as object) }))

const documents = fc
  .record({
    limits: fc.array(limitDefinitions, { minLength: 1, maxLength: 3 }),
    names: fc.constantFrom(['a', 'b:c/1', 'd'], ['a', 'B.', '__-'], ['a', 'b', 'x y']),
    operations: fc.record({ go: operation, look: operation }),
    rest: fc.record({
      unit: mostly([undefined, undefined, 'requests'], 'tokens', { money: 'USD' }, 'slots', 5),
      titles: mostly([undefined, { user: 'User' }, {}], { user: '' }, []),
      plans: mostly<unknown>(
        [undefined, {}, { pro: { a: 5 } }, { 'p:1': { a: 'unlimited' } }],
        { pro: { a: null } },
        { 'x y': {} },
      ),
      planOf: mostly([undefined, 'user'], 'a:b'),
    }),
  })
  .map(({ limits, names, operations, rest }) => {
    const named = Object.fromEntries(limits.map((each, at) => [names[at], each]))
    return JSON.parse(JSON.stringify({ ...rest, limits: named, operations })) as unknown
  })
