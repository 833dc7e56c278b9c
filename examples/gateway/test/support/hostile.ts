import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** A body that is made to cost more than it should. */
export interface Hostile {
  readonly name: string
  readonly bytes: Uint8Array
  /** How it is packed. */
  readonly encoding?: 'gzip' | 'br'
}

const MIB = 1_048_576
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

/** `text` again and again, up to so many bytes. */
function filled(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / text.length))
}

/** Every hostile shape, up to so many bytes before it is packed. */
export function hostileBodies(most = 8 * MIB): Hostile[] {
  const deep = filled('[', most)
  const deepBalanced = `${filled('[', most / 2)}${filled(']', most / 2)}`
  const members = `{"musicList":[${filled('{},', most - 64)}{}],"qq":10001,"records":[]}`
  const records = `{"qq":10001,"musicList":[],"records":[${filled('{},', most - 64)}{}]}`
  const wide = `{"qq":10001,"records":[${filled('0,', most - 64)}0]}`
  const unknown = Array.from({ length: 300_000 }, (_, index) => `"unknown key ${index}":0`).join(',')
  const plain: Hostile[] = [
    { name: 'arrays in arrays', bytes: Buffer.from(deep) },
    { name: 'arrays in arrays, closed', bytes: Buffer.from(deepBalanced) },
    { name: 'an entry of arrays in arrays', bytes: Buffer.from(`{"qq":10001,"records":[${deepBalanced}]}`) },
    { name: 'as many members as fit', bytes: Buffer.from(members) },
    { name: 'as many records as fit', bytes: Buffer.from(records) },
    { name: 'a wide list', bytes: Buffer.from(wide) },
    { name: '300,000 unknown keys', bytes: Buffer.from(`{${unknown},"qq":10001,"records":[]}`) },
    {
      name: 'a text of 1 MiB',
      bytes: Buffer.from(JSON.stringify({ qq: 10_001, records: [], nickname: 'x'.repeat(MIB) })),
    },
    {
      name: 'escapes only',
      bytes: Buffer.from(`{"qq":10001,"records":["${filled('\\u0041', Math.min(most, MIB))}"]}`),
    },
    { name: 'white space only', bytes: Buffer.alloc(Math.min(most, MIB - 1), ' ') },
    { name: 'one number', bytes: Buffer.from(`{"qq":1${filled('0', Math.min(most, MIB - 20))},"records":[]}`) },
  ]
  const bombs = [deepBalanced, records, ' '.repeat(8 * most)].map((text) => Buffer.from(text))
  return [
    ...plain,
    ...bombs.map((bytes, index) => ({
      name: `bomb ${index} in gzip`,
      bytes: gzipSync(bytes),
      encoding: 'gzip' as const,
    })),
    ...bombs.map((bytes, index) => {
      return { name: `bomb ${index} in brotli`, bytes: brotliCompressSync(bytes, FAST), encoding: 'br' as const }
    }),
  ]
}
