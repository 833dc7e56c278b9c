import type { MinuteOutcomes } from '@scoregw/quota/adaptive'
import { type SqlOutcomes, sqlOutcomes } from '@scoregw/quota-sql'
import { expect } from 'vitest'
import { COUNTERS } from '../../src/db/schema.ts'
import { openSqlite } from '../../src/db/sqlite.ts'
import { ADMIN_TOKEN, type TestGateway } from './gateway.ts'
import { closedInTheEnd } from './test-database.ts'

export const MINUTE_MS = 60_000

/** Calls in each of the last minutes, so many of which failed. */
export function lately(clockMs: number, failed: number, minutes = 30, calls = 20): MinuteOutcomes[] {
  const now = Math.floor(clockMs / MINUTE_MS)
  return Array.from({ length: minutes }, (_each, index) => ({
    minute: now - minutes + index,
    calls,
    codeZero: failed,
    clientError: 0,
    serverError: 0,
    businessFail: 0,
    refused: 0,
    quotaUnavailable: 0,
  }))
}

async function run({ gateway }: TestGateway, what: string): Promise<void> {
  const chore = gateway.app.chores.find((each) => each.what === what)
  if (chore === undefined) throw new Error(`no chore ${what}`)
  await chore.run()
}

export async function tick(gateway: TestGateway): Promise<void> {
  await run(gateway, 'moving the adaptive factor')
}

/** As another process adds to them. */
export async function outcomesIn(dataDir: string): Promise<SqlOutcomes> {
  return sqlOutcomes({ db: await closedInTheEnd(openSqlite(dataDir)), prefix: COUNTERS })
}

export async function setMode({ send }: TestGateway, mode: string): Promise<void> {
  const { body, headers } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
  const { version: _, ...document } = body
  const options = {
    token: ADMIN_TOKEN,
    headers: { 'If-Match': headers.get('ETag') ?? '' },
    body: { ...document, mode },
  }
  expect((await send('PUT', '/admin/quota/settings', options)).status).toBe(200)
}

/** The members of the document that tests read one by one. */
interface Shown {
  readonly factor: number
  readonly lastTick: object
  readonly preview: object
  readonly history: readonly object[]
}

export async function adaptive({ send }: TestGateway): Promise<Shown> {
  const { body } = await send('GET', '/admin/quota/adaptive', { token: ADMIN_TOKEN })
  return body as Shown
}
