import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runClient, type World } from 'example-client'
import { SERVICES, typesFile, typesOf } from 'example-client/types-of'
import { describe, expect, it } from 'vitest'
import { SAMPLE_CHARTS } from '../src/charts/sample-charts.ts'
import { ADMIN_TOKEN, HOUR_MS, type TestGateway, tempDir, testGateway, USER_TOKEN } from './support/gateway.ts'

const BOT_TOKEN = 'bt_test-bot-0123456789'
const CHART_API_KEY = 'mk_test-key-0123456789'

/** More than one list of 20, less than two. */
const CHARTS = SAMPLE_CHARTS.filter(({ notes }) => notes !== null).slice(0, 22)
const SCORES = CHARTS.map(({ musicId, level }) => ({ musicId, level, achievement: 98.5, dxScore: 100 }))

/** A run of the client, and what it did to the world. */
interface Run {
  readonly code: number
  readonly printed: string[]
  readonly progress: string[]
  readonly noted: string[]
  readonly waitsMs: number[]
}

/** Runs the client as its command line does; its waits turn the gateway's clock. */
async function client({ gateway, clock }: TestGateway, args: string[], env: World['env'] = {}): Promise<Run> {
  const printed: string[] = []
  const progress: string[] = []
  const noted: string[] = []
  const waitsMs: number[] = []
  const { gateway: GATEWAY_URL, sync: SYNC_URL, charts: CHARTS_URL } = gateway.addresses
  const urls = { GATEWAY_URL, SYNC_URL, CHARTS_URL }
  const code = await runClient(args, {
    env: { ...urls, GATEWAY_TOKEN: USER_TOKEN, BOT_TOKEN, CHART_API_KEY, ...env },
    print: (line) => printed.push(line),
    progress: (text) => progress.push(text),
    note: (line) => noted.push(line),
    async wait(ms) {
      waitsMs.push(ms)
      clock.advance(ms)
    },
  })
  return { code, printed, progress, noted, waitsMs }
}

function started(): Promise<TestGateway> {
  return testGateway({ env: { BOT_TOKEN, CHART_API_KEY } })
}

/** A file that is gone with the test. */
function file(name: string, content: unknown): string {
  const path = join(tempDir(), name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

/** A quota of that many write tokens an hour. */
async function allow({ send }: TestGateway, tokens: number): Promise<void> {
  const none = { '1h': null, '5h': null, '1d': null }
  const overrides = { read: none, write: { ...none, '1h': tokens } }
  const options = { token: ADMIN_TOKEN, body: { overrides, bypassSite: false } }
  expect(await send('PUT', '/admin/users/demo/quota', options)).toMatchObject({ status: 200 })
}

describe('the example client', () => {
  it('the example client’s types match what the services serve', async () => {
    const { gateway } = await started()
    for (const service of SERVICES) {
      const document = await (await fetch(`${gateway.addresses[service]}/openapi.json`)).json()
      const isUpToDate = readFileSync(typesFile(service), 'utf8') === (await typesOf(document as object))
      expect(isUpToDate, `the types of ${service}: npm run client:types writes them`).toBe(true)
    }
  })

  it('the example client uploads scores in lists of 20 and waits as long as a refusal says', async () => {
    const testing = await started()
    await allow(testing, 15)
    const run = await client(testing, ['upload', file('scores.json', SCORES)])
    expect(run).toMatchObject({ code: 0, waitsMs: [HOUR_MS] })
    expect(run.progress).toEqual(['sent 20 of 22', 'sent 22 of 22'])
    expect(run.noted.join('\n')).toMatch(/^Reached Personal 1-Hour Quota Limit for Write .*\nWaiting 3600 s\.$/)
    expect(run.printed).toEqual(['22 written, 0 unchanged'])

    const listed = await client(testing, ['scores'])
    expect(listed.printed.at(-1)).toMatch(/^2\d scores$/)
  })

  it('upload --at-once stores all scores together or none', async () => {
    const testing = await started()
    await allow(testing, 15)
    const args = ['upload', file('scores.json', SCORES), '--at-once']
    // The second part would have to wait for longer than a session lasts.
    const refused = await client(testing, args)
    expect(refused).toMatchObject({ code: 1, waitsMs: [], printed: [], progress: ['sent 20 of 22'] })
    expect((await client(testing, ['scores'])).printed.at(-1)).toBe('3 scores')
    testing.clock.advance(HOUR_MS)
    await allow(testing, 30)
    expect((await client(testing, args)).printed).toEqual(['22 written, 0 unchanged, 30 tokens'])
  })

  it('the example client lists the last requests and the limit that refused one', async () => {
    const testing = await started()
    await allow(testing, 15)
    await client(testing, ['upload', file('scores.json', SCORES)], {})
    await expect
      .poll(async () => (await client(testing, ['history'])).printed.at(-1))
      .toBe('3 requests and 30 tokens today')
    const { printed } = await client(testing, ['history'])
    expect(printed).toContainEqual(expect.stringMatching(/^2026-08-06T14:06:26.000Z {2}music.upsert {2}200 {4}15$/))
    expect(printed).toContainEqual(expect.stringMatching(/ {2}429 {5}0 {2}Personal 1h: 15 of 15 used$/))
  })

  it('the example client shows a player’s stored scores', async () => {
    const testing = await started()
    const unknown = await client(testing, ['player', '20002'])
    expect([unknown.code, unknown.noted.join()]).toEqual([1, expect.stringContaining('(HTTP 404)')])
    await client(testing, ['sync', '20002', file('records.json', [])])
    const { code, printed } = await client(testing, ['player', '20002'])
    expect([code, printed]).toEqual([0, ['20002: no rating, 0 records', '2026-08-06  ?  +0', '+0 in 30 days']])
  })

  it('the example client doesn’t wait when waiting won’t help', async () => {
    const testing = await started()
    await allow(testing, 10)
    const refused = await client(testing, ['upload', file('scores.json', SCORES)])
    expect(refused).toMatchObject({ code: 1, waitsMs: [], progress: [], printed: [] })
    expect(refused.noted.join()).toContain('(HTTP 429)')
  })

  it('the example client syncs a snapshot in chunks', async () => {
    const testing = await started()
    const records = CHARTS.map(({ musicId, level }) => ({
      song_id: musicId,
      level_index: level,
      type: musicId >= 10_000 ? 'DX' : 'SD',
      achievements: 97.25,
      dxScore: 500,
      fc: '',
      fs: '',
    }))
    // One of the charts is an utage, which the form of Diving-Fish cannot express.
    const run = await client(testing, ['sync', '20002', file('records.json', records), '--chunk-size', '10'])
    expect(run.code).toBe(0)
    expect(run.noted).toEqual([expect.stringMatching(/^record \d+: /)])
    expect(run.progress).toEqual(['sent 10 of 22', 'sent 20 of 22', 'sent 22 of 22'])
    expect(run.printed).toEqual(['21 new, 0 changed, 1 skipped; 21 stored'])
  })

  it('the example client shows a chart', async () => {
    const run = await client(await started(), ['chart', '101:standard:4'])
    expect(run).toMatchObject({ code: 0, noted: [] })
    expect(run.printed).toContain('key      101:standard:4')
  })

  it('the example client reports errors', async () => {
    const testing = await started()
    const cases: [string[], World['env'], number, RegExp][] = [
      [['--help'], {}, 0, /^$/],
      [['chart', '999:dx:4'], {}, 1, /no such chart.* \(HTTP 404\)$/s],
      [['scores'], { GATEWAY_TOKEN: CHART_API_KEY }, 1, /^The credential is not valid\. \(HTTP 401\)$/],
      [['scores'], { GATEWAY_URL: 'http://127.0.0.1:1' }, 1, /^No answer: /],
      [['scores'], { GATEWAY_TOKEN: '' }, 2, /^GATEWAY_TOKEN is not set\.\nSee --help\.$/],
      [['upload', file('bad.json', [{ musicId: 101 }])], {}, 1, /\(HTTP 422\)\n {2}musicList\.0\.level: /],
      [['upload', file('bad.json', {})], {}, 2, /holds no list/],
      [['upload', 'nowhere.json'], {}, 2, /nowhere\.json cannot be read as JSON/],
      [['upload'], {}, 2, /^upload takes FILE\./],
      [['sync', '20002', file('a.json', []), '--chunk-size', '0'], {}, 2, /--chunk-size: expected/],
      [['dance'], {}, 2, /^There is no command dance\./],
      [['scores', '--fast'], {}, 2, /Unknown option '--fast'/],
    ]
    for (const [args, env, code, text] of cases) {
      const run = await client(testing, args, env)
      expect([args, run.code]).toEqual([args, code])
      expect(run.noted.join('\n')).toMatch(text)
    }
  })
})
