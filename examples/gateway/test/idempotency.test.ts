import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import {
  ADMIN_TOKEN,
  type Answer,
  databaseOf,
  HOUR_MS,
  START,
  sender,
  type TestGateway,
  tempDir,
  testGateway,
  USER_TOKEN,
  usedOf,
} from './support/gateway.ts'
import { runGateway } from './support/process.ts'

function buy({ send }: Pick<TestGateway, 'send'>, key: string, chargeId = 2): Promise<Answer> {
  return send('POST', '/v1/charge', { headers: { 'Idempotency-Key': key }, body: { chargeId } })
}

const isReplayed = ({ headers }: Answer): boolean => headers.get('Idempotency-Replayed') === 'true'

/** Runs SQL on the gateway's database. */
function run({ dataDir }: Pick<TestGateway, 'dataDir'>, sql: string): void {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.exec(sql)
  file.close()
}

const ticketsOf = ({ dataDir }: Pick<TestGateway, 'dataDir'>): number => databaseOf(dataDir).tickets!.length

describe('answered requests under a key', () => {
  it('an answered request is replayed word for word for 24 hours, without work or charge', async () => {
    const gateway = await testGateway()
    const first = await buy(gateway, 'one')
    expect([first.status, isReplayed(first)]).toEqual([200, false])
    const before = databaseOf(gateway.dataDir)
    gateway.clock.advance(1_000)
    const second = await buy(gateway, 'one')
    expect([second.status, isReplayed(second)]).toEqual([200, true])
    expect(second.body).toEqual(first.body)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 10 })
    gateway.clock.set(START + 24 * HOUR_MS - 1)
    expect(isReplayed(await buy(gateway, 'one'))).toBe(true)
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    gateway.clock.set(START + 24 * HOUR_MS)
    const renewed = await buy(gateway, 'one')
    expect([renewed.status, isReplayed(renewed), renewed.body.businessData.balance]).toEqual([200, false, 8])
  })

  it('an answered request is replayed even if a new one would be refused', async () => {
    const gateway = await testGateway()
    await buy(gateway, 'one', 5)
    await buy(gateway, 'two', 5)
    expect((await buy(gateway, 'three', 5)).status).toBe(429)
    expect((await buy(gateway, 'one', 5)).body.businessData.balance).toBe(7)
    run(gateway, "update users set balance = 0 where id = 'demo'")
    expect((await buy(gateway, 'two', 5)).body.businessData.balance).toBe(4)
  })

  it('a key’s request is compared by meaning, not by wording', async () => {
    const gateway = await testGateway()
    await buy(gateway, 'one', 2)
    const other = await buy(gateway, 'one', 3)
    expect([other.status, other.body.error]).toEqual([422, 'idempotency_key_reused'])
    const headers = { 'Idempotency-Key': 'one' }
    const same = await gateway.send('POST', '/v1/charge', { headers, body: { more: [1], charge: 2 } })
    expect([same.status, isReplayed(same)]).toEqual([200, true])
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 10 })
    expect(ticketsOf(gateway)).toBe(1)
  })

  it('a key belongs to one user', async () => {
    const gateway = await testGateway()
    await buy(gateway, 'one', 2)
    const options = { token: ADMIN_TOKEN, headers: { 'Idempotency-Key': 'one' }, body: { chargeId: 3 } }
    const other = await gateway.send('POST', '/v1/charge', options)
    expect([other.status, other.body.businessData.balance]).toEqual([200, 8])
  })

  it('old keys are deleted by a scheduled task', async () => {
    const gateway = await testGateway()
    await buy(gateway, 'one')
    const chore = gateway.gateway.app.chores.find(({ what }) => what === 'removing old idempotency keys')
    await chore?.run()
    expect(databaseOf(gateway.dataDir).idempotency_keys).toHaveLength(1)
    gateway.clock.advance(24 * HOUR_MS)
    await chore?.run()
    expect(databaseOf(gateway.dataDir).idempotency_keys).toEqual([])
  })
})

describe('failed requests under a key', () => {
  it.each([
    {
      name: 'for want of credits',
      break: "update users set balance = 0 where id = 'demo'",
      mend: "update users set balance = 10 where id = 'demo'",
      status: 403,
    },
    {
      name: 'in the middle of its work',
      break: "create trigger fails before insert on tickets begin select raise(abort, 'no'); end",
      mend: 'drop trigger fails',
      status: 500,
    },
    {
      name: 'while its answer was stored',
      break: "create trigger fails before insert on idempotency_keys begin select raise(abort, 'no'); end",
      mend: 'drop trigger fails',
      status: 500,
    },
  ])('$name changed nothing, and a retry is processed', async ({ break: broken, mend, status }) => {
    const gateway = await testGateway()
    run(gateway, broken)
    const before = databaseOf(gateway.dataDir)
    expect((await buy(gateway, 'one')).status).toBe(status)
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
    run(gateway, mend)
    const again = await buy(gateway, 'one')
    expect([again.status, isReplayed(again), again.body.businessData.balance]).toEqual([200, false, 9])
  })

  it('a request refused by the quota is processed when there are tokens', async () => {
    const gateway = await testGateway()
    for (const key of ['one', 'two']) await buy(gateway, key, 5)
    for (let times = 0; times < 2; times++) expect((await buy(gateway, 'three', 3)).status).toBe(429)
    gateway.clock.advance(HOUR_MS)
    const again = await buy(gateway, 'three', 3)
    expect([again.status, isReplayed(again)]).toEqual([200, false])
  })
})

describe('requests in flight under a key', () => {
  it('twenty concurrent requests under a key are processed once', async () => {
    const gateway = await testGateway()
    const answers = await Promise.all(Array.from({ length: 20 }, () => buy(gateway, 'one', 5)))
    expect(answers.filter((answer) => answer.status === 200 && !isReplayed(answer))).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect(ticketsOf(gateway)).toBe(1)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 25 })
  })
})

describe('idempotency keys', () => {
  it('a malformed key is rejected before any charge', async () => {
    const gateway = await testGateway()
    for (const key of ['', 'a b', 'ü', 'x'.repeat(256)]) {
      const { status, body } = await buy(gateway, key)
      expect([status, body.error, body.details]).toEqual([
        422,
        'validation_failed',
        [{ path: 'Idempotency-Key', msg: 'expected 1 to 255 visible ASCII characters' }],
      ])
    }
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
    for (const key of ['!', '"quoted"', '~'.repeat(255)]) expect((await buy(gateway, key)).status).toBe(200)
  })

  it('requests without a key are all processed', async () => {
    const gateway = await testGateway()
    for (const balance of [9, 8]) {
      const { body } = await gateway.send('POST', '/v1/charge', { body: { chargeId: 2 } })
      expect(body.businessData.balance).toBe(balance)
    }
    expect(databaseOf(gateway.dataDir).idempotency_keys).toEqual([])
  })
})

describe('keys after a restart and in other processes', () => {
  it('the next gateway on the data replays a response', async () => {
    const dataDir = tempDir()
    const clock = manualClock(START)
    const first = await testGateway({ dataDir, clock })
    const { body } = await buy(first, 'one')
    await first.stop()
    const next = await testGateway({ dataDir, clock })
    const again = await buy(next, 'one')
    expect([again.body, isReplayed(again)]).toEqual([body, true])
  })

  it('one of twenty requests in two processes buys, and a killed process loses no response', async () => {
    const dataDir = tempDir()
    const env = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN, DATA_DIR_SHARED: 'true' }
    const processes = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
    const senders = processes.map(({ baseUrl }) => ({ send: sender(baseUrl) }))
    const asked = Array.from({ length: 20 }, (_each, index) => buy(senders[index % 2]!, 'one', 5))
    const answers = await Promise.all(asked)
    const bought = answers.filter((answer) => answer.status === 200 && !isReplayed(answer))
    expect(bought).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    processes[0].process.kill('SIGKILL')
    await processes[0].ended()
    expect(ticketsOf({ dataDir })).toBe(1)
    const again = await buy(senders[1]!, 'one', 5)
    expect([again.body, isReplayed(again)]).toEqual([bought[0]?.body, true])
  })
})
