import { createHmac } from 'node:crypto'
import { createQuota, memorySettings, memoryStore, type Quota } from '@scoregw/quota'
import { type ManualClock, manualClock } from '@scoregw/quota-testkit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { AuditLog } from '../../../src/audit/audit-log.ts'
import type { Db } from '../../../src/db/schema.ts'
import { AlertBook } from '../../../src/extras/alerts/alert-book.ts'
import { AlertSender, type AlertSenderOptions } from '../../../src/extras/alerts/alert-sender.ts'
import { noticeEvents } from '../../../src/extras/alerts/notice.ts'
import { type PostOptions, post } from '../../../src/extras/alerts/post.ts'
import { isPublic, publicLookup } from '../../../src/extras/alerts/public-address.ts'
import { Webhooks } from '../../../src/extras/alerts/webhook.ts'
import { gatewayPolicy, type OperationName } from '../../../src/quota/policy.ts'
import { START } from '../../support/gateway.ts'
import { type Received, receiver } from '../../support/receiver.ts'
import { embeddedDatabase } from '../../support/test-database.ts'

const logger = pino({ enabled: false })
const ALL_LAYERS = ['personal', 'site']

/** One process as far as alerts go, on a database that others may share. */
function processOn(db: Db, clock: ManualClock, options: Partial<AlertSenderOptions> = {}) {
  const webhooks = new Webhooks(db, clock, new AuditLog(db, clock))
  const sender = new AlertSender({
    db,
    clock,
    webhooks,
    allowPrivate: true,
    timeoutMs: 5_000,
    random: () => 0,
    ...options,
  })
  return { webhooks, sender, book: new AlertBook(db, clock, logger) }
}

async function setUp(options: Partial<AlertSenderOptions> = {}) {
  const clock = manualClock(START)
  const database = await embeddedDatabase()
  const db = await database.connect()
  return { clock, db, database, ...processOn(db, clock, options) }
}

function engineOn(clock: ManualClock, store = memoryStore({ clock })): Quota<OperationName> {
  return createQuota({ policy: gatewayPolicy, clock, store, settingsStore: memorySettings() })
}

/** Whether one of the signatures is that of a secret; worked out by hand, not by the library that signs. */
function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}

describe('sending alerts', () => {
  it('a crossing in four processes gives one alert, sent once and signed', async () => {
    const { url, received } = await receiver()
    const { clock, database, db, webhooks } = await setUp()
    const secret = (await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')) ?? ''
    const store = memoryStore({ clock })
    const processes: (ReturnType<typeof processOn> & { readonly quota: Quota<OperationName> })[] = []
    for (let each = 0; each < 4; each++) {
      const one = processOn(await database.connect(), clock)
      const quota = engineOn(clock, store)
      noticeEvents({ quota, book: one.book, clock, isAlerted: () => true })
      processes.push({ ...one, quota })
    }
    // A limit of 60: the fourth write crosses 80 %, whichever process it comes to.
    for (const { quota } of processes) await quota.consume({ subject: 'u', operation: 'music.upsert' })
    // Under leases every process that learns of a crossing reports it.
    for (const { book } of processes) {
      const other = engineOn(clock)
      noticeEvents({ quota: other, book, clock, isAlerted: (layer) => layer === 'personal' })
      await other.consume({ subject: 'u', operation: 'music.upsert', cost: 60 })
    }
    for (const { book } of processes) await book.flush()
    await Promise.all(processes.map(({ sender }) => sender.send()))
    const oneHour = received.filter(({ body }) => JSON.parse(body).data.window === '1h')
    expect(oneHour).toHaveLength(1)
    const [message] = oneHour as [Received]
    expect(JSON.parse(message.body)).toEqual({
      type: 'limit.near',
      timestamp: '2026-08-06T14:06:26.000Z',
      data: {
        layer: 'personal',
        scope: 'Personal',
        category: 'write',
        window: '1h',
        userId: 'u',
        threshold: { share: 0.8 },
        limit: 60,
        used: 60,
        remaining: 0,
        enforced: true,
        startedAt: '2026-08-06T14:06:26.000Z',
        resetAt: '2026-08-06T15:06:26.000Z',
      },
    })
    expect(message.headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/)
    expect(message.headers['webhook-timestamp']).toBe(String(START / 1_000))
    expect(isSignedBy(secret, message)).toBe(true)
    expect(isSignedBy(`whsec_${Buffer.from('another').toString('base64')}`, message)).toBe(false)
    // The next opening is another occasion.
    clock.advance(3_600_000)
    await engineThat(processes[0]?.book as AlertBook, clock)
    await processes[0]?.sender.send()
    expect(received.filter(({ body }) => JSON.parse(body).data.window === '1h')).toHaveLength(2)
    expect(await db.selectFrom('alert_sender').selectAll().execute()).toEqual([])
  })

  it('alerts reach a receiver that was away for five minutes, once and under one id', async () => {
    let isAway = true
    const { url, received } = await receiver((_req, res) => res.writeHead(isAway ? 500 : 204).end())
    const { clock, webhooks, sender, book } = await setUp()
    await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')
    await engineThat(book, clock)
    for (let second = 0; second < 900; second += 5) {
      if (second === 300) isAway = false
      await sender.send()
      clock.advance(5_000)
    }
    const [alert] = await book.page(undefined, 10)
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([alert?.id]))
    // At once, after 5 s, 35 s, 155 s, and then it is taken.
    expect(received).toHaveLength(5)
    expect(alert).toMatchObject({ state: 'sent', attempts: 5, last_status: 204, sent_at: START + 455_000 })
  })

  it('one process sends alerts at a time, and another takes over when it dies', async () => {
    let release: () => void = () => undefined
    const begun = new Promise<void>((begin) => {
      release = begin
    })
    let answer: () => void = () => undefined
    const { url, received } = await receiver((_req, res) => {
      answer = () => res.end()
      release()
    })
    const { clock, database, webhooks, sender, book, db } = await setUp()
    await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')
    await engineThat(book, clock)
    const other = processOn(await database.connect(), clock)
    const sending = sender.send()
    await begun
    await other.sender.send()
    expect(received).toHaveLength(1)
    // A process that hangs loses its turn when that is over.
    clock.advance(60_000)
    const second = other.sender.send()
    await expect.poll(() => received.length).toBe(2)
    answer()
    await second
    sender.stop()
    await sending
    expect((await book.page(undefined, 1))[0]).toMatchObject({ state: 'sent', attempts: 1 })
    expect(await db.selectFrom('alert_sender').selectAll().execute()).toEqual([])
  })

  it.each([
    ['hangs', () => undefined, { last_status: null, last_fault: 'timeout' }],
    ['answers 500', (_q: unknown, res: Res) => res.writeHead(500).end(), { last_status: 500, last_fault: null }],
    [
      'redirects to this machine',
      (_q: unknown, res: Res) => res.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end(),
      { last_status: 307, last_fault: null },
    ],
  ])('an alert is sent again when a receiver %s', async (_what, listener, expected) => {
    const { url, received } = await receiver(listener as never)
    const { clock, webhooks, sender, book } = await setUp({ timeoutMs: 300 })
    await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')
    await engineThat(book, clock)
    await sender.send()
    const [alert] = await book.page(undefined, 1)
    expect(alert).toMatchObject({ state: 'pending', attempts: 1, next_at: START + 5_000, ...expected })
    await sender.send()
    expect(received).toHaveLength(1)
    for (let attempt = 2; attempt <= 13; attempt++) {
      clock.advance(43_200_000)
      await sender.send()
    }
    expect((await book.page(undefined, 1))[0]).toMatchObject({ state: 'given_up', attempts: 13, next_at: null })
  })

  it('at most 64 kB of a receiver’s response are read', async () => {
    let written = 0
    const chunk = Buffer.alloc(65_536)
    const { url } = await receiver((_req, res) => {
      res.writeHead(200)
      const write = (): void => {
        while (written < 10_000_000 && !res.destroyed) {
          written += chunk.length
          if (!res.write(chunk)) {
            res.once('drain', write)
            return
          }
        }
        res.end()
      }
      write()
    })
    const { clock, webhooks, sender, book } = await setUp()
    await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')
    await engineThat(book, clock)
    await sender.send()
    expect((await book.page(undefined, 1))[0]).toMatchObject({ state: 'sent', last_status: 200 })
    expect(written).toBeLessThan(9_000_000)
  })

  it('alerts aren’t sent to the own machine, whatever its name', async () => {
    const { url, received } = await receiver()
    const { port } = new URL(url)
    let asked = 0
    const setUpWith = async (target: string, addresses: readonly string[]) => {
      const { clock, webhooks, sender, book } = await setUp({
        allowPrivate: false,
        resolve: (_host, _options, callback) => {
          asked++
          callback(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          )
        },
      })
      await webhooks.put({ url: target, layers: ALL_LAYERS }, 'any', 'admin')
      await engineThat(book, clock)
      await sender.send()
      return (await book.page(undefined, 1))[0]
    }
    const named = `http://hooks.example:${port}/`
    for (const [target, addresses] of [
      [url, []],
      [`http://[::ffff:127.0.0.1]:${port}/`, []],
      [`http://2130706433:${port}/`, []],
      [named, ['127.0.0.1']],
      [named, ['93.184.216.34', '10.0.0.1']],
      [named, ['::1']],
      [named, ['169.254.169.254']],
    ] as const) {
      const alert = await setUpWith(target, addresses)
      expect(alert, `${target} ${addresses}`).toMatchObject({ last_fault: 'private_address', state: 'pending' })
    }
    expect(received).toEqual([])
    expect(asked).toBe(4)
  })

  it('alerts are sent to the address that was checked, not to a later lookup', async () => {
    const { url, received } = await receiver()
    let asked = 0
    const { clock, webhooks, sender, book } = await setUp({
      resolve: (_host, _options, callback) => {
        asked++
        callback(null, [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }])
      },
    })
    await webhooks.put({ url: url.replace('127.0.0.1', 'hooks.example'), layers: ALL_LAYERS }, 'any', 'admin')
    await engineThat(book, clock)
    await sender.send()
    expect([asked, received.length]).toEqual([1, 1])
    expect(received[0]?.headers.host).toMatch(/^hooks\.example:/)
  })

  it('alerts are signed with both secrets for a day after a rotation', async () => {
    const { url, received } = await receiver()
    const { clock, webhooks, sender, book } = await setUp()
    const first = (await webhooks.put({ url, layers: ALL_LAYERS }, 'any', 'admin')) ?? ''
    expect(await webhooks.put({ url, layers: ['site'] }, 'any', 'admin')).toBeNull()
    const second = await webhooks.rotate('admin')
    const signedBy = (): boolean[] => [first, second].map((each) => isSignedBy(each, received.at(-1) as Received))
    await engineThat(book, clock)
    await sender.send()
    expect(signedBy()).toEqual([true, true])
    clock.advance(24 * 3_600_000)
    await engineThat(book, clock)
    await sender.send()
    expect(signedBy()).toEqual([false, true])
  })

  it('alerts wait for the database up to a maximum', async () => {
    const { clock, book, db } = await setUp()
    await engineThat(book, clock)
    for (let each = 0; each < 500; each++) {
      book.note({ id: `m${each}`, occasion: `o${each}`, type: 'webhook.test', at: START, body: '{"data":{}}' })
    }
    await db.schema.alterTable('alerts').renameTo('away').execute()
    await expect(book.flush()).rejects.toThrow()
    await db.schema.alterTable('away').renameTo('alerts').execute()
    await book.flush()
    const { count } = await db
      .selectFrom('alerts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBe(100)
    expect((await book.page(undefined, 1))[0]).toMatchObject({ state: 'kept' })
    clock.advance(31 * 86_400_000)
    await book.prune()
    expect(await book.page(undefined, 1)).toEqual([])
  })
})

it('public addresses are distinguished from all others', () => {
  const open = ['93.184.216.34', '2606:2800:220:1::1', '2000::1', '3ffe::1', '::ffff:93.184.216.34']
  for (const each of open) expect(isPublic(each), each).toBe(true)
  for (const each of [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '192.0.2.1',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    // Beyond 2000::/3 nothing is of the internet at large, whatever it may come to mean.
    '::7f00:1',
    '::127.0.0.1',
    '::ffff:0:7f00:1',
    '64:ff9b:1::7f00:1',
    '64:ff9b::5db8:d822',
    '100::1',
    '1fff::1',
    '4000::1',
    '5f00::1',
    'fd00::1',
    'fe00::1',
    'fec0::1',
    // Inside of it: protocols, documentation, benchmarks, Teredo, ORCHID.
    '2001::7f00:1',
    '2001:2::1',
    '2001:20::1',
    '2001:db8::1',
    '3fff::1',
    'localhost',
  ]) {
    expect(isPublic(each), each).toBe(false)
  }
  expect(publicLookup(false)).toBeTypeOf('function')
})

it.each(['[::7f00:1]', '[4000::1]', '[fe00::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]'])(
  'nothing is sent to https://%s or a name that resolves to it',
  async (host) => {
    const never: PostOptions = {
      timeoutMs: 5_000,
      allowPrivate: false,
      resolve: (_name, _options, found) => found(null, [{ address: host.slice(1, -1), family: 6 }]),
    }
    for (const url of [`https://${host}/`, 'https://hooks.example/']) {
      expect(await post(new URL(url), {}, '{}', never), url).toEqual({ fault: 'private_address' })
    }
  },
)

type Res = { writeHead(status: number, headers?: object): { end(): void }; end(): void }

/** Lets an engine cross a threshold of the hour's limit, and writes that down. */
async function engineThat(book: AlertBook, clock: ManualClock): Promise<void> {
  const quota = engineOn(clock)
  const stop = noticeEvents({ quota, book, clock, isAlerted: (layer) => layer === 'personal' })
  await quota.consume({ subject: 'u', operation: 'music.upsert', cost: 48 })
  await book.flush()
  stop()
}
