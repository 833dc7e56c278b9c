import { runInNewContext } from 'node:vm'
import * as v from 'valibot'
import { afterEach, describe, expect, it } from 'vitest'
import { definePolicy, type QuotaError } from '../src/index.ts'
import { group, listOf, optionsParser, tableOf, textLike, wholeNumber } from '../src/internal.ts'

interface Options {
  readonly depth: number
  readonly table: Readonly<Record<string, number>>
  readonly inner: { readonly name: string }
  readonly list: readonly number[]
  readonly own: string
  readonly extra?: string | null | undefined
}

const parse = optionsParser<Options>(
  'thing()',
  () => ({
    depth: wholeNumber(1, 5),
    table: tableOf(wholeNumber(1, 5), 'an object of depths'),
    inner: group({ name: textLike(/^[a-z]+$/, 'small letters') }),
    list: listOf(wholeNumber(1, 5), 1, 2),
    own: v.pipe(v.string(), v.minLength(3)),
    extra: v.nullish(v.string()),
  }),
  { words: { title: 'it is `name`' } },
)

const right: Options = { depth: 1, table: { a: 2 }, inner: { name: 'a' }, list: [1], own: 'abc' }

function faults(options: unknown): readonly string[] {
  try {
    parse(options)
  } catch (error) {
    return (error as QuotaError).faults.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

/** An object whose members have any names, also `__proto__`. */
function table(...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, 'free']))
}

describe('tables of options', () => {
  it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'a table checks and keeps the key %s as any other',
    (name) => {
      expect(faults({ ...right, table: table(name) })).toEqual([
        `table.${name}: expected a whole number from 1 to 5, got "free"`,
      ])
      expect(Object.entries(parse({ ...right, table: { [name]: 3 } }).table)).toEqual([[name, 3]])
    },
  )

  it('a table rejects a key that no object keeps', () => {
    expect(faults({ ...right, table: table('__proto__') })).toEqual(['table.__proto__: not a possible key'])
  })

  it.each([
    [new Map(), 'an instance of Map'],
    [[], 'an array'],
    [null, 'null'],
    [Promise.resolve({}), 'a promise: await it first'],
  ])('a table rejects %s because it isn’t a plain object', (value, kind) => {
    expect(faults({ ...right, table: value })).toEqual([`table: expected an object of depths, got ${kind}`])
  })

  it('a table of another realm or without a prototype is accepted', () => {
    for (const made of [runInNewContext('({ a: 1 })'), Object.assign(Object.create(null), { a: 1 })]) {
      expect(parse({ ...right, table: made }).table).toEqual({ a: 1 })
    }
  })

  it.each(['__proto__', 'constructor', 'prototype'])('a policy’s operations are checked under the name %s', (name) => {
    const limits = { perHour: { by: 'user', limit: 1, per: '1h' } }
    const policy = { limits, operations: Object.fromEntries([[name, { cost: 'free' }]]) }
    expect(() => definePolicy(policy as never)).toThrow(`operations.${name}`)
  })
})

describe('groups of options', () => {
  it('a group reports missing, invalid and unknown members together', () => {
    expect(
      faults({ depth: 9, inner: { title: 'a', nam: 'b' }, list: [9, 9, 9], own: 'abc', depht: 1, title: 1 }),
    ).toEqual([
      'depth: expected a whole number from 1 to 5, got 9',
      'table: missing; expected an object of depths',
      'inner.name: missing; expected small letters',
      'inner.title: unknown key; it is `name`',
      'inner.nam: unknown key; did you mean "name"?',
      'list.0: expected a whole number from 1 to 5, got 9',
      'list.1: expected a whole number from 1 to 5, got 9',
      'list.2: expected a whole number from 1 to 5, got 9',
      'list: expected 1 to 2 entries, got 3',
      'depht: unknown key; did you mean "depth"?',
      'title: unknown key; it is `name`',
    ])
  })

  it.each([[[]], ['text'], [null]])('a group rejects %j because it isn’t an object', (inner) => {
    expect(faults({ ...right, inner })).toEqual([expect.stringMatching(/^inner: expected an object, got /)])
  })
})

describe('custom schemas', () => {
  it('a custom schema can be a check, and its message doesn’t contain the value', () => {
    expect(faults(right)).toEqual([])
    expect(faults({ ...right, extra: null })).toEqual([])
    expect(faults({ ...right, own: 5 })).toEqual(['own: expected string, got a number'])
    expect(faults({ ...right, own: undefined })).toEqual(['own: missing; expected string'])
    expect(faults({ ...right, own: 'pw' })).toEqual(['own: expected >=3, got a string'])
  })
})

describe('a program with global Valibot settings', () => {
  afterEach(() => {
    v.deleteGlobalConfig()
    v.deleteGlobalMessage()
    v.deleteSchemaMessage()
  })

  it('a program with global Valibot settings gets every fault in the usual words', () => {
    const wrong = { depth: 9, table: table('a'), inner: { nam: 1 }, list: [0, 9], own: 'abc', more: 1 }
    const before = faults(wrong)
    v.setGlobalConfig({ abortEarly: true, abortPipeEarly: true, lang: 'de' })
    v.setGlobalMessage('Fehler')
    v.setSchemaMessage('Fehler')
    expect(before.length).toBeGreaterThan(5)
    expect(faults(wrong)).toEqual(before)
  })
})
