import { CONFORMANCE_CASES, SETTINGS_STORE_CASES } from '@scoregw/quota-testkit'
import type { RunningWorker } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEntry } from './support/worker.ts'

/** workerd is fetched from npm the first time, which a plain `npm test` shall not do. */
describe.runIf(process.env.RUNTIME_TESTS === 'on')('Durable Objects in workerd', () => {
  let worker: RunningWorker
  beforeAll(async () => {
    worker = await startEntry('suite.ts', { objects: { QUOTA: 'TestObject' } })
  })
  afterAll(() => worker.stop())

  const play = async (path: string): Promise<void> => {
    const answer = await fetch(new URL(path, worker.url))
    expect(await answer.text()).toBe('')
    expect(answer.status).toBe(200)
  }

  describe('the conformance suite on Durable Objects', () => {
    for (const [index, { name }] of CONFORMANCE_CASES.entries()) it(name, () => play(`/store/${index}`))
  })

  describe('the settings conformance suite on Durable Objects', () => {
    for (const [index, { name }] of SETTINGS_STORE_CASES.entries()) it(name, () => play(`/settings/${index}`))
  })
})
