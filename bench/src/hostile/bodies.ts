import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** A request made to cost more than it should. */
export interface HostileRequest {
  readonly name: string
  /** The sender: a player of the gateway, or a bot of score sync. */
  readonly by: 'user' | 'bot'
  readonly encoding?: 'gzip' | 'br'
  readonly body: Buffer
}

const MIB = 1_048_576
const KEYS = 90_000

function filled(text: string, bytes: number): string {
  return text.repeat(Math.floor(bytes / text.length))
}

/** One request of every shape for each of the two senders, as large as is allowed. */
export function hostileRequests(): HostileRequest[] {
  return (['user', 'bot'] as const).flatMap((by) => {
    const most = (by === 'user' ? MIB : 8 * MIB) - 64
    const list = by === 'user' ? 'musicList' : 'records'
    const member = (name: string, text: string): string => `{"qq":10001,"${name}":${text}}`
    const nested = `${filled('[', most / 2)}${filled(']', most / 2)}`
    const members = member(list, `[${filled('{},', most)}{}]`)
    const keys = Array.from({ length: KEYS }, (_, index) => `"key${index}":0`).join(',')
    const texts: readonly (readonly [string, string])[] = [
      ['arrays in arrays', nested],
      ['a wide array', member(list, `[${filled('0,', most)}0]`)],
      [by === 'user' ? '350,000 members' : '2.7 million members', members],
      ['a text of 1 MiB', member('nickname', `"${'x'.repeat(most - 64)}"`)],
      ['texts of 60 kB', member(list, `[${filled(`"${'é'.repeat(30_000)}",`, most)}0]`)],
      [
        'escaped texts',
        member(list, `["${filled('\\u00e9', 60_000)}"${filled(`,"${filled('\\u00e9', 60_000)}"`, most - 60_100)}]`),
      ],
      ['90,000 unknown keys', `{${keys},"${list}":[]}`],
      [
        'as many wrong entries as are looked at',
        member(list, `[${filled('{"a":{}},', by === 'user' ? 14_000 : 600_000)}{}]`),
      ],
      ['white space', ' '.repeat(most)],
      ['no JSON at all', filled('abc ', most)],
    ]
    const plain = texts.map(([name, text]) => ({ name, by, body: Buffer.from(text) }))
    const bombs = [
      ['arrays in arrays', `${filled('[', 4 * MIB)}${filled(']', 4 * MIB)}`],
      ['members', `[${filled('{},', 8 * MIB)}{}]`],
      ['64 MiB of white space', ' '.repeat(64 * MIB)],
    ] as const
    const packed = bombs.flatMap(([name, text]) => [
      { name: `gzip: ${name}`, by, encoding: 'gzip' as const, body: gzipSync(text) },
      { name: `brotli: ${name}`, by, encoding: 'br' as const, body: brotliCompressSync(text, FAST) },
    ])
    return [...plain, ...packed]
  })
}

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }

/** The largest valid request of a bot, as bots send it. */
export function largestPush(qq: number): Buffer {
  const records = Array.from({ length: 10_000 }, (_, index) => ({
    song_id: 1 + Math.floor(index / 5),
    level_index: index % 5,
    achievements: 90 + (index % 100_000) / 10_000,
    dxScore: 1_500,
    fc: 'fc',
    fs: 'fs',
    title: `音楽のタイトル ${index}`,
    level: '13+',
    level_label: 'Master',
    type: 'DX',
    ds: 13.7,
    ra: 300,
    rate: 'sss',
  }))
  return Buffer.from(JSON.stringify({ qq, records }))
}
