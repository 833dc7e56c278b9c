import type { Reply, Word } from '../connection/connection.ts'

/** Marks bytes sent as text; `lua/by-http.lua` converts them back. */
const MARK = '\x7f'

/** A word of a command as JSON. */
export function asJson(word: Word): string {
  if (typeof word === 'string') return word.startsWith(MARK) ? asJson(Buffer.from(word)) : word
  if (typeof word === 'number') return String(word)
  // Most bytes are numbers, which are shorter as digits.
  const numbers = numbersIn(word)
  return numbers === undefined ? `${MARK}b${word.toString('latin1')}` : `${MARK}n${numbers.join(' ')}`
}

/** The bytes as doubles, if their digits give the same bytes again. */
function numbersIn(bytes: Buffer): number[] | undefined {
  if (bytes.length === 0 || bytes.length % 8 > 0) return undefined
  const numbers = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
  const isExact = (value: number) => Number.isSafeInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY
  return numbers.every((value) => isExact(value) && !Object.is(value, -0)) ? numbers : undefined
}

/** A reply as `upstash-encoding: base64` encodes it. */
export function fromJson(result: unknown): Reply {
  if (typeof result === 'string') return Buffer.from(result, 'base64')
  return Array.isArray(result) ? result.map(fromJson) : (result as number | null)
}
