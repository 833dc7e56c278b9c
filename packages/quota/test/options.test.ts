import { describe, expect, it } from 'vitest'
import type { QuotaError } from '../src/index.ts'
import {
  aClock,
  aFunction,
  group,
  having,
  nearest,
  oneOf,
  optional,
  optionsParser,
  tableOf,
  textLike,
  wholeNumber,
  withDefault,
} from '../src/internal.ts'

interface Options {
  readonly line: { send(): void }
  readonly prefix: string
  readonly deadlineMs: number
  readonly mode: 'fast' | 'safe'
  readonly onError?: (() => void) | undefined
  readonly inner?: { readonly depth: number } | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

const parse = optionsParser<Options>(
  'thing()',
  () => ({
    line: having(['send'], 'a line'),
    prefix: withDefault(textLike(/^[a-z]{1,8}$/, '1 to 8 small letters'), 'quota'),
    deadlineMs: withDefault(wholeNumber(10, 1_000, 'milliseconds'), 150),
    mode: withDefault(oneOf('fast', 'safe'), 'safe'),
    onError: optional(aFunction()),
    inner: optional(group({ depth: wholeNumber(1, Number.MAX_SAFE_INTEGER) })),
    labels: optional(tableOf(textLike(/./, 'text'), 'an object of labels')),
  }),
  {
    words: { timeout: 'a call may take `deadlineMs`' },
    between: ({ mode, deadlineMs }) =>
      mode === 'fast' && deadlineMs > 500 ? [{ path: 'deadlineMs', message: 'expected at most 500 in mode fast' }] : [],
  },
)

function refusal(options: unknown): QuotaError {
  try {
    parse(options)
  } catch (error) {
    return error as QuotaError
  }
  throw new Error('it was not refused')
}

/** The texts of all faults, without what every message begins with. */
function faults(options: unknown): string {
  return refusal(options).message.replace('invalid options of thing(): ', '')
}

const line = { send: () => undefined }

describe('valid options', () => {
  it('the parser fills in defaults and keeps the other options', () => {
    const onError = (): void => undefined
    expect(parse({ line, onError, inner: { depth: 3 } })).toEqual({
      line,
      onError,
      inner: { depth: 3 },
      prefix: 'quota',
      deadlineMs: 150,
      mode: 'safe',
    })
  })

  it('the parser treats undefined as omitted', () => {
    expect(parse({ line, prefix: undefined, onError: undefined })).toMatchObject({ prefix: 'quota' })
  })

  it('the parser builds its checks once, when the first options come', () => {
    let made = 0
    const lazy = optionsParser<{ readonly clock: unknown }>('lazy()', () => {
      made += 1
      return { clock: aClock() }
    })
    expect(made).toBe(0)
    lazy({ clock: Date })
    lazy({ clock: { now: () => 5 } })
    expect(made).toBe(1)
  })
})

describe('invalid options', () => {
  it.each([
    [{}, 'line: missing; expected a line'],
    [{ line, prefix: 'QUOTA' }, 'prefix: expected 1 to 8 small letters, got "QUOTA"'],
    [{ line, deadlineMs: '150' }, 'deadlineMs: expected a whole number of milliseconds from 10 to 1000, got "150"'],
    [{ line, deadlineMs: Number.NaN }, 'deadlineMs: expected a whole number of milliseconds from 10 to 1000, got NaN'],
    [{ line, mode: 'quick' }, 'mode: expected "fast" or "safe", got "quick"'],
    [{ line: Promise.resolve(line) }, 'line: expected a line, got a promise: await it first'],
    [{ line: 'redis://user:secret@host' }, 'line: expected a line, got a string'],
    [{ line: new Map() }, 'line: expected a line, got an instance of Map without send()'],
    [{ line, inner: {} }, 'inner.depth: missing; expected a whole number, 1 or more'],
    [{ line, inner: 5 }, 'inner: expected an object, got a number'],
    [{ line, inner: { depth: 1, dept: 2 } }, 'inner.dept: unknown key; did you mean "depth"?'],
    [{ line, mode: 'fast', deadlineMs: 501 }, 'deadlineMs: expected at most 500 in mode fast'],
  ])('%j gets its fault', (options, message) => {
    expect(faults(options)).toBe(message)
  })

  it.each([
    ['perfix', 'unknown key; did you mean "prefix"?'],
    ['deadlineMS', 'unknown key; did you mean "deadlineMs"?'],
    ['onerror', 'unknown key; did you mean "onError"?'],
    ['timeout', 'unknown key; a call may take `deadlineMs`'],
    [
      'windowMs',
      'unknown key; write it in `limits`, by name: { limits: { api: { by: "user", limit: 100, per: "15m" } } }',
    ],
    ['banana', 'unknown key; known keys: line, prefix, deadlineMs, mode, onError, inner, labels'],
    ['__proto__', 'unknown key; known keys: line, prefix, deadlineMs, mode, onError, inner, labels'],
  ])('the unknown key %s gets a hint', (key, message) => {
    expect(faults(Object.defineProperty({ line }, key, { value: 1, enumerable: true }))).toBe(`${key}: ${message}`)
  })

  it.each([
    [undefined, 'expected an object, thing({ line }), got nothing'],
    [null, 'expected an object, thing({ line }), got null'],
    ['redis://user:secret@host', 'expected an object, thing({ line }), got a string'],
    [[line], 'expected an object, thing({ line }), got an array'],
    [new Map(), 'expected an object, thing({ line }), got an instance of Map'],
    [Promise.resolve({ line }), 'expected an object, thing({ line }), got a promise: await it first'],
    [line, 'expected an object, got a value for "line": write thing({ line })'],
    [() => undefined, 'expected an object, got a value for "onError": write thing({ line, onError })'],
  ])('%s in place of options gets a hint', (options, message) => {
    expect(faults(options)).toBe(message)
  })
})

it('a single value that fits several options is taken for the required one', () => {
  const parseNames = optionsParser<{ readonly skip?: unknown; readonly subject: unknown }>('names()', () => ({
    skip: optional(aFunction()),
    subject: aFunction(),
  }))
  expect(() => parseNames(() => 'u42')).toThrow('got a value for "subject": write names({ subject })')
})

describe('long messages', () => {
  const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`unknown-${index}`, 1]))

  it('a message shows five faults and the number of the others', () => {
    const error = refusal({ line, x1: 1, x2: 1, x3: 1, x4: 1, x5: 1, x6: 1, x7: 1 })
    expect(error.message).toMatch(/x1: .*x5: .*; and 2 more$/)
    expect(error.message).not.toContain('x6')
    expect(error.faults).toHaveLength(7)
  })

  it('messages and faults have a bounded length for any input', () => {
    const key = 'k\n'.repeat(500_000)
    for (const options of [{ line, ...many }, { line, [key]: 1 }, { line, prefix: key, mode: key }, { [key]: key }]) {
      const error = refusal(options)
      expect(error.message.length).toBeLessThanOrEqual(500)
      expect(error.message).not.toContain('\n')
      expect(error.faults.length).toBeLessThanOrEqual(100)
      expect(JSON.stringify(error.faults).length).toBeLessThan(30_000)
    }
    expect(refusal({ line, ...many }).message).toMatch(/; and 89\d\d\d more$/)
  })
})

describe('nearest names', () => {
  it.each([
    ['reed', 'read'],
    ['raed', 'read'],
    ['READ', 'read'],
    ['wirtes', 'write'],
    ['wr', undefined],
    ['ad', undefined],
    ['banana', undefined],
    ['', undefined],
  ])('the nearest name: %s: %s', (word, name) => {
    expect(nearest(word, ['read', 'write', 'delete'])).toBe(name)
  })

  it('a very long word has no nearest name', () => {
    expect(nearest('r'.repeat(1_000_000), ['read'])).toBeUndefined()
  })
})
