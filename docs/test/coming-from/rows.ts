import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createQuota, type Duration } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'

const PAGE = readFileSync(join(import.meta.dirname, '../../guide/coming-from.md'), 'utf8')

/** The first cells of the tables below a heading of the page, without backticks. */
function rowsBelow(heading: string): string[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const cells = [...own.matchAll(/^\| (.*?) +\|/gm)].map(([, cell = '']) => cell.replaceAll('`', ''))
  return cells.filter((cell, at) => !/^-+$/.test(cell) && !/^-+$/.test(cells[at + 1] ?? ''))
}

/** A test for each row of the page's table: what stands on the right runs, and does what stands on the left. */
export function rowsOf(heading: string, cases: Readonly<Record<string, () => unknown>>): void {
  describe(`the migration from ${heading}`, () => {
    it('each row of the page has a case', () => {
      expect(Object.keys(cases).toSorted()).toEqual(rowsBelow(heading).toSorted())
    })

    it.each(Object.entries(cases))('%s', async (_, run) => {
      await run()
    })
  })
}

/** Time that a test moves. */
export function testClock() {
  let at = Date.UTC(2026, 7, 6, 12)
  return {
    now: () => at,
    advance(ms: number) {
      at += ms
    },
  }
}

/** One limit of each user. */
export function one(limit: number, per: Duration = '15m') {
  return createQuota({ limits: { api: { by: 'user', limit, per } }, clock: testClock(), logger: false })
}

/** A store whose server isn't there. */
export function downStore() {
  const client = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => undefined)
  const store = redisStore({ client, deadlineMs: 100, logger: false })
  onTestFinished(async () => {
    await store.close()
    client.disconnect()
  })
  return store
}
