import type { HoldRef } from '@scoregw/quota/store'
import { expect, vi } from 'vitest'
import type { LeasedRedisStore, LeaseReport } from '../../src/leases.ts'
import type { Cleanups } from '../support/cleanups.ts'
import { EVERYTHING, HOURS, Holder, type HolderOptions, idOf, MONTHS, SLOTS } from '../support/holders.ts'

/** More tokens than a test requests, so that a process is leased some. */
export const MANY = 1_000_000

/** A holder of holds whose shared layer is leased, connected; of hours, by default. */
export async function leasedHolder(
  port: number,
  later: Cleanups['later'],
  options: Partial<HolderOptions> & Pick<HolderOptions, 'prefix'>,
): Promise<Holder> {
  const made = new Holder({ port, schema: HOURS, limits: [MANY], isLeased: true, ...options })
  later(() => made.close())
  await made.store.ready()
  return made
}

/** Has a server learn the scripts, which takes a busy machine a while. */
export async function warmUp(port: number): Promise<void> {
  for (const schema of [HOURS, SLOTS, MONTHS, EVERYTHING]) {
    const limits = schema.cells.map(() => MANY)
    const one = new Holder({ port, prefix: `warm ${schema.cells.length}`, schema, limits, isLeased: true })
    await vi.waitFor(
      async () => {
        await one.take(1)
        await one.hold('a', 1)
        await one.cancel('a')
      },
      { timeout: 20_000 },
    )
    await one.close()
  }
}

export function reportOf({ store }: Holder): LeaseReport {
  return (store as LeasedRedisStore).leases()
}

/** Takes by one at a time until there are tokens at hand for a while; how many it took. */
export async function untilLeased(one: Holder): Promise<number> {
  let taken = 0
  do {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => one.take(1, `other ${n}`)))
    expect(new Set(replies.map(({ outcome }) => outcome))).toEqual(new Set(['admitted']))
    taken += 20
  } while (reportOf(one).idleTokens < 100)
  return taken
}

/** The hold under an id, as its holder refers to it. */
export function refOf(id: string): HoldRef {
  return { subject: 'u', category: 0, id: idOf(id) }
}
