import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonScanner, MAX_DEPTH } from '../src/http/body/json-scanner.ts'
import type { BodyLimits } from '../src/http/body/limits.ts'
import { ByteBlocks } from '../src/http/body/read-body.ts'
import { parseBody } from '../src/http/json-body.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 20_000 : 300

const LOOSE: BodyLimits = {
  bytes: 1e9,
  depth: MAX_DEPTH,
  elements: 1e9,
  stringBytes: 1e9,
  list: { name: 'records', bytes: 1e9, elements: 1e9, entryBytes: 1e9, entryElements: 1e9 },
  gzip: false,
}

/** Members and elements of a value, the slow way. */
function elementsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return inner.reduce((sum: number, each) => sum + 1 + elementsOf(each), 0)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Text in parts, as a network may bring it. */
function partsOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

function scanned(text: string, cuts: readonly number[], limits: BodyLimits = LOOSE) {
  const scanner = new JsonScanner(limits)
  const bytes = new ByteBlocks()
  for (const part of partsOf(new TextEncoder().encode(text), cuts)) {
    const fault = scanner.push(part)
    if (fault !== undefined) return { fault, scanner, bytes }
    bytes.push(part)
  }
  return { fault: undefined, scanner, bytes }
}

const value = fc.jsonValue({ maxDepth: 6 })
const body = fc.oneof(
  fc.dictionary(fc.string({ maxLength: 4 }), value),
  fc.record({ qq: fc.nat(), records: fc.array(value, { maxLength: 12 }), after: value }),
  fc.array(value),
)
/** The same with white space, and with texts escaped. */
const text = fc
  .tuple(body, fc.constantFrom<string | number>('', '\t', 3))
  .map(([given, space]) => JSON.stringify(given, null, space))
const cuts = fc.array(fc.nat(100_000), { maxLength: 6 })

describe('scanning JSON in parts', () => {
  it('members, elements and depth are those of the parsed value', async () => {
    await fc.assert(
      fc.property(text, cuts, (sent, at) => {
        const { fault, scanner } = scanned(sent, at)
        const parsed: unknown = JSON.parse(sent)
        expect(fault).toBeUndefined()
        expect(scanner.elements).toBe(elementsOf(parsed))
        const depth = depthOf(parsed)
        expect(scanned(sent, at, { ...LOOSE, depth }).fault).toBeUndefined()
        if (depth > 0) expect(scanned(sent, at, { ...LOOSE, depth: depth - 1 }).fault).toBe('depth')
      }),
      { numRuns: RUNS },
    )
  })

  it('a limit is exceeded exactly at the first element above it', async () => {
    await fc.assert(
      fc.property(text, cuts, (sent, at) => {
        const elements = elementsOf(JSON.parse(sent))
        const flat = { ...LOOSE, list: undefined }
        expect(scanned(sent, at, { ...flat, elements }).fault).toBeUndefined()
        if (elements > 0) expect(scanned(sent, at, { ...flat, elements: elements - 1 }).fault).toBe('elements')
      }),
      { numRuns: RUNS },
    )
  })

  it('texts and the whole are measured in bytes', () => {
    const sent = JSON.stringify({ a: 'é'.repeat(50) })
    for (const at of [[], [3], [40, 60]]) {
      expect(scanned(sent, at, { ...LOOSE, stringBytes: 100 }).fault).toBeUndefined()
      expect(scanned(sent, at, { ...LOOSE, stringBytes: 99 }).fault).toBe('string')
      expect(scanned(sent, at, { ...LOOSE, bytes: 108 }).fault).toBeUndefined()
      expect(scanned(sent, at, { ...LOOSE, bytes: 107 }).fault).toBe('bytes')
    }
    expect(scanned(`{"a":"${'x'.repeat(200)}`, [150], { ...LOOSE, stringBytes: 100 }).fault).toBe('string')
  })
})

describe('lists parsed in pieces', () => {
  /** Entries so large that every one or two of them are a piece. */
  const long = fc
    .tuple(fc.array(value, { minLength: 2, maxLength: 8 }), fc.constantFrom('records', 'other', 'rec\\u006frds'), value)
    .map(([entries, name, after]) => {
      const records = entries.map((entry) => JSON.stringify([entry, 'x'.repeat(20_000)])).join(' , ')
      return `{"qq":1, "${name}" : [ ${records} ] ,"after":${JSON.stringify(after)}}`
    })

  /** One byte left out, doubled, or made another one. */
  const broken = fc
    .tuple(long, fc.nat(), fc.constantFrom('', ',', ']', '}', '"', '[', '{', ':'))
    .map(([sent, at, put]) => {
      // The long texts are left alone, or nearly every change would be in one of them.
      const places = [...sent.matchAll(/[^x]/g)].map(({ index }) => index)
      const place = places[at % places.length] as number
      return `${sent.slice(0, place)}${put}${sent.slice(place + 1)}`
    })

  const outcomeOf = (sent: string): unknown => {
    try {
      return { parsed: JSON.parse(sent) }
    } catch {
      return 'refused'
    }
  }

  const inPieces = async (sent: string, at: readonly number[]): Promise<unknown> => {
    const { fault, ...measured } = scanned(sent, at)
    if (fault !== undefined) return 'refused'
    return parseBody(measured, 'records', () => Promise.resolve()).then(
      (parsed) => ({ parsed }),
      (error: unknown) => (error instanceof SyntaxError ? 'refused' : Promise.reject(error)),
    )
  }

  it('a list parsed in pieces equals the list parsed whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(long, broken), cuts, async (sent, at) => {
        expect(await inPieces(sent, at)).toEqual(outcomeOf(sent))
      }),
      { numRuns: RUNS / 3 },
    )
  })

  it('a later member with the list’s name replaces the list', async () => {
    const list = `[${Array.from({ length: 5 }, () => `"${'x'.repeat(20_000)}"`)}]`
    for (const sent of [
      `{"records":${list},"records":[1]}`,
      `{"records":${list},"rec\\u006frds":{"a":1}}`,
      `{"records":[1],"records":${list}}`,
      `{"rec\\u006frds":7,"records":${list}}`,
      `{"a":{"records":${list}}}`,
      `[{"records":${list}}]`,
    ]) {
      expect(await inPieces(sent, []), sent.replace(/x+/g, 'x')).toEqual(outcomeOf(sent))
    }
  })

  it('the list and its entries have separate limits', () => {
    const list = { name: 'records', bytes: 1_000, elements: 6, entryBytes: 20, entryElements: 3 }
    const limits = { ...LOOSE, elements: 3, bytes: 40, list }
    expect(scanned('{"a":1,"records":[1,2,3,4,5,6]}', [], limits).fault).toBeUndefined()
    expect(scanned('{"a":1,"records":[1,2,3,4,5,6,7]}', [], limits).fault).toBe('elements')
    expect(scanned('{"a":1,"b":[1],"records":[]}', [], limits).fault).toBe('elements')
    expect(scanned('{"records":[1,[1,2,3,4]]}', [], limits).fault).toBe('entry')
    expect(scanned('{"records":[1,"123456789012345678901"]}', [], limits).fault).toBe('entry')
    expect(scanned(`{"records":[1]${' '.repeat(40)}}`, [], limits).fault).toBe('bytes')
    const wide = { ...limits, list: { ...list, bytes: 60, entryBytes: 1_000 } }
    expect(scanned(`{"records":[1,${' '.repeat(40)}2]}`, [], wide).fault).toBeUndefined()
    expect(scanned(`{"records":[1,${' '.repeat(50)}2]}`, [], wide).fault).toBe('bytes')
    expect(scanned('{"records":[1}', [], limits).fault).toBe('malformed')
  })
})

describe('single bytes', () => {
  it('bytes that arrive one by one are joined to one text', () => {
    const bytes = new ByteBlocks()
    const sent = Buffer.from('aé漢😀'.repeat(30_000))
    for (let index = 0; index < sent.length; index += 7) bytes.push(sent.subarray(index, index + 7))
    expect(bytes.length).toBe(sent.length)
    expect(bytes.text(0, sent.length)).toBe(sent.toString())
    expect(bytes.text(10, 20)).toBe(sent.subarray(10, 20).toString())
  })
})
