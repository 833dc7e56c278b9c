import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHART_TYPES, chartTypeOf, LEVELS, parsePreviewKey, previewKeyOf, previewText } from '../src/charts/chart.ts'
import { type MusicDataError, parseMusicData } from '../src/charts/music-data.ts'
import { SAMPLE_CHARTS } from '../src/charts/sample-charts.ts'
import { runCommand } from '../src/cli/run-command.ts'
import { ADMIN_TOKEN, type Answer, sender, tempDir, testGateway, USER_TOKEN } from './support/gateway.ts'

const KEY = 'mk_test-key-0123456789'

async function chartService(): Promise<
  (path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>
> {
  const { gateway } = await testGateway({ env: { CHART_API_KEY: KEY } })
  const send = sender(`http://127.0.0.1:${gateway.ports.charts}`, 'charts')
  return (path, headers = { 'X-API-Key': KEY }, method = 'GET') => send(method, path, { token: null, headers })
}

describe('the chart preview', () => {
  it('the chart preview lists every chart once over its pages', async () => {
    const get = await chartService()
    const first = (await get('/api/v1/charts?limit=10')).body
    expect(first).toMatchObject({ total: SAMPLE_CHARTS.length, page: 1, limit: 10 })
    const pages = await Promise.all([1, 2, 3, 4].map((page) => get(`/api/v1/charts?limit=10&page=${page}`)))
    const keys = pages.flatMap(({ body }) => body.items.map(({ chartKey }: { chartKey: string }) => chartKey))
    expect(new Set(keys).size).toBe(SAMPLE_CHARTS.length)
    expect(keys).toEqual(SAMPLE_CHARTS.map((chart) => previewText(previewKeyOf(chart))))
    expect((await get('/api/v1/charts?page=1000')).body.items).toEqual([])
  })

  it('the chart preview shows a chart', async () => {
    const get = await chartService()
    const { status, body } = await get('/api/v1/charts/104:dx:4')
    expect([status, body]).toMatchObject([
      200,
      { chartKey: '104:dx:4', songId: 104, kind: 'dx', difficulty: 4, musicId: 10_104, title: 'Glass Orchard' },
    ])
    const { taps, holds, slides, touches, breaks } = body.noteCounts
    expect(taps + holds + slides + touches + breaks).toBe(body.notes)
    const uncounted = await get('/api/v1/charts/100108:utage:6')
    expect(uncounted.body).toMatchObject({ notes: null, noteCounts: null, dxScoreMax: null })
  })

  it.each(['104:standard:4', '104:dx:7', '104:dx', '10104:dx:4', 'constructor', '0:standard:1', '9999999999:utage:6'])(
    'the chart preview has no chart %s',
    async (key) => {
      const get = await chartService()
      const { status, body } = await get(`/api/v1/charts/${key}`)
      expect(status).toBe(404)
      expect(Object.keys(body)).toEqual(['message'])
    },
  )

  it.each(['page=0', 'page=1000001', 'limit=101', 'limit=0', 'limit=ten', 'page=1&page=2'])(
    'the chart preview rejects ?%s',
    async (query) => {
      const get = await chartService()
      expect((await get(`/api/v1/charts?${query}`)).status).toBe(422)
    },
  )

  it('the chart preview accepts only its own keys, in their own field', async () => {
    const get = await chartService()
    const invalid = [USER_TOKEN, ADMIN_TOKEN, 'mk_unknown', '', 'x'.repeat(9_000)]
    const fields = (credential: string): Record<string, string>[] => [
      { 'X-API-Key': credential },
      { Authorization: `Bearer ${credential}` },
      { 'Bot-Token': credential },
    ]
    const answers = await Promise.all(
      [...invalid.flatMap(fields), { Authorization: `Bearer ${KEY}` }, { 'Bot-Token': KEY }, {}].map((headers) =>
        get('/api/v1/charts', headers),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    expect(answers.every(({ headers }) => headers.get('WWW-Authenticate') === 'X-API-Key')).toBe(true)
  })
})

describe('chart keys', () => {
  it('a chart’s key leads back to the chart', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900_000_000 }), fc.constantFrom(...LEVELS), (musicId, level) => {
        const key = previewKeyOf({ musicId, level })
        // A DX id of 10,000 would have no song.
        fc.pre(key.songId > 0)
        expect(parsePreviewKey(previewText(key))).toEqual({ musicId, level })
        expect(CHART_TYPES).toContain(key.kind)
      }),
    )
  })
})

describe('music data', () => {
  const MUSIC = {
    id: '11223',
    title: 'A Song',
    type: 'DX',
    ds: [5, 13.7],
    level: ['5', '13+'],
    cids: [1, 2],
    charts: [
      { notes: [63, 20, 7, 4, 2], charter: '-' },
      { notes: [630, 200, 70, 40, 20], charter: 'a charter' },
    ],
    basic_info: { title: 'A Song', artist: 'An Artist', genre: 'x', bpm: 150, is_new: false },
  }
  const STANDARD = {
    ...MUSIC,
    id: '8',
    type: 'SD',
    ds: [5],
    level: ['5'],
    charts: [{ notes: [63, 20, 7, 2], charter: 'c' }],
  }

  it('music data is converted to charts', () => {
    const utage = {
      ...STANDARD,
      id: '100042',
      ds: [0, 0],
      level: ['14?', '14?'],
      charts: [MUSIC.charts[1], MUSIC.charts[0]],
    }
    expect(parseMusicData([MUSIC, STANDARD, utage])).toEqual([
      {
        musicId: 11_223,
        level: 0,
        title: 'A Song',
        type: 'dx',
        notes: 96,
        counts: { taps: 63, holds: 20, slides: 7, touches: 4, breaks: 2 },
        artist: 'An Artist',
        charter: null,
        difficulty: '5',
        constant: 5,
      },
      expect.objectContaining({ musicId: 11_223, level: 1, notes: 960, charter: 'a charter', constant: 13.7 }),
      expect.objectContaining({ musicId: 8, counts: { taps: 63, holds: 20, slides: 7, touches: 0, breaks: 2 } }),
      expect.objectContaining({ musicId: 100_042, level: 10, type: 'utage', notes: 960 }),
    ])
    expect(chartTypeOf(11_223)).toBe('dx')
  })

  it('invalid music data is rejected with the place of every fault', () => {
    const faultsOf = (data: unknown): unknown[] => {
      try {
        return parseMusicData(data)
      } catch (error) {
        return (error as MusicDataError).faults.map(({ path }) => path)
      }
    }
    expect(faultsOf({})).toEqual([''])
    expect(faultsOf([{ ...MUSIC, id: 'x' }, 3, { ...MUSIC, ds: [1] }])).toEqual(['0.id', '1', '2'])
    expect(faultsOf([{ ...STANDARD, charts: [{ notes: [1, 2, 3] }] }])).toEqual(['0.charts.0.notes'])
    expect(faultsOf([STANDARD, STANDARD])).toEqual(['1'])
  })

  it('the command line imports music data completely or not at all, with progress', async () => {
    const file = join(tempDir(), 'music.json')
    const env = { DATA_DIR: tempDir() }
    const lines: string[] = []
    const run = () => runCommand(['charts', 'import', file], env, (line) => lines.push(line))
    const many = Array.from({ length: 400 }, (_each, index) => ({ ...MUSIC, id: 20_000 + index }))
    writeFileSync(file, JSON.stringify([...many, { ...MUSIC, id: 0 }]))
    expect(await run()).toMatchObject({ code: 64, err: expect.stringContaining('400.id: expected an id') })
    writeFileSync(file, JSON.stringify(many))
    expect(await run()).toEqual({ code: 0, out: '800 charts imported\n', err: '' })
    expect(lines).toContain('500 of 800 charts')
    expect(lines.at(-1)).toBe('800 of 800 charts')
    const { gateway } = await testGateway({ dataDir: env.DATA_DIR, env: { CHART_API_KEY: KEY } })
    const send = sender(`http://127.0.0.1:${gateway.ports.charts}`, 'charts')
    const { body } = await send('GET', '/api/v1/charts/10000:dx:2', { token: null, headers: { 'X-API-Key': KEY } })
    expect(body).toMatchObject({ notes: 960, level: '13+', constant: 13.7 })
  })

  it.each([
    ['{', 'not valid JSON'],
    ['null', 'expected a list of music'],
  ])('music data with the text %s is rejected', async (text, message) => {
    const file = join(tempDir(), 'music.json')
    writeFileSync(file, text)
    const result = await runCommand(['charts', 'import', file], { DATA_DIR: tempDir() })
    expect([result.code, result.err]).toEqual([64, expect.stringContaining(message)])
    const missing = await runCommand(['charts', 'import', `${file}.not`], { DATA_DIR: tempDir() })
    expect([missing.code, missing.err]).toEqual([64, expect.stringContaining('cannot be read (ENOENT)')])
  })
})
