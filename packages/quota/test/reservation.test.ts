import { describe, expect, it } from 'vitest'
import { createQuota, isSyncQuota, memoryStore, type SyncReservation } from '../src/index.ts'
import {
  asyncStore,
  flatLimits,
  type Gateway,
  type GatewayEngine,
  gateway,
  gatewayPolicy,
  HOUR,
  testClock,
  usedByWrites,
} from './support.ts'

function heldOf(reservation: SyncReservation<Gateway>): Extract<SyncReservation<Gateway>, { status: 'reserved' }> {
  if (reservation.status !== 'reserved') throw new Error(`expected a held reservation, got ${reservation.status}`)
  return reservation
}

function used(quota: GatewayEngine['quota']) {
  return usedByWrites(quota.statusSync('u'))
}

describe('reservations', () => {
  it('a reservation is charged immediately and stays charged when committed or never settled', () => {
    const { quota } = gateway()
    heldOf(quota.reserveSync({ subject: 'u', operation: 'write' })).commit()
    quota.reserveSync({ subject: 'u', operation: 'write' })
    expect(used(quota)).toEqual([30, 30, 30, 30, 30, 30])
  })

  it('a cancelled reservation gives everything back and leaves the windows open', () => {
    const { quota } = gateway()
    heldOf(quota.reserveSync({ subject: 'u', operation: 'write' })).cancel()
    expect(used(quota)).toEqual([0, 0, 0, 0, 0, 0])
    expect(quota.statusSync('u').limits['personal-write-1h']?.startedAt).not.toBeNull()
  })

  it('a commit below the reservation gives the rest back, and one above is an error', () => {
    const { quota } = gateway()
    const reservation = heldOf(quota.reserveSync({ subject: 'u', operation: 'write' }))
    expect(() => reservation.commit(16)).toThrowError(expect.objectContaining({ code: 'commit_above_reservation' }))
    expect(() => reservation.commit(-1)).toThrowError(expect.objectContaining({ code: 'invalid_cost' }))
    expect(() => reservation.commit(Number.NaN)).toThrowError(expect.objectContaining({ code: 'invalid_cost' }))
    reservation.commit(4)
    expect(used(quota)).toEqual([4, 4, 4, 4, 4, 4])
  })

  it('a refund goes to the windows it came from, never to later ones', () => {
    const { quota, clock } = gateway()
    const reservation = heldOf(quota.reserveSync({ subject: 'u', operation: 'write' }))
    clock.at += HOUR
    quota.consumeSync({ subject: 'u', operation: 'write' })
    reservation.cancel()
    expect(used(quota)).toEqual([15, 15, 15, 15, 15, 15])
  })

  it('a refused reservation holds nothing: cancel() does nothing and commit() is an error', async () => {
    const { quota } = gateway()
    const reservation = await quota.reserve({ subject: 'u', operation: 'write', cost: 61 })
    expect(reservation).toMatchObject({ status: 'refused', allowed: false, decision: { allowed: false } })
    await reservation.cancel()
    await expect(reservation.commit()).rejects.toMatchObject({ code: 'commit_refused' })
    expect(used(quota)).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('a reservation of a free operation holds nothing and can be settled', () => {
    const { quota } = gateway()
    const reservation = heldOf(quota.reserveSync({ subject: 'u', operation: 'free' }))
    expect(() => reservation.commit(1)).toThrowError(expect.objectContaining({ code: 'commit_above_reservation' }))
    reservation.commit()
  })
})

describe('reservations under an id', () => {
  const request = { subject: 'u', operation: 'write', id: 'attempt-1' } as const

  it('an id is charged once, however often the request is retried', () => {
    const { quota } = gateway()
    const first = heldOf(quota.reserveSync(request))
    const repeat = quota.reserveSync(request)
    expect(repeat).toMatchObject({ status: 'duplicate', allowed: false })
    expect(repeat.decision).toBeUndefined()
    repeat.cancel()
    repeat.commit()
    expect(used(quota)[0]).toBe(15)
    first.commit()
    expect(quota.reserveSync(request).status).toBe('duplicate')
    expect(used(quota)[0]).toBe(15)
  })

  it('a cancelled reservation uses up its id', () => {
    const { quota } = gateway()
    heldOf(quota.reserveSync(request)).cancel()
    expect(quota.reserveSync(request)).toMatchObject({ status: 'cancelled', allowed: false })
    expect(used(quota)[0]).toBe(0)
  })

  it('a refused reservation leaves no record of its id', () => {
    const { quota, clock } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    expect(quota.reserveSync(request).status).toBe('refused')
    clock.at += HOUR
    expect(quota.reserveSync(request).status).toBe('reserved')
  })

  it('an id belongs to one subject, operation and cost', () => {
    const { quota } = gateway()
    quota.reserveSync(request)
    expect(quota.reserveSync({ ...request, subject: 'v' }).status).toBe('reserved')
    for (const other of [{ cost: 14 }, { operation: 'big' }, { operation: 'read' }] as const) {
      expect(() => quota.reserveSync({ ...request, ...other })).toThrowError(
        expect.objectContaining({ code: 'id_conflict' }),
      )
    }
  })

  it('an id is remembered for idTtlMs after its last use', () => {
    const { quota, clock } = gateway({ idTtlMs: 60_000 })
    const first = heldOf(quota.reserveSync(request))
    clock.at += 59_999
    expect(quota.reserveSync(request).status).toBe('duplicate')
    clock.at += 1
    expect(quota.reserveSync(request).status).toBe('reserved')
    first.cancel()
    expect(used(quota)[0]).toBe(30)
  })

  it.each(['', 'x'.repeat(257), 5])('the id %j is rejected', (id) => {
    expect(() => gateway().quota.reserveSync({ ...request, id: id as string })).toThrowError(
      expect.objectContaining({ code: 'invalid_id' }),
    )
  })
})

describe('run()', () => {
  it('run() commits when the work returns and cancels when it throws', async () => {
    const { quota } = gateway()
    expect(await quota.run({ subject: 'u', operation: 'write' }, () => 'done')).toMatchObject({
      allowed: true,
      value: 'done',
    })
    const failing = quota.run({ subject: 'u', operation: 'write' }, () => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrowError('broken')
    await quota.run({ subject: 'u', operation: 'write' }, (reservation) => reservation.commit(5))
    expect(used(quota)[0]).toBe(20)
  })

  it('run() skips the work when the request is refused or repeated', async () => {
    const { quota } = gateway()
    const work = (): never => {
      throw new Error('must not work')
    }
    await quota.reserve({ subject: 'u', operation: 'write', id: 'x' })
    expect(await quota.run({ subject: 'u', operation: 'write', id: 'x' }, work)).toMatchObject({
      allowed: false,
      status: 'duplicate',
    })
    expect(await quota.run({ subject: 'u', operation: 'write', cost: 61 }, work)).toMatchObject({
      allowed: false,
      status: 'refused',
      decision: { retryable: false },
    })
  })
})

describe('asynchronous stores', () => {
  it('an asynchronous store gives the same decisions', async () => {
    const store = memoryStore({ clock: testClock() })
    const quota = createQuota({ policy: gatewayPolicy(flatLimits(20, 20)), store: asyncStore(store) })
    const reservation = await quota.reserve({ subject: 'u', operation: 'write' })
    expect((await quota.consume({ subject: 'u', operation: 'write' })).allowed).toBe(false)
    await reservation.cancel()
    expect((await quota.peek({ subject: 'u', operation: 'write' })).allowed).toBe(true)
    expect((await quota.consume({ subject: 'u', operation: 'write' })).allowed).toBe(true)
    expect((await quota.status('u')).limits['personal-write-1h']?.used).toBe(15)
    expect(isSyncQuota(quota)).toBe(false)
    expect('statusSync' in quota).toBe(false)
  })
})
