import assert from 'node:assert/strict'
import type { QuotaStore } from '@scoregw/quota/store'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { Probe, SIX_WINDOWS } from './probe.ts'

/** How late a call may be on a busy machine, in milliseconds. */
const SLACK_MS = 500

function deadlineOf(store: QuotaStore): number | undefined {
  return store.sync ? undefined : store.deadlineMs
}

/** Returns how long a call takes to be rejected. Fails if it resolves or takes longer. */
async function rejectedWithin(ms: number, call: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, ms, `not rejected within ${ms} ms`)
  })
  const answered = call().then(
    () => 'answered by a store that nothing answers',
    () => 'rejected',
  )
  const came = await Promise.race([answered, late]).finally(() => clearTimeout(timer))
  assert.equal(came, 'rejected')
}

/** Cases about time: a store must keep the deadline that it declares. */
export const DEADLINE_CASES: readonly ContextCase[] = [
  {
    name: 'a store without a server rejects every call within its deadline',
    needs: 'deadline',
    async run({ store, capabilities, silence }) {
      const deadlineMs = deadlineOf(store)
      assert.ok(deadlineMs !== undefined && deadlineMs > 0 && Number.isFinite(deadlineMs), `deadlineMs ${deadlineMs}`)
      assert.ok(capabilities.includes('deadline'))
      const probe = new Probe(store, SIX_WINDOWS, 10)
      const reply = await probe.admitted(1)
      await silence()
      const calls = [
        () => probe.take(1),
        () => probe.take(1, { subject: 'other' }),
        () => probe.states(),
        () => probe.cancel(reply, 1),
        () => probe.reset(),
      ]
      await Promise.all(calls.map((call) => rejectedWithin(deadlineMs + SLACK_MS, call)))
    },
    async without({ store }: CaseContext) {
      const deadlineMs = deadlineOf(store)
      assert.ok(deadlineMs === undefined || (deadlineMs > 0 && Number.isFinite(deadlineMs)), `deadlineMs ${deadlineMs}`)
      await new Probe(store, SIX_WINDOWS, 10).admitted(1)
    },
  },
]
