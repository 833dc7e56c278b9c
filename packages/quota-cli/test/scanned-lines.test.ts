import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commonLogRecord } from '../src/simulate/common-log.ts'
import { fieldsOf, type LogRecord } from '../src/simulate/fields.ts'
import { ScannedLines } from '../src/simulate/scanned-lines.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 20_000 : 400

const mapping = { format: 'auto', routes: [], timeZone: 'UTC', subject: 'req.user', plan: 'tags.length' } as const
const fields = fieldsOf(mapping, ['tokens'])

const texts = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('ann', 'bob', 'Zoë', '', '-') },
  fc.constantFrom(
    '',
    '-',
    'ann',
    'a"b',
    '\\',
    'Zoë',
    '张三',
    '\ud800',
    'tab\t',
    '2026-08-06T12:00:00.000Z',
    '#0',
    '\u2028',
  ),
  fc.string(),
)
const scalars = fc.oneof(texts, fc.integer(), fc.double(), fc.constantFrom(true, false, null, 1e21, -0, 0.5))
const objects = fc.record(
  {
    time: scalars,
    'req.user': scalars,
    op: scalars,
    req: fc.oneof(scalars, fc.record({ user: scalars, method: scalars, url: fc.oneof(scalars, fc.array(scalars)) })),
    tags: fc.oneof(fc.array(scalars, { maxLength: 2 }), fc.record({ length: scalars })),
    cost: fc.oneof(scalars, fc.constant({})),
    ['__proto__']: scalars,
    status: scalars,
    agent: texts,
  },
  { requiredKeys: ['time'] },
)
const json = fc
  .record({ value: objects, indent: fc.constantFrom(undefined, 1), repeat: fc.boolean() })
  .map(({ value, indent, repeat }) => {
    const text = JSON.stringify(value, undefined, indent).replaceAll('\n', '\r')
    // A name may stand there twice.
    return repeat ? `${text.slice(0, -1)},"time":7}` : text
  })

const mostly =
  (usual: string) =>
  (...others: readonly string[]): fc.Arbitrary<string> =>
    fc.oneof({ weight: 3 * others.length, arbitrary: fc.constant(usual) }, fc.constantFrom(...others))

const common = fc
  .record({
    host: mostly('10.0.0.1')('10.0.0.1', '-', '::1', 'höst', '"q"', ''),
    user: mostly('ann')('ann', '-', 'd e', 'a [b', '张三', '"q"', ' ', 'x'.repeat(257), '\u0001', 'a\u2028b'),
    time: mostly('06/Aug/2026:12:00:00 +0000')('06/Aug/2026:12:00:00 +0000', '', 'x'.repeat(65), 'a] b'),
    request: mostly('GET /v1 HTTP/1.1')('GET /v1 HTTP/1.1', '', '-', 'GET /\\"x', 'GET /ü', 'a" 200 5', 'a\\" 200 5 x'),
    status: mostly('200')('200', '-', '20', '2000'),
    end: mostly('512')('512', '-', '5x', '512 "-" "curl/8.0"', ''),
  })
  .map(({ host, user, time, request, status, end }) => `${host} - ${user} [${time}] "${request}" ${status} ${end}`)

/** A line as it is, cut, or with a byte that is another. */
function damaged(lines: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  return fc.tuple(lines, fc.nat(20), fc.nat(), fc.nat(255)).map(([line, kind, where, byte]) => {
    const bytes = Buffer.from(line)
    if (kind === 0) return bytes.subarray(0, where % (bytes.length + 1))
    if (kind < 3) bytes[where % bytes.length] = byte
    return bytes
  })
}

/** How many lines were taken without being read as a whole; each of them says what it says as a whole. */
function taken(format: 'ndjson' | 'common', lines: readonly Buffer[], parse: (line: string) => LogRecord | undefined) {
  const scanned = new ScannedLines(fields)
  let count = 0
  for (const line of lines) {
    // Other lines stand around it.
    const bytes = Buffer.concat([Buffer.from('1"}'), line, Buffer.from('1"}')])
    const found = scanned.of(format, { bytes, text: bytes.toString('latin1') }, 3, bytes.length - 3)
    const record = parse(line.toString())
    if (found !== undefined) {
      count++
      if (record === undefined) throw new Error(`taken: ${line}`)
      for (const field of fields.all) expect(found.of(field)).toEqual(field.of(record))
    }
    if (format === 'ndjson' && record !== undefined) scanned.learn(line.toString('latin1'))
  }
  return count
}

function parsed(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LogRecord) : undefined
  } catch {
    return undefined
  }
}

describe('log lines read without a full parse', () => {
  it('NDJSON lines read without a full parse give the parsed values', () => {
    let count = 0
    // Values of one shape, and lines of others between them.
    const logs = fc.tuple(json, fc.array(damaged(json), { maxLength: 5 })).map(([line, others]) => {
      const again = line.replace(/\d/g, '7')
      return [Buffer.from(line), ...others, Buffer.from(line), Buffer.from(again), ...others]
    })
    fc.assert(
      fc.property(logs, (lines) => {
        count += taken('ndjson', lines, parsed)
      }),
      { numRuns: RUNS },
    )
    expect(count).toBeGreaterThan(RUNS / 8)
  })

  it('common log lines read without a full parse give the parsed values', () => {
    let count = 0
    fc.assert(
      fc.property(fc.array(damaged(common), { maxLength: 20 }), (lines) => {
        count += taken('common', lines, commonLogRecord)
      }),
      { numRuns: RUNS },
    )
    expect(count).toBeGreaterThan(RUNS / 8)
  })

  it.each([
    '{"time":01}',
    '{"time":1.}',
    '{"time":-}',
    '{"time":1e5}',
    '{"time":tru}',
    '{"time":"a\tb"}',
    '{"time":"a\\q"}',
    '{"time":1} ',
    '{"time":1}x',
    '{"time":"1}',
    '{"time":}',
    '{"time":+1}',
    '{"time":.5}',
  ])('the line %s gets a full parse', (line) => {
    expect(taken('ndjson', [Buffer.from('{"time":1}'), Buffer.from(line)], parsed)).toBe(0)
  })
})
