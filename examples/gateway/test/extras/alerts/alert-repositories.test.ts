import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AuditLog } from '../../../src/audit/audit-log.ts'
import { openPostgres } from '../../../src/db/postgres.ts'
import { type Alert, alertOf } from '../../../src/extras/alerts/alert.ts'
import { AlertBook } from '../../../src/extras/alerts/alert-book.ts'
import { AlertSender } from '../../../src/extras/alerts/alert-sender.ts'
import { Webhooks } from '../../../src/extras/alerts/webhook.ts'
import { createLogger } from '../../../src/log/logger.ts'
import { START } from '../../support/gateway.ts'
import { receiver } from '../../support/receiver.ts'
import { closedInTheEnd, embeddedDatabase, type OpenDatabase } from '../../support/test-database.ts'

function itIsSharedIn(name: string, open: OpenDatabase): void {
  it(`four processes in ${name} send one alert per occasion`, async () => {
    const { url, received } = await receiver()
    const database = await open()
    const clock = manualClock(START)
    const processes: { readonly book: AlertBook; readonly sender: AlertSender; readonly webhooks: Webhooks }[] = []
    for (let each = 0; each < 4; each++) {
      const db = await database.connect()
      const webhooks = new Webhooks(db, clock, new AuditLog(db, clock))
      const sending = { db, clock, webhooks, allowPrivate: true, timeoutMs: 5_000, random: Math.random }
      const book = new AlertBook(db, clock, createLogger('silent'))
      processes.push({ book, sender: new AlertSender(sending), webhooks })
    }
    await processes[0]?.webhooks.put({ url, layers: ['site'] }, 'any', 'ann')
    const noticed = (): Alert[] => ['a', 'b', 'c'].map((each) => alertOf('limit.near', START, [each], { each }))
    await Promise.all(processes.map(({ book }) => book.add(noticed())))
    await Promise.all(processes.map(({ sender }) => sender.send()))
    expect(received.map(({ body }) => JSON.parse(body).data.each).sort()).toEqual(['a', 'b', 'c'])
    const page = (await processes[1]?.book.page(undefined, 10)) ?? []
    expect(page.map(({ state, sent_at }) => [state, sent_at])).toEqual(Array(3).fill(['sent', START]))
    const [first] = page
    expect(await processes[2]?.book.page(first && [first.at, first.id], 10)).toEqual(page.slice(1))
    await processes[3]?.webhooks.remove('any', 'ann')
    expect(await processes[0]?.webhooks.target()).toBeUndefined()
  })
}

describe('alerts', () => {
  itIsSharedIn('the embedded database', embeddedDatabase)

  describe.runIf(postgresTests)('on PostgreSQL', () => {
    let postgres: PostgresServer | undefined
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres?.stop())

    itIsSharedIn('PostgreSQL', async () => {
      const url = (await postgres?.createDatabase()) ?? ''
      return { connect: () => closedInTheEnd(openPostgres(url)) }
    })
  })
})
